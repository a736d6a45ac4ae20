// Which sentence comes next: what teaches most, in order, or by search.

import { get } from "./api.js";
import { act, app, hueOf, on } from "./app.js";
import { $, count, make, say, trouble } from "./dom.js";
import { mentions, show, wordsOf } from "./sentence.js";

const passed = []; // sentences that were left without a decision, so that they do not come again at once
const trail = []; // those that were on the page, for going back
const SHOWN = 12;
const [BEFORE, AFTER] = [10, 40]; // sentences of the list before and after the one on the page, where all are in order
const PARTS = { all: "All", open: "Open", partial: "Partly decided", look: "Needs a look", unsure: "Not sure", skipped: "Skipped", decided: "Decided" };
let part = "open";
let orderBefore = "teach"; // before the search
let listed = { start: 0, total: 0, sentences: [] };

const mode = () => document.querySelector("input[name=mode]:checked").value;

function query(after) {
  if (mode() === "teach") {
    const skip = [...passed, app.sentence?.id].filter(Boolean);
    return { mode: "teach", n: SHOWN, skip: [...new Set(skip)].join(",") };
  }
  const base = { mode: mode(), n: AFTER, before: BEFORE, after, part };
  return mode() === "search" ? { ...base, q: $("search").value.trim() } : base;
}

let number = 0;

/** Read what comes next, and list it, unless it was overtaken. Return what comes after the sentence on the page. */
async function load(after = app.sentence?.id ?? 0) {
  const mine = ++number;
  if (mode() === "search" && !$("search").value.trim()) {
    list([], "Type words to look for.");
    return [];
  }
  const { sentences, total, start = 0 } = await get("/api/queue", query(after));
  if (mine === number) {
    listed = { start, total: total ?? sentences.length, sentences };
    list(sentences, total === undefined ? "" : `${count(total, "sentence")} in all`);
  }
  return mode() === "teach" ? sentences : sentences.filter((one) => one.id > after);
}

/** List those before or after the ones that are listed. */
async function loadMore(way) {
  const mine = ++number;
  const { sentences } = listed;
  const [after, more] = way < 0 ? [sentences[0].id - 1, { n: 1, before: AFTER }] : [sentences.at(-1).id, { n: AFTER, before: 0 }];
  const found = await get("/api/queue", { ...query(after), ...more });
  if (mine !== number) return;
  const known = new Set(sentences.map((one) => one.id));
  const fresh = found.sentences.filter((one) => !known.has(one.id));
  listed = { total: found.total, start: way < 0 ? found.start : listed.start, sentences: way < 0 ? [...fresh, ...sentences] : [...sentences, ...fresh] };
  list(listed.sentences, `${count(found.total, "sentence")} in all`);
  $("queue-list").scrollTop = way < 0 ? 0 : $("queue-list").scrollHeight;
}

function list(sentences, note) {
  $("queue-note").textContent = note || (sentences.length ? "" : "No more sentences here.");
  const items = sentences.map((one) => {
    const label = make("button", { type: "button", dir: "auto", "data-status": one.status, onclick: () => act(() => open(one.id)) }, line(one));
    label.dataset.id = one.id;
    return make("li", {}, label);
  });
  $("queue-list").replaceChildren(...items);
  const isAll = mode() === "teach" || !sentences.length;
  $("earlier").disabled = listed.start === 0;
  $("later").disabled = listed.start + sentences.length >= listed.total;
  $("queue-more").hidden = isAll || ($("earlier").disabled && $("later").disabled);
  markCurrent();
}

/** Mark the sentence on the page in the list, and scroll the list, not the page, to where it is seen. */
function markCurrent() {
  const place = $("queue-list");
  for (const one of place.querySelectorAll("button")) {
    const is = +one.dataset.id === app.sentence?.id;
    if (!is) one.removeAttribute("aria-current");
    else {
      one.setAttribute("aria-current", "true");
      const [top, bottom] = [one.offsetTop - place.offsetTop, one.offsetTop - place.offsetTop + one.offsetHeight];
      if (top < place.scrollTop || bottom > place.scrollTop + place.clientHeight) place.scrollTop = top - place.clientHeight / 5;
    }
  }
}

/** Parts of the sentences with their sizes; those without a sentence are not shown, except for the first two. */
function drawParts() {
  const { counts, types } = app.state;
  const names = Object.keys(PARTS).filter((name) => counts[name] || name === part || ["all", "open"].includes(name));
  const isOn = (name) => mode() !== "teach" && name === part;
  const buttons = names.map((name) => {
    const figure = make("span", { class: "n", text: counts[name].toLocaleString("en") });
    return make("button", { type: "button", "data-part": name, "aria-pressed": String(isOn(name)), onclick: () => choosePart(name) }, `${PARTS[name]} `, figure);
  });
  const held = document.activeElement?.dataset?.part;
  $("parts").replaceChildren(...buttons);
  buttons.find((one) => one.dataset.part === held)?.focus();
  $("look").hidden = !counts.look || isOn("look");
  const missing = types.filter((one) => one.n_looks).map((one) => one.name).join(", ");
  $("look").firstElementChild.textContent = `${count(counts.look, "decided sentence needs", "decided sentences need")} a look for ${missing}.`;
}

/** List a part of the sentences; those that are about a decision come on the page. */
function choosePart(name) {
  part = name;
  if (mode() === "teach") document.querySelector("input[value=order]").checked = true;
  drawParts();
  return act(async () => {
    $("search-row").hidden = mode() !== "search";
    let found = await load();
    if (!["all", "decided"].includes(name) && !listed.sentences.some((one) => one.id === app.sentence?.id)) {
      if (!found.length) found = await load(0);
      if (found.length) await go(found[0]);
    }
    $("sentence").focus({ preventScroll: true });
  });
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

/** Go to the next sentence of the queue. What was said before is said again where there is none. */
export async function next(said = "") {
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
  if (!one) return say(`${said} There is no other sentence here. Choose another order, search, or import more text.`.trim());
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
  if (mode() !== "search") orderBefore = mode();
  $("search-row").hidden = mode() !== "search";
  drawParts();
  try {
    const words = $("search").value;
    const found = await load(mode() === "search" ? 0 : undefined);
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
  $("look").querySelector("button").addEventListener("click", () => choosePart("look"));
  $("earlier").addEventListener("click", () => act(() => loadMore(-1)));
  $("later").addEventListener("click", () => act(() => loadMore(1)));
  on("state", drawParts);
  on("sentence", markCurrent);
  drawParts();
  on("queue", () => mode() === "teach" && load().catch((error) => error.status !== 0 && trouble(error))); // 0: said already
  return load();
}

/** Leave the search, for the order that there was before it. */
export function endSearch() {
  $("search").value = "";
  document.querySelector(`input[value=${orderBefore}]`).checked = true;
  again();
}

/** Search for words. */
export function search() {
  const radio = document.querySelector("input[value=search]");
  radio.checked = true;
  again();
  $("search").focus();
  $("search").select();
}
