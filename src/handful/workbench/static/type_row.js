// A type in the window of types: its name, description and colour, how its labels fit, and what else it may become.

import { post } from "./api.js";
import { app, typeOf } from "./app.js";
import { count, make } from "./dom.js";

const PAUSE = 400; // milliseconds without a key before a wording is checked
export const drafts = new Map(); // edits that are not saved yet, by type: they outlast a redrawn list and a closed window

/** The changes that the edits of a type are; its new name comes last, because it is known by the old one. */
export function changesOf(name) {
  const { description, colour, to } = (typeOf(name) && drafts.get(name)) ?? {};
  const changes = [];
  if (description !== undefined) changes.push({ action: "describe", name, description });
  if (colour !== undefined) changes.push({ action: "colour", name, colour });
  if (to !== undefined) changes.push({ action: "rename", name, to });
  return changes;
}

/** The elements of a type: a form, and lines below it. `doing` has what it can do: save, merge, split, remove, edited. */
export function row(one, doing) {
  const form = make("form", { class: "type-row", "aria-label": `Type ${one.name}`, "--hue": one.colour });
  const draft = drafts.get(one.name) ?? {};
  const name = make("input", { value: draft.to ?? one.name, maxlength: 100, required: true, autocomplete: "off", "aria-label": `Name of ${one.name}` });
  const description = make("textarea", { value: draft.description ?? one.description, rows: 1, maxlength: 2000, class: "wide", dir: "auto", "aria-label": `Description of ${one.name}` });
  description.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // a description is one line
    form.requestSubmit();
  });
  const hue = make("input", { type: "range", min: 0, max: 359, class: "hue", "aria-label": `Colour of ${one.name}` });
  hue.value = draft.colour ?? one.colour;
  const save = make("button", { text: "Save", disabled: true });
  const edited = () => {
    form.style.setProperty("--hue", hue.value);
    const now = { was: draft.was ?? one.description };
    if (description.value !== one.description) now.description = description.value;
    if (+hue.value !== one.colour) now.colour = +hue.value;
    if (name.value !== one.name) now.to = name.value;
    if (Object.keys(now).length > 1) drafts.set(one.name, now);
    else drafts.delete(one.name);
    save.disabled = !drafts.has(one.name);
    save.classList.toggle("main", !save.disabled);
    doing.edited();
  };
  form.addEventListener("input", edited);
  if (drafts.has(one.name)) edited();
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    doing.save(one.name);
  });
  const more = becoming(one, doing);
  const opener = make("button", { type: "button", text: "Merge or split", "aria-expanded": "false", "aria-label": `Merge or split ${one.name}` });
  opener.addEventListener("click", () => {
    more.hidden = !more.hidden;
    opener.setAttribute("aria-expanded", String(!more.hidden));
    more.querySelector("select, input")?.focus();
  });
  form.append(make("span", { class: "swatch", "aria-hidden": "true", text: one.key ?? "" }), name, description, hue);
  form.append(make("span", { class: "soft", text: count(one.n_labels, "label") }));
  form.append(save, opener, make("button", { type: "button", text: "Remove", "aria-label": `Remove ${one.name}`, onclick: () => doing.remove(one.name) }));
  const understood = one.understood.map((line) => make("p", { class: "soft under understood", dir: "auto", text: line }));
  const isCrossed = draft.description !== undefined && draft.was !== one.description;
  const meanwhile = isCrossed ? [make("p", { class: "under twin", dir: "auto", text: `Somebody else has made it: ${one.description}` })] : [];
  return [form, ...meanwhile, ...twin(one, doing), ...understood, fitting(one, description), more];
}

/** Another type whose name differs in capitals alone: they are likely one. */
function twin(one, doing) {
  const other = app.state.types.find((type) => type.name !== one.name && type.name.toLowerCase() === one.name.toLowerCase());
  if (!other) return [];
  const button = make("button", { type: "button", text: `Make ${one.name} a part of ${other.name}`, onclick: () => doing.merge(one.name, other.name) });
  return [make("p", { class: "under twin" }, `There is also ${other.name}. Labels are divided between the two. `, button)];
}

/** Forms for making a type a part of another one, or several types of it. */
function becoming(one, doing) {
  const others = app.state.types.filter((type) => type.name !== one.name);
  const box = make("div", { class: "row under becoming", hidden: true });
  if (others.length) {
    const into = make("select", { "aria-label": `Type that ${one.name} becomes a part of` }, ...others.map((type) => make("option", { value: type.name, text: type.name })));
    const form = make("form", {}, make("label", { class: "field" }, "A part of ", into), make("button", { text: "Merge" }));
    form.addEventListener("submit", (event) => (event.preventDefault(), doing.merge(one.name, into.value)));
    box.append(form);
  }
  const parts = make("input", { required: true, autocomplete: "off", placeholder: `${one.name}, another name`, "aria-label": `Names of the parts of ${one.name}, with commas` });
  const form = make("form", {}, make("label", { class: "field" }, "Several types: ", parts), make("button", { text: "Split" }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    doing.split(one.name, parts.value.split(",").map((part) => part.trim()).filter(Boolean));
  });
  box.append(form);
  return box;
}

/** A line on what is labelled, and how many of these words the wording finds by itself; it follows the wording. */
function fitting(one, description) {
  const line = make("p", { class: "soft under fitting", dir: "auto", "aria-live": "polite", hidden: !one.n_labels });
  if (!one.n_labels) return line;
  let typed = 0;
  const check = async () => {
    const wording = description.value;
    try {
      const { examples, guideline } = await post("/api/types/check", { type: one.name, description: wording });
      if (wording !== description.value) return;
      const spoken = examples.map(([words, n]) => (n > 1 ? `${words} (${n})` : words)).join(", ");
      line.textContent = `Labelled: ${spoken}. ${guideline ? inWords(guideline) : ""}`;
    } catch {
      line.textContent = ""; // it is no more than a hint, and what is wrong is said where the type is saved
    }
  };
  description.addEventListener("input", () => {
    clearTimeout(typed);
    typed = setTimeout(check, PAUSE);
  });
  check();
  return line;
}

function inWords({ found, n_words: n, misses, claims }) {
  const used = found.both ?? found.name;
  const alone = found.both === undefined ? "" : `, the name alone ${found.name}`;
  const against = [misses.length && `misses ${misses.join(", ")}`, claims.length && `takes ${claims.join(", ")} for it, too`].filter(Boolean);
  return `Without labels, ${found.both === undefined ? "the name" : "this wording"} finds ${used} of ${count(n, "labelled word")}${alone}.` +
    (against.length ? ` It ${against.join(", and ")}.` : "");
}
