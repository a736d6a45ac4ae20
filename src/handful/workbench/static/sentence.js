// The sentence on the page: its words and mentions, the selection, and drawing them.

import { app, hueOf, on, tell, typeOf } from "./app.js";
import { $, make } from "./dom.js";
import { hitsOf } from "./hits.js";
import { namesOf } from "./people.js";

export const selection = { caret: 0, anchor: null, isMarked: false, isPlaced: false, picked: null };
// isMarked: words were chosen, not only a place; isPlaced: the place was chosen, and is not only where a sentence starts;
// picked: which of several mentions at the caret was chosen

const LONG = 24; // letters of a word that may be broken at the end of a line
const DECIDED = ["labelled", "none"];
const STATUS = {
  new: "Not decided yet",
  partial: "Partly decided: the rest is open",
  labelled: "Confirmed",
  none: "Confirmed: nothing here",
  unsure: "Put aside as not sure",
  skipped: "Skipped",
  disputed: "Two people differ",
};

/** Whether a sentence is decided, for all types that there are now. */
export const isDecided = (sentence) => DECIDED.includes(sentence.status) && !sentence.look.length;
const overlap = (a, b) => a.start < b.end && b.start < a.end;
export const isSame = (a, b) => a.start === b.start && a.end === b.end && a.type === b.type;

/** Whether mentions of this project may share words. */
export const shares = () => Boolean(app.state?.project.overlap);

/** The mentions to draw: the confirmed ones and, where the sentence is not decided, the predicted ones. */
export function mentions(sentence) {
  const labels = (sentence.labels ?? []).map((one) => ({ ...one, confirmed: true }));
  const predicted = isDecided(sentence) ? [] : (sentence.predictions ?? []);
  const rest = predicted.filter((one) => !labels.some((label) => (shares() ? isSame : overlap)(label, one)));
  return [...labels, ...rest].sort((a, b) => a.start - b.start || b.end - a.end);
}

/** Mentions in order as a tree: those inside others are `inner` to them; of two that cross, the later one is cut. */
export function nested(shown) {
  const found = [];
  const rest = shown.map((one) => ({ of: one, ...one }));
  while (rest.length) {
    const one = rest.shift();
    const [inner, later] = [[], []];
    while (rest.length && rest[0].start < one.end) {
      const other = rest.shift();
      inner.push({ ...other, end: Math.min(other.end, one.end) });
      if (other.end > one.end) later.push({ ...other, start: one.end });
    }
    rest.unshift(...later.sort((a, b) => b.end - a.end));
    found.push({ ...one, inner: nested(inner) });
  }
  return found;
}

export const bare = ({ start, end, type }) => ({ start, end, type });

export function mentionAt(word) {
  const there = app.sentence ? mentions(app.sentence).filter((one) => one.start <= word && word < one.end) : [];
  const { picked } = selection;
  const least = there.reduce((a, b) => (a && a.end - a.start < b.end - b.start ? a : b), undefined);
  return there.find((one) => picked && isSame(one, picked)) ?? least;
}

/** The words that are chosen: by dragging or with Shift, else the mention at the caret, else its word. */
export function chosen() {
  const { caret, anchor, isMarked } = selection;
  if (isMarked) return { start: Math.min(caret, anchor), end: Math.max(caret, anchor) + 1 };
  return mentionAt(caret) ?? { start: caret, end: caret + 1 };
}

export function wordsOf(sentence, { start, end }) {
  return sentence.words.slice(start, end).map((word, i) => word + (sentence.spaces[start + i] ? " " : "")).join("").trim();
}

/** Move the caret to a mention, also where others have its words. */
export function pick(one) {
  moveTo(one.start);
  selection.picked = one;
  drawSelection();
}

/** Choose the word at the caret alone, to mark it inside a mention. */
export function chooseWord() {
  Object.assign(selection, { anchor: selection.caret, isMarked: true, picked: null });
  drawSelection();
  tell("selection");
}

/** Move the caret; with `extend`, choose the words from where it was. */
export function moveTo(word, extend = false) {
  selection.picked = null;
  const last = app.sentence.words.length - 1;
  if (extend && !selection.isMarked) {
    const inside = mentionAt(selection.caret);
    selection.anchor = selection.caret;
    if (inside) selection.anchor = word < selection.caret ? inside.end - 1 : inside.start;
    if (inside) word = word < selection.caret ? inside.start - 1 : inside.end;
  }
  selection.isMarked = extend;
  selection.isPlaced = true;
  if (!extend) selection.anchor = null;
  selection.caret = Math.max(0, Math.min(last, word));
  drawSelection();
  bringCaret();
  tell("selection");
}

export function choose({ start, end }) {
  Object.assign(selection, { anchor: start, caret: end - 1, isMarked: end - start > 1 });
  drawSelection();
  tell("selection");
}

export function clearSelection() {
  Object.assign(selection, { anchor: null, isMarked: false });
  drawSelection();
  tell("selection");
}

/** A long sentence scrolls inside its window: no key is about a word that is out of sight. */
const bringCaret = () => $(`w${selection.caret}`)?.scrollIntoView({ block: "nearest", behavior: "instant" });

/** Put a sentence on the page. */
export function show(sentence, word = null) {
  const isOther = sentence.id !== app.sentence?.id;
  app.sentence = sentence;
  if (isOther) Object.assign(selection, { caret: 0, anchor: null, isMarked: false, isPlaced: false, picked: null });
  if (word !== null) Object.assign(selection, { caret: word, anchor: null, isMarked: false, isPlaced: true });
  history.replaceState(null, "", `/#${sentence.id}`);
  draw();
  if (isOther) $("text").scrollTop = 0;
  if (word !== null) bringCaret();
  tell("sentence", isOther);
}

function draw() {
  const { sentence } = app;
  const place = $("sentence");
  $("before").textContent = sentence.before;
  $("after").textContent = sentence.after;
  $("card").dataset.status = sentence.look.length ? "partial" : sentence.status;
  $("reset").hidden = sentence.status === "new";
  const n = mentions(sentence).filter((one) => !one.confirmed || !sentence.look.length).length; // in a look, only what is new
  $("accept").firstElementChild.textContent = isDecided(sentence) ? "Next" : n ? `Accept ${n}` : "Accept as it is";
  const waiting = sentence.predictions === null && !isDecided(sentence) ? " · no prediction yet" : "";
  const looks = sentence.look.length ? `, but nobody has looked for ${sentence.look.join(", ")}` : "";
  $("status").textContent = `Sentence ${sentence.id} · ${STATUS[sentence.status]}${looks}${waiting}${namesOf(sentence)}`;
  const changed = new Map(sentence.changed.map((one) => [`${one.start} ${one.end}`, one]));
  const shown = mentions(sentence);
  const hits = hitsOf(sentence);
  const kindOf = (i) => ["w", sentence.words[i].length > LONG && "long", hits.some((one) => one.start <= i && i < one.end) && "hit"].filter(Boolean).join(" ");
  const word = (i) => make("span", { id: `w${i}`, class: kindOf(i), role: "option", "data-i": i, text: sentence.words[i] });
  const space = (i) => (sentence.spaces[i] ? " " : "");
  const boxOf = (piece) => {
    const one = piece.of;
    const isNew = !one.confirmed && changed.has(`${one.start} ${one.end}`);
    const score = one.confirmed || one.score === undefined ? "" : ` ${Math.round(100 * one.score)}%`;
    const kinds = ["m", one.confirmed ? "confirmed" : "predicted", isNew ? "changed" : ""].join(" ").trim();
    const label = `${one.type}, ${one.confirmed ? "confirmed" : `predicted${score}`}`;
    const box = make("span", { class: kinds, role: "group", "aria-label": label, "--hue": hueOf(one.type) });
    Object.assign(box.dataset, { type: one.type, start: one.start, end: one.end });
    if (piece.start === one.start) box.append(make("span", { class: "grip", "data-grip": "start", "aria-hidden": "true" }));
    box.append(...partsOf(piece.inner, piece.start, piece.end));
    if (piece.end < one.end) return box; // another mention cuts it here
    box.append(make("span", { class: "tag", "aria-hidden": "true", text: one.type + score }));
    box.append(make("span", { class: "grip", "data-grip": "end", "aria-hidden": "true" }));
    return box;
  };
  const partsOf = (pieces, start, end) => {
    const parts = [];
    for (let i = start, k = 0; i < end; ) {
      const piece = pieces[k]?.start === i ? pieces[k++] : null;
      parts.push(piece ? boxOf(piece) : word(i));
      i = piece ? piece.end : i + 1;
      if (i < end) parts.push(space(i - 1));
    }
    return parts;
  };
  place.replaceChildren(...partsOf(nested(shown), 0, sentence.words.length));
  for (const option of place.querySelectorAll(".w")) {
    const there = shown.filter((m) => m.start <= +option.dataset.i && +option.dataset.i < m.end);
    const said = there.map((one) => `${one.type}, ${one.confirmed ? "confirmed" : "predicted"}`);
    if (said.length) option.setAttribute("aria-label", [option.textContent, ...said].join(", "));
  }
  drawSelection();
  drawChanges();
}

function drawChanges() {
  const { sentence } = app;
  const box = $("changes");
  box.hidden = !sentence.changed.length || isDecided(sentence);
  if (box.hidden) return;
  const lines = sentence.changed.map((one) => make("li", { text: describeChange(sentence, one) }));
  box.replaceChildren(make("strong", { text: "Predictions have changed" }), make("ul", {}, ...lines));
}

export function describeChange(sentence, one) {
  const words = wordsOf(sentence, one);
  if (one.was === null) return `${words}: now ${one.type}`;
  if (one.type === null) return `${words}: no longer ${one.was}`;
  return `${words}: ${one.was} became ${one.type}`;
}

function drawSelection() {
  const place = $("sentence");
  const { start, end } = chosen();
  const inside = mentionAt(selection.caret);
  for (const option of place.querySelectorAll(".w")) {
    const i = +option.dataset.i;
    option.classList.toggle("caret", i === selection.caret);
    option.classList.toggle("chosen", start <= i && i < end);
    option.setAttribute("aria-selected", start <= i && i < end);
  }
  for (const box of place.querySelectorAll(".m")) box.classList.toggle("current", !selection.isMarked && Boolean(inside) && isSame(inside, mentionOf(box)));
  place.setAttribute("aria-activedescendant", `w${selection.caret}`);
  const type = inside && typeOf(inside.type);
  $("mention").textContent = inside
    ? `${wordsOf(app.sentence, inside)} · ${inside.type}${type?.description ? `: ${type.description}` : ""}`
    : "";
}

/** Return the mention that a box is drawn for. */
const mentionOf = ({ dataset: { start, end, type } }) => ({ start: +start, end: +end, type });

/**
 * Words by mouse: drag to choose, click a mention to select it, drag its ends to move them. `moved` is called with new
 * borders, `painted` where words were chosen, or one that is in no mention was clicked: it returns whether it marked them.
 */
export function watchMouse(moved, painted) {
  const place = $("sentence");
  let drag = null;
  const wordUnder = (event) => {
    const found = document.elementFromPoint(event.clientX, event.clientY)?.closest?.(".w");
    return found && place.contains(found) ? +found.dataset.i : null;
  };
  place.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !app.sentence) return;
    event.preventDefault();
    place.focus({ preventScroll: true });
    const grip = event.target.dataset.grip;
    const word = wordUnder(event);
    const box = event.target.closest(".m");
    if (grip) {
      const old = mentionOf(event.target.parentElement);
      const { start, end } = old;
      Object.assign(selection, { anchor: grip === "start" ? end - 1 : start, caret: grip === "start" ? start : end - 1, isMarked: true });
      drag = { old };
    } else if (word !== null) {
      moveTo(word, event.shiftKey);
      drag = { from: word };
    } else if (box) {
      pick(mentionOf(box)); // on the name of its type
      drag = {};
    } else return;
    place.setPointerCapture(event.pointerId);
  });
  place.addEventListener("pointermove", (event) => {
    const word = drag && wordUnder(event);
    if (word === null || drag === null || word === selection.caret || (!drag.old && drag.from === undefined)) return;
    if (drag.from !== undefined && !selection.isMarked) selection.anchor = drag.from;
    Object.assign(selection, { caret: word, isMarked: true });
    drawSelection();
    tell("selection");
  });
  const end = () => {
    if (!drag) return;
    const { old, from } = drag;
    drag = null;
    const isPainted = from !== undefined && (selection.isMarked || !mentionAt(from)) && painted();
    if (!old) return isPainted || tell("pointed");
    const now = chosen();
    clearSelection();
    if (now.start !== old.start || now.end !== old.end) moved(old, now);
    else tell("pointed"); // it was a click
  };
  place.addEventListener("pointerup", end);
  place.addEventListener("dblclick", (event) => {
    if (!shares() || wordUnder(event) === null) return;
    chooseWord();
    tell("pointed");
  });
  place.addEventListener("pointercancel", () => (drag = null));
}

for (const kind of ["types", "query"]) on(kind, () => app.sentence && draw());
