// Types: the bar above the sentence, and the window in which they are changed.

import { post } from "./api.js";
import { app, on, refresh, tell, typeOf } from "./app.js";
import { $, confirmed, count, make, say, trouble } from "./dom.js";
import { changesOf, drafts, row } from "./type_row.js";

let version = 0; // of the types that are listed
const problem = () => $("types").querySelector(".trouble");

function drawBar(mark) {
  if (!typeOf(app.armed)) app.armed = null;
  const buttons = app.state.types.map((one) => {
    const label = make("button", { type: "button", class: "type", title: one.description || one.name, "--hue": one.colour, "data-name": one.name, "aria-pressed": String(app.armed === one.name) });
    label.append(make("span", { text: one.name }), one.key ? make("kbd", { text: one.key }) : "");
    label.addEventListener("click", (event) => mark(one.name, event.detail > 0)); // 0: by a key
    return label;
  });
  const empty = make("p", { text: "There are no types yet. Add the first one: " });
  empty.append(make("button", { type: "button", class: "main", text: "Add a type", onclick: openTypes }));
  const held = document.activeElement?.dataset?.name;
  $("types-bar").replaceChildren(...(buttons.length ? buttons : [empty]));
  buttons.find((one) => one.dataset.name === held)?.focus();
}

/** Change types, in one step; where labels change with them, say so first. Return whether it was done. */
async function change(changes, question) {
  trouble(null, problem());
  const record = { ...(changes.length === 1 ? changes[0] : { changes }), version };
  try {
    if (question) {
      const would = await post("/api/types", { ...record, preview: true });
      const what = `${count(would.labels_changed, "label")} in ${count(would.sentences_changed, "sentence")}`;
      if (!(await confirmed(question(would.labels_changed, what)))) return false;
    }
    const answer = await post("/api/types", record);
    Object.assign(app.state, { types: answer.types, types_version: answer.types_version });
    for (const one of changes) if (one.action !== "add") drafts.delete(one.name);
    tell("types");
    drawList();
    refresh();
    return true;
  } catch (error) {
    if (error.status === 409) {
      await refresh();
      drawList();
      error.advice = "what you wrote is kept; the list shows how they stand now, so save again if it should be otherwise";
    }
    trouble(error, problem());
    return false;
  }
}

/** Save the edits of some types, all together. */
async function save(names) {
  const gone = names.filter((name) => !typeOf(name));
  if (gone.length) {
    drawList();
    return trouble({ what: `the types were changed in the meantime: ${gone.join(", ")} is no longer there`, advice: "what you wrote is kept; the list shows how they stand now" }, problem());
  }
  const changes = names.flatMap(changesOf);
  const renamed = changes.filter((one) => one.action === "rename");
  for (const one of renamed) {
    const other = app.state.types.find((type) => type.name === one.to && type.name !== one.name);
    if (other && names.length === 1) return merge(one.name, other.name);
  }
  const what = renamed.map((one) => `${one.name} to ${one.to}`).join(", ");
  const question = (n, labels) => `Rename ${what}? This renames ${labels}. The tagger reads the new ${renamed.length > 1 ? "names" : "name"}. It can be undone.`;
  if (!changes.length || !(await change(changes, renamed.length ? question : null))) return;
  say(names.length > 1 ? `${names.length} types are changed.` : `${renamed[0]?.to ?? names[0]} is changed.`);
}

async function merge(name, to) {
  const question = (n, what) => `Make ${name} a part of ${to}? The labels of ${name} are then of ${to}; ${what} change. ` +
    "Sentences in which nobody looked for both need a look. It can be undone.";
  if (await change([{ action: "merge", name, to }], question)) say(`${name} is a part of ${to}.`);
}

async function split(name, to) {
  const question = (n, what) => `Split ${name} into ${to.join(" and ")}? ${what} change: of each mention, it is open which of them it is, ` +
    "and its sentence comes again. It can be undone.";
  if (await change([{ action: "split", name, to }], question)) say(`${name} is split into ${to.join(" and ")}.`);
}

async function remove(name) {
  const question = (n, what) => n
    ? `Remove ${name}? This takes away ${what}: these words are then no mention. It can be undone.`
    : `Remove ${name}? No label has this type. It can be undone.`;
  if (await change([{ action: "remove", name }], question)) say(`${name} is removed.`);
}

function drawList() {
  version = app.state.types_version;
  const doing = { save: (name) => save([name]), merge, split, remove, edited: describeDrafts };
  $("types-list").replaceChildren(...app.state.types.flatMap((one) => row(one, doing)));
  describeDrafts();
}

function describeDrafts() {
  const names = [...drafts.keys()].filter(typeOf);
  const gone = [...drafts].filter(([name]) => !typeOf(name)).map(([name, { description = "" }]) =>
    make("span", {}, ` ${name} is no longer there${description && `; you wrote of it: ${description}`}. `,
      make("button", { type: "button", class: "link", text: `Forget ${name}`, onclick: () => (drafts.delete(name), describeDrafts()) })));
  $("types-unsaved").replaceChildren(names.length ? `Not saved yet: ${names.join(", ")}.` : "", ...gone);
  $("types-save").hidden = names.length < 2;
}

export function openTypes() {
  trouble(null, problem());
  drawList();
  $("types").showModal();
}

export function setUpTypes(mark) {
  on("state", () => drawBar(mark));
  for (const kind of ["types", "armed"]) on(kind, () => drawBar(mark));
  $("types-save").addEventListener("click", () => save([...drafts.keys()].filter(typeOf)));
  $("types-bar").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const all = [...$("types-bar").querySelectorAll("button")];
    const at = all.indexOf(document.activeElement);
    if (!step || at < 0) return;
    event.preventDefault();
    event.stopPropagation();
    all[(at + step + all.length) % all.length].focus();
  });
  const form = $("types-add");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { name, description } = form.elements;
    const record = { action: "add", name: name.value, description: description.value };
    if (!(await change([record]))) return;
    say(`${record.name} is added.`);
    form.reset();
    name.focus();
  });
}
