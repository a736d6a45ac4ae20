// Which sentence comes next: what teaches most, in order, or by search.

import { get } from "./api.js";
import { act, app, hueOf, on } from "./app.js";
import { $, count, make, say, trouble } from "./dom.js";
import { mentions, show, wordsOf } from "./sentence.js";

const passed = []; // sentences that were left without a decision, so that they do not come again at once
const trail = []; // those that were on the page, for going back
const SHOWN = 12;

const mode = () => document.querySelector("input[name=mode]:checked").value;

function query(after) {
  if (mode() === "teach") {
    const skip = [...passed, app.sentence?.id].filter(Boolean);
    return { mode: "teach", n: SHOWN, skip: [...new Set(skip)].join(",") };
  }
  const base = { mode: mode(), n: SHOWN, after, undecided: $("undecided").checked ? 1 : 0 };
  return mode() === "search" ? { ...base, q: $("search").value.trim() } : base;
}

let number = 0;

/** Read what comes next, and list it, unless it was overtaken. */
async function load(after = app.sentence?.id ?? 0) {
  const mine = ++number;
  if (mode() === "search" && !$("search").value.trim()) {
    list([], "Type words to look for.");
    return [];
  }
  const { sentences, total } = await get("/api/queue", query(after));
  if (mine === number) list(sentences, total === undefined ? "" : `${count(total, "sentence")} in all`);
  return sentences;
}

function list(sentences, note) {
  $("queue-note").textContent = note || (sentences.length ? "" : "No more sentences here.");
  const items = sentences.map((one) => {
    const label = make("button", { type: "button", dir: "auto", "data-status": one.status, onclick: () => act(() => open(one.id)) }, line(one));
    return make("li", {}, label);
  });
  $("queue-list").replaceChildren(...items);
}

/** A sentence in the list, with its mentions underlined. */
function line(sentence) {
  const parts = [];
  let at = 0;
  for (const one of mentions(sentence)) {
    const kind = one.confirmed ? "confirmed" : "predicted";
    parts.push(wordsOf(sentence, { start: at, end: one.start }), gap(sentence, one.start));
    parts.push(make("mark", { class: kind, title: `${one.type}, ${kind}`, "--hue": hueOf(one.type), text: wordsOf(sentence, one) }));
    parts.push(gap(sentence, one.end));
    at = one.end;
  }
  parts.push(wordsOf(sentence, { start: at, end: sentence.words.length }));
  return make("span", {}, ...parts);
}

const gap = (sentence, word) => (word > 0 && sentence.spaces[word - 1] ? " " : "");

/** Put a sentence on the page, and remember the one that was there. */
export async function go(sentence, word = null) {
  if (app.sentence && app.sentence.id !== sentence.id) trail.push(app.sentence.id);
  if (trail.length > 500) trail.shift();
  show(sentence, word);
}

export async function open(id, word = null) {
  await go(await get(`/api/sentences/${id}`), word);
}

/** Go to the next sentence of the queue. */
export async function next() {
  const { sentence } = app;
  if (sentence && ["new", "partial"].includes(sentence.status)) passed.push(sentence.id);
  if (passed.length > 200) passed.shift();
  let found = await load();
  if (!found.length && mode() !== "teach") found = await load(0); // from the start again
  if (!found.length && passed.length) {
    passed.length = 0;
    found = await load(0);
  }
  const one = found.find((candidate) => candidate.id !== sentence?.id);
  if (!one) return say("There is no other sentence here. Choose another order, search, or import more text.");
  await go(one);
  await load();
}

export async function previous() {
  const id = trail.pop();
  if (id === undefined) return say("This is where you began.");
  show(await get(`/api/sentences/${id}`));
  await load();
}

async function again() {
  $("search-row").hidden = mode() !== "search";
  $("undecided-row").hidden = mode() === "teach";
  try {
    const words = $("search").value;
    const found = await load(0);
    if (mode() === "search" && words === $("search").value && found.length) await go(found[0]);
  } catch (error) {
    trouble(error);
  }
}

export function setUpQueue() {
  for (const one of document.querySelectorAll("input[name=mode]")) {
    one.addEventListener("change", async () => {
      await again();
      if (one.value === "search") $("search").focus();
    });
  }
  let typed = 0;
  $("search").addEventListener("input", () => {
    clearTimeout(typed);
    typed = setTimeout(again, 250);
  });
  $("undecided").addEventListener("change", again);
  on("queue", () => mode() === "teach" && load().catch(trouble));
  return load();
}

/** Search for words. */
export function search() {
  const radio = document.querySelector("input[value=search]");
  radio.checked = true;
  again();
  $("search").focus();
  $("search").select();
}
