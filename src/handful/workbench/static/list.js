// The list of sentences. It scrolls through all of them, and only those near what is in sight are elements of the page.

import { app, hueOf } from "./app.js";
import { $, make } from "./dom.js";
import { hitsOf } from "./hits.js";
import { mentions, nested, wordsOf } from "./sentence.js";

const [AROUND, MARGIN] = [30, 8]; // rows beyond those in sight that are read, and that must be there
const FAR = 8; // words before a hit that fit in a row with it
let rows = { total: 0, start: 0, sentences: [] };
let opened = () => {}; // what a click on a sentence does
let lost = null; // the sentence whose row had the focus, where it is not among those that are there
let read = null; // reads n sentences from a place on; null where all are there

/** List sentences, the first of which has the place `start` among `total`. */
export function drawList(found, more = null) {
  const held = document.activeElement?.closest?.("#queue-list") ? document.activeElement.dataset.id : lost;
  rows = found;
  read = more;
  const place = $("queue-list");
  const top = place.scrollTop;
  place.replaceChildren(...rows.sentences.map(item));
  const height = rowHeight();
  place.style.setProperty("--above", `${rows.start * height}px`);
  place.style.setProperty("--below", `${(rows.total - rows.start - rows.sentences.length) * height}px`);
  place.scrollTop = top; // it was bounded by the height in between
  const row = held && place.querySelector(`[data-id="${held}"]`);
  const isFree = document.activeElement === document.body; // the focus is nowhere, since its row was replaced
  lost = isFree && !row ? held : null;
  if (isFree) row?.focus({ preventScroll: true });
  markCurrent();
  if (lost) fill().catch(() => {}); // it is in sight, but not among these rows
}

/** Where the rows that are there begin, and how many there are; null where these are all. */
export const shown = () => read && { start: rows.start, n: rows.sentences.length };

function item(one, i) {
  const label = make("button", { type: "button", dir: "auto", "data-status": one.status, onclick: () => opened(one.id) }, line(one));
  label.dataset.id = one.id;
  return make("li", { "aria-posinset": rows.start + i + 1, "aria-setsize": rows.total }, label);
}

const rowHeight = () => $("queue-list").firstElementChild?.getBoundingClientRect().height ?? 0;

function markCurrent() {
  for (const one of $("queue-list").querySelectorAll("button")) {
    if (+one.dataset.id === app.sentence?.id) one.setAttribute("aria-current", "true");
    else one.removeAttribute("aria-current");
  }
}

/** Mark the sentence on the page, and scroll the list, not the page, to where it is seen. */
export function showCurrent() {
  markCurrent();
  const place = $("queue-list");
  const at = rows.sentences.findIndex((one) => one.id === app.sentence?.id);
  if (at < 0) return;
  const [top, height] = [(rows.start + at) * rowHeight(), rowHeight()];
  if (top < place.scrollTop || top + height > place.scrollTop + place.clientHeight) place.scrollTop = top - place.clientHeight / 5;
}

let asked = 0;

/** Read what has come in sight, and a few more. */
async function fill() {
  const [place, height] = [$("queue-list"), rowHeight()];
  if (!read || !height) return;
  const first = Math.floor(place.scrollTop / height);
  const n = Math.ceil(place.clientHeight / height);
  const { start, total, sentences } = rows;
  const isThere = Math.max(0, first - MARGIN) >= start && Math.min(total, first + n + MARGIN) <= start + sentences.length;
  if (isThere) return;
  const mine = ++asked;
  const [more, from] = [read, Math.max(0, first - AROUND)];
  const found = await more(from, n + 2 * AROUND);
  if (mine === asked && more === read) drawList(found, more);
}

export function setUpList(open, failed) {
  opened = open;
  $("queue-list").addEventListener("scroll", () => fill().catch(failed), { passive: true });
}

/** A sentence in the list: its mentions are underlined, and what was searched for is marked. */
export function line(sentence) {
  const [hits, marked] = [hitsOf(sentence), nested(mentions(sentence))];
  let start = (hits[0]?.start ?? 0) > FAR ? hits[0].start - FAR / 2 : 0; // only two lines are shown
  start = marked.find((one) => one.start < start && start < one.end)?.start ?? start;
  const rest = marked.filter((one) => one.start >= start);
  return make("span", {}, start ? "… " : "", ...partsOf(sentence, rest, start, sentence.words.length, hits));
}

function partsOf(sentence, marked, start, end, hits) {
  const parts = [];
  let at = start;
  for (const one of marked) {
    const kind = one.confirmed ? "confirmed" : "predicted";
    parts.push(...words(sentence, at, one.start, hits), one.start > start ? gap(sentence, one.start) : "");
    parts.push(make("mark", { class: kind, title: `${one.type}, ${kind}`, "--hue": hueOf(one.type) }, ...partsOf(sentence, one.inner, one.start, one.end, hits)));
    parts.push(one.end < end ? gap(sentence, one.end) : "");
    at = one.end;
  }
  return [...parts, ...words(sentence, at, end, hits)];
}

function words(sentence, start, end, hits) {
  const parts = [];
  while (start < end) {
    const hit = hits.find((one) => one.start <= start && start < one.end);
    const stop = hit ? Math.min(end, hit.end) : Math.min(end, ...hits.map((one) => one.start).filter((one) => one > start));
    const text = wordsOf(sentence, { start, end: stop });
    parts.push(hit ? make("b", { class: "hit", text }) : text, stop < end ? gap(sentence, stop) : "");
    start = stop;
  }
  return parts;
}

const gap = (sentence, word) => (word > 0 && sentence.spaces[word - 1] ? " " : "");
