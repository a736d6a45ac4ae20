// Which sentence comes next: what teaches most, in order, or by search.

import { get } from "./api.js";
import { act, app, on, tell } from "./app.js";
import { $, count, make, say, trouble } from "./dom.js";
import { hitsOf } from "./hits.js";
import { drawList, setUpList, showCurrent, shown } from "./list.js";
import { take } from "./people.js";
import { show } from "./sentence.js";

const passed = []; // sentences that were left without a decision, so that they do not come again at once
const trail = []; // those that were on the page, for going back
const SHOWN = 12;
const [BEFORE, AFTER] = [10, 40]; // sentences of the list before and after the one on the page, where all are in order
const PARTS = { all: "All", open: "Open", partial: "Partly decided", disputed: "To settle", look: "Needs a look", unsure: "Not sure", skipped: "Skipped", decided: "Decided" };
let part = "open";
let lookFor = ""; // the type that decided sentences are looked at for
const before = { order: "teach", part: "open" }; // the search
let isSearching = false;
let listed = [];

const mode = () => document.querySelector("input[name=mode]:checked").value;

function query(after) {
  if (mode() === "teach") {
    const skip = [...passed, app.sentence?.id].filter(Boolean);
    return { mode: "teach", n: SHOWN, skip: [...new Set(skip)].join(",") };
  }
  const base = { mode: mode(), n: AFTER, before: BEFORE, after, part };
  if (mode() === "search") return { ...base, q: $("search").value.trim() };
  return part === "look" && lookFor ? { ...base, type: lookFor } : base;
}

let number = 0;

/**
 * Read what comes next, and list it, unless it was overtaken. Return what comes after the sentence on the page.
 * A quiet reading leaves the list where it was scrolled to.
 */
async function load(after = app.sentence?.id ?? 0, isQuiet = false) {
  const mine = ++number;
  if (mode() === "search" && !$("search").value.trim()) {
    list([], "Type words to look for.");
    return [];
  }
  const asked = query(after);
  const place = isQuiet && shown();
  const { sentences, total, start } = await get("/api/queue", place ? { ...asked, before: 0, ...place } : asked);
  if (mine === number) {
    if (total === undefined) list(sentences, "");
    else list(sentences, `${count(total, "sentence")} in all`, total, start, (from, n) => get("/api/queue", { ...asked, before: 0, start: from, n }));
    if (!isQuiet) showCurrent();
  }
  return mode() === "teach" ? sentences : sentences.filter((one) => one.id > after);
}

/** List sentences; without a total they are all there. */
function list(sentences, note, total = sentences.length, start = 0, more = null) {
  $("queue-note").textContent = note || (sentences.length ? "" : "No more sentences here.");
  $("delete-texts").hidden = mode() !== "search" || !total;
  listed = sentences;
  drawList({ total, start, sentences }, more);
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
  $("look").replaceChildren(...types.filter((one) => one.n_looks).map(({ name, n_looks: n }) =>
    make("p", {}, `${count(n, "decided sentence needs", "decided sentences need")} a look for ${name}. `,
      make("button", { type: "button", text: "Look at them", "aria-label": `Look at them for ${name}`, onclick: () => choosePart("look", name) }))));
}

/** List a part of the sentences; those that are about a decision come on the page. */
export function choosePart(name, type = "") {
  part = name;
  lookFor = type;
  if (mode() === "teach") before.order = "order";
  if (mode() === "teach") document.querySelector("input[value=order]").checked = true;
  drawParts();
  return act(async () => {
    $("search-row").hidden = mode() !== "search";
    let found = await load();
    if (!["all", "decided"].includes(name) && !listed.some((one) => one.id === app.sentence?.id)) {
      if (!found.length) found = await load(0);
      await goToFirst(found);
    }
    $("sentence").focus({ preventScroll: true });
  });
}

/** Put a sentence on the page, and remember the one that was there; or do nothing where it must be free, and is not. */
export async function go(sentence, word = null, mustBeFree = false) {
  const mine = await take(sentence);
  if (mustBeFree && mine.held) return false;
  if (app.sentence && app.sentence.id !== sentence.id) trail.push(app.sentence.id);
  if (trail.length > 500) trail.shift();
  show(mine, word ?? hitsOf(mine)[0]?.start ?? null);
  return true;
}

/** Go to the first of some sentences that nobody else has on the page; return whether there is one. */
export async function goToFirst(sentences) {
  for (const one of sentences) {
    if (!one.held && (await go(one, null, true))) return true;
  }
  return false;
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
  const others = found.filter((one) => one.id !== sentence?.id);
  if (!(await goToFirst(others))) {
    if (found.length || part !== "look" || mode() !== "order") {
      return say(`${said} There is no other sentence here. Choose another order, search, or import more text.`.trim());
    }
    document.querySelector("input[value=teach]").checked = true;
    [part, lookFor] = ["open", ""];
    drawParts();
    const done = `${said} All of them are looked at.`.trim();
    say(done);
    return next(done);
  }
  await load();
}

export async function previous() {
  const id = trail.pop();
  if (id === undefined) return say("This is where you began.");
  show(await take(await get(`/api/sentences/${id}`)));
  await load();
}

async function again() {
  const isSearch = mode() === "search";
  if (isSearch && !isSearching) [before.part, part] = [part, "all"]; // a search is through all, at first
  if (!isSearch && isSearching) part = before.part;
  if (!isSearch) before.order = mode();
  isSearching = isSearch;
  $("search-row").hidden = !isSearch;
  app.query = isSearch ? $("search").value.trim() : "";
  tell("query");
  drawParts();
  try {
    const words = $("search").value;
    const found = await load(mode() === "search" ? 0 : undefined);
    if (mode() === "search" && words === $("search").value && words !== entered && found.length) await go(found[0]);
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
  $("search").addEventListener("input", () => {
    clearTimeout(typed);
    entered = null;
    typed = setTimeout(again, 250);
  });
  setUpList((id) => act(() => open(id)), (error) => error.status !== 0 && trouble(error));
  on("state", drawParts);
  on("sentence", (isOther) => isOther && showCurrent());
  drawParts();
  const reload = () => load(undefined, true).catch((error) => error.status !== 0 && trouble(error)); // 0: said already
  on("queue", reload);
  on("texts", reload);
  return load();
}

let typed = 0;
let entered = null; // the words for which Enter put the caret on a hit, which must stay there

/** Go on with the sentence, from its first hit on; whoever types fast does not wait for the list. */
export function goToHit() {
  clearTimeout(typed);
  app.query = $("search").value.trim();
  const hit = app.sentence && hitsOf(app.sentence)[0];
  if (hit) {
    entered = $("search").value;
    show(app.sentence, hit.start);
  }
  $("sentence").focus();
  again();
}

/** Leave the search, for the order that there was before it. */
export function endSearch() {
  $("search").value = "";
  document.querySelector(`input[value=${before.order}]`).checked = true;
  again();
}

/** What is searched for, and in which part of the sentences. */
export const searched = () => ({ q: $("search").value.trim(), part });

/** Search for words. */
export function search() {
  const radio = document.querySelector("input[value=search]");
  radio.checked = true;
  again();
  $("search").focus();
  $("search").select();
}
