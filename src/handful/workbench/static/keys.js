// Keys, and the help that lists them.

import { act, app } from "./app.js";
import { acceptOne, arm, decide, mark, remove, reverse, shiftBorders } from "./decisions.js";
import { $, make } from "./dom.js";
import { openFiles } from "./files.js";
import { settleBy } from "./people.js";
import { enterPopover, hidePopover, why } from "./popover.js";
import { endSearch, goToHit, next, previous, search } from "./queue.js";
import { openReview } from "./review.js";
import { chooseWord, clearSelection, isSame, mentionAt, mentions, moveTo, pick, selection } from "./sentence.js";
import { openTypes } from "./types.js";

const rightToLeft = () => getComputedStyle($("sentence")).direction === "rtl";

function nextMention(step) {
  const all = mentions(app.sentence);
  const now = mentionAt(selection.caret);
  const at = now ? all.findIndex((one) => isSame(one, now)) : -1;
  const beyond = step > 0 ? all.find((one) => one.start > selection.caret) : all.findLast((one) => one.end <= selection.caret);
  const one = (now ? all[at + step] : beyond) ?? (step > 0 ? all[0] : all.at(-1));
  if (one) pick(one);
}

const arrow = (step) => (event) => moveTo(selection.caret + (rightToLeft() ? -step : step), event.shiftKey);

// Group, keys as shown, what they do, keys as the browser calls them, function.
const KEYS = [
  ["Words", "← →", "move", ["ArrowLeft"], arrow(-1)],
  ["Words", null, null, ["ArrowRight"], arrow(1)],
  ["Words", "Shift + ← →", "choose several words", [], null],
  ["Words", "Home, End", "first, last word", ["Home"], (event) => moveTo(0, event.shiftKey)],
  ["Words", null, null, ["End"], (event) => moveTo(app.sentence.words.length - 1, event.shiftKey)],
  ["Words", ", .", "previous, next mention", ["."], () => nextMention(1)],
  ["Words", null, null, [","], () => nextMention(-1)],
  ["Words", "O", "choose this word alone, to mark it inside a mention", ["o"], chooseWord],
  ["Words", "Esc", "choose no words, and no type", ["Escape"], () => (arm(null), clearSelection())],
  ["Mentions", "1 … 9, 0", "mark the chosen words, or change the type of the mention; with Shift, types 11 to 20", [], null],
  ["Mentions", "G", "go to the types, for those without a key", ["g"], () => $("types-bar").querySelector("button")?.focus()],
  ["Mentions", "A, Space", "this mention is right", ["a", " "], acceptOne],
  ["Mentions", "X, Delete", "this is no mention of its type", ["x", "Delete", "Backspace"], remove],
  ["Mentions", "H J", "move its start left, right", ["h"], () => shiftBorders(-1, 0)],
  ["Mentions", null, null, ["j"], () => shiftBorders(1, 0)],
  ["Mentions", "K L", "move its end left, right", ["k"], () => shiftBorders(0, -1)],
  ["Mentions", null, null, ["l"], () => shiftBorders(0, 1)],
  ["Mentions", "W", "why it was found; why the chosen words were not", ["w"], why],
  ["Mentions", "M", "all that can be done with it, as a menu", ["m"], enterPopover],
  ["Sentence", "Enter", "accept all that is shown, and go on", ["Enter"], () => decide("label")],
  ["Sentence", "N", "nothing here", ["n"], () => decide("nothing")],
  ["Sentence", "U", "not sure", ["u"], () => decide("unsure")],
  ["Sentence", "S", "skip", ["s"], () => decide("skip")],
  ["Sentence", "R", "reset: not decided", ["r"], () => decide("reset", { stay: true })],
  ["Sentence", "↓ ↑", "next, previous sentence", ["ArrowDown"], () => act(() => next())],
  ["Sentence", null, null, ["ArrowUp"], () => act(previous)],
  ["Two answers", "B, C", "the first, the second answer counts", ["b"], () => settleBy("b")],
  ["Two answers", null, null, ["c"], () => settleBy("c")],
  ["Two answers", "D", "what both have marked counts", ["d"], () => settleBy("d")],
  ["Everything", "Z, Ctrl + Z", "undo", ["z"], () => reverse("undo")],
  ["Everything", "Y, Ctrl + Y", "redo", ["y"], () => reverse("redo")],
  ["Everything", "/", "search", ["/"], search],
  ["Everything", "V", "review one type", ["v"], () => openReview()],
  ["Everything", "T", "types", ["t"], openTypes],
  ["Everything", "I", "import and export", ["i"], openFiles],
  ["Everything", "?", "this help", ["?"], () => openHelp()],
];

const ON_SENTENCE = new Set(["Enter", " ", "Home", "End", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Backspace", "Delete"]);
const LEAVES = new Set(["Enter", "ArrowUp", "ArrowDown"]);
const ANY_TIME = new Set(["z", "y", "t", "i", "?"]); // without a sentence, too
const POPOVER = new Set(["w", "m", "h", "j", "k", "l"]); // these leave the popover open
const REPEATED = new Set(["ArrowLeft", "ArrowRight", ",", ".", "z", "y"]);
const functions = new Map(KEYS.flatMap(([, , , names, done]) => names.map((name) => [name, done])));

function pressed(event) {
  if (!app.state || event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
  // A field of a dialog that has just closed holds the focus until the page is drawn again.
  const target = event.target.closest("dialog") ? document.body : event.target;
  if (target.matches("textarea, select, input[type=search], input[type=text], input:not([type])")) {
    if (event.key === "Escape" && target.id === "search") endSearch();
    if (event.key === "Enter" && target.id === "search") goToHit();
    else if (event.key === "Escape" || (event.key === "Enter" && target.type === "search")) $("sentence").focus();
    return;
  }
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.ctrlKey || event.metaKey) {
    const way = key === "y" || (key === "z" && event.shiftKey) ? "redo" : key === "z" ? "undo" : null;
    if (way && !event.altKey) {
      event.preventDefault();
      reverse(way);
    }
    return;
  }
  if (event.altKey && !event.getModifierState("AltGraph")) return;
  const leaves = target.matches("input[type=radio]") && LEAVES.has(key); // a choice of order is made: on with the sentence
  if (ON_SENTENCE.has(key) && target !== $("sentence") && target !== document.body && !leaves) return;
  if (event.repeat && !REPEATED.has(key)) return;
  if (!app.sentence && !ANY_TIME.has(key)) return;
  const shifted = event.shiftKey && !/^\d$/.test(key) && /^Digit(\d)$/.exec(event.code);
  const type = app.state.types.find((one) => one.key === (shifted ? `⇧${shifted[1]}` : key));
  const done = type ? () => mark(type.name) : functions.get(key);
  if (!done) return;
  event.preventDefault();
  if (leaves) $("sentence").focus({ preventScroll: true });
  if (!POPOVER.has(key)) hidePopover();
  done(event);
}

export function openHelp() {
  if (!$("help-keys").childElementCount) {
    for (const group of new Set(KEYS.map(([name]) => name))) {
      const rows = KEYS.filter(([name, keys]) => name === group && keys).map(([, keys, what]) =>
        make("tr", {}, make("th", { scope: "row" }, make("kbd", { text: keys })), make("td", { text: what })));
      $("help-keys").append(make("table", {}, make("caption", { text: group }), make("tbody", {}, ...rows)));
    }
  }
  $("help").showModal();
}

export function setUpKeys() {
  document.addEventListener("keydown", pressed);
}
