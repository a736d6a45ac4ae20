// Types: the bar above the sentence, and the window in which they are changed.

import { post } from "./api.js";
import { app, on, refresh, tell, typeOf } from "./app.js";
import { $, confirmed, count, make, say, trouble } from "./dom.js";

const drafts = new Map(); // edits that are not saved yet, by type: they outlast a redrawn list and a closed window
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

/** Change a type; where labels change with it, say so first. */
async function change(record, question) {
  trouble(null, problem());
  try {
    if (question) {
      const would = await post("/api/types", { ...record, preview: true });
      const what = `${count(would.labels_changed, "label")} in ${count(would.sentences_changed, "sentence")}`;
      if (!(await confirmed(question(would.labels_changed, what)))) return false;
    }
    const answer = await post("/api/types", record);
    app.state.types = answer.types;
    tell("types");
    drawList();
    refresh();
    return true;
  } catch (error) {
    trouble(error, problem());
    return false;
  }
}

function row(one) {
  const form = make("form", { class: "type-row", "aria-label": `Type ${one.name}`, "--hue": one.colour });
  const name = make("input", { value: one.name, maxlength: 100, required: true, autocomplete: "off", "aria-label": `Name of ${one.name}` });
  const description = make("textarea", { value: one.description, rows: 1, maxlength: 2000, class: "wide", dir: "auto", "aria-label": `Description of ${one.name}` });
  description.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // a description is one line
    form.requestSubmit();
  });
  const hue = make("input", { type: "range", min: 0, max: 359, class: "hue", "aria-label": `Colour of ${one.name}` });
  hue.value = one.colour;
  const save = make("button", { text: "Save", disabled: true });
  const edited = () => {
    form.style.setProperty("--hue", hue.value);
    save.disabled = name.value === one.name && description.value === one.description && +hue.value === one.colour;
    save.classList.toggle("main", !save.disabled);
    if (save.disabled) drafts.delete(one.name);
    else drafts.set(one.name, { name: name.value, description: description.value, hue: hue.value });
    describeDrafts();
  };
  form.addEventListener("input", edited);
  const draft = drafts.get(one.name);
  if (draft) {
    Object.assign(name, { value: draft.name });
    Object.assign(description, { value: draft.description });
    hue.value = draft.hue;
    edited();
  }
  const drop = async () => {
    const question = (n, what) => n
      ? `Remove ${one.name}? This takes away ${what}: these words are then no mention. It can be undone.`
      : `Remove ${one.name}? No label has this type. It can be undone.`;
    if (await change({ action: "remove", name: one.name }, question)) say(`${one.name} is removed.`);
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const to = name.value;
    const question = (n, what) => `Rename ${one.name} to ${to}? This renames ${what}. The tagger reads the new name. It can be undone.`;
    const steps = [];
    if (description.value !== one.description) steps.push([{ action: "describe", name: one.name, description: description.value }]);
    if (+hue.value !== one.colour) steps.push([{ action: "colour", name: one.name, colour: +hue.value }]);
    if (to !== one.name) steps.push([{ action: "rename", name: one.name, to }, question]);
    for (const step of steps) if (!(await change(...step))) return;
    drafts.delete(one.name);
    if (steps.length) say(`${to} is changed.`);
    drawList();
  });
  form.append(make("span", { class: "swatch", "aria-hidden": "true", text: one.key ?? "" }), name, description, hue);
  form.append(make("span", { class: "soft", text: count(one.n_labels, "label") }));
  form.append(save, make("button", { type: "button", text: "Remove", "aria-label": `Remove ${one.name}`, onclick: drop }));
  return form;
}

function part(line) { // how a description was understood
  return make("p", { class: "soft understood", dir: "auto", text: line });
}

function drawList() {
  for (const name of drafts.keys()) if (!typeOf(name)) drafts.delete(name);
  $("types-list").replaceChildren(...app.state.types.flatMap((one) => [row(one), ...one.understood.map(part)]));
  describeDrafts();
}

function describeDrafts() {
  $("types-unsaved").textContent = drafts.size ? `Not saved yet: ${[...drafts.keys()].join(", ")}.` : "";
}

export function openTypes() {
  trouble(null, problem());
  drawList();
  $("types").showModal();
}

export function setUpTypes(mark) {
  on("state", () => drawBar(mark));
  for (const kind of ["types", "armed"]) on(kind, () => drawBar(mark));
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
    if (!(await change(record))) return;
    say(`${record.name} is added.`);
    form.reset();
    name.focus();
  });
}
