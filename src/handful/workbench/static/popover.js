// What can be done with the chosen words or the mention there: types, right, wrong, borders, and why the tagger says so.

import { get } from "./api.js";
import { app, on } from "./app.js";
import { acceptOne, mark, remove, shiftBorders } from "./decisions.js";
import { $, count, make } from "./dom.js";
import { chosen, mentionAt, selection, wordsOf } from "./sentence.js";

const FEW = 10; // types that are found without a search
const GAP = 8; // pixels between the words and the popover
let openFor = null; // the words that it is about

const isOpen = () => openFor !== null;
const inside = () => (selection.isMarked ? null : mentionAt(selection.caret));

function draw() {
  const { start, end } = (openFor = chosen());
  const one = inside();
  const held = $("popover-types").contains(document.activeElement) ? document.activeElement.dataset.name : null;
  $("popover-words").textContent = wordsOf(app.sentence, { start, end });
  $("popover-types").replaceChildren(...app.state.types.map((type) => {
    const attributes = { type: "button", class: "type", title: type.description || type.name, "--hue": type.colour, "data-name": type.name };
    if (one?.type === type.name) attributes["aria-current"] = "true";
    const button = make("button", { ...attributes, onclick: () => (hidePopover(), mark(type.name)) }, make("span", { text: type.name }));
    if (type.key) button.append(make("kbd", { text: type.key }));
    return button;
  }));
  $("popover-find").hidden = app.state.types.length <= FEW;
  filter();
  if (held) $("popover-types").querySelector(`[data-name="${CSS.escape(held)}"]`)?.focus();
  $("why-type").hidden = Boolean(one);
  $("mention-actions").hidden = $("borders").hidden = !one;
  $("right").hidden = Boolean(one?.confirmed);
  $("wrong").firstElementChild.textContent = one ? `Not ${one.type}` : "";
  $("why").firstElementChild.textContent = one && !one.confirmed ? "Why?" : one ? "Would it be found?" : "Why not?";
}

/** Show the types whose names have what was typed. */
function filter() {
  const typed = $("popover-find").value.trim().toLowerCase();
  for (const button of $("popover-types").children) button.hidden = !button.dataset.name.toLowerCase().includes(typed);
}

/** Beside the words, above or below, so that it covers neither them nor the decisions on the sentence. */
function place() {
  if (!isOpen()) return;
  const box = $("popover");
  const words = [...$("sentence").querySelectorAll(".w.chosen")].map((word) => word.getBoundingClientRect());
  if (!words.length) return;
  const [top, bottom] = [Math.min(...words.map((one) => one.top)), Math.max(...words.map((one) => one.bottom))];
  const { offsetHeight: height, offsetWidth: width } = box;
  const lowest = Math.min(innerHeight, document.querySelector("#card .actions").getBoundingClientRect().top) - GAP;
  const isBelow = bottom + GAP + height <= lowest || top - GAP - height < GAP;
  const y = isBelow ? Math.min(bottom + GAP, innerHeight - height - GAP) : top - GAP - height;
  const x = Math.min(Math.max(GAP, words.at(-1).left - 24), document.documentElement.clientWidth - width - GAP);
  box.style.setProperty("--x", `${Math.max(GAP, x)}px`);
  box.style.setProperty("--y", `${Math.max(GAP, y)}px`);
}

export function showPopover() {
  if (!app.sentence || !app.state.types.length) return;
  $("reasons").replaceChildren();
  $("popover-find").value = "";
  const names = app.state.types.map((type) => make("option", { value: type.name, text: type.name }));
  $("why-type").replaceChildren(make("option", { value: "", text: "the nearest type" }), ...names);
  draw();
  $("popover").hidden = false;
  place();
}

export function hidePopover() {
  if (!isOpen()) return;
  openFor = null;
  if ($("popover").contains(document.activeElement)) $("sentence").focus({ preventScroll: true });
  $("popover").hidden = true;
}

/** Open it with the focus in it, or close it. */
export function enterPopover() {
  if (isOpen() && $("popover").contains(document.activeElement)) return hidePopover();
  showPopover();
  $("popover").querySelector("input:not([hidden]), button:not([hidden])")?.focus();
}

/** Say why the tagger found the mention, or why it did not find the words. */
export async function why() {
  if (!isOpen()) showPopover();
  const asked = openFor;
  const { id } = app.sentence;
  if (!asked) return;
  $("reasons").replaceChildren(make("p", { class: "soft", text: "Asking the tagger…" }));
  const name = asked.type ?? $("why-type").value;
  const type = name ? { type: name } : {};
  try {
    const found = await get(`/api/sentences/${id}/why`, { start: asked.start, end: asked.end, ...type });
    if (openFor?.start === asked.start && openFor.end === asked.end && app.sentence.id === id) $("reasons").replaceChildren(...reasons(found));
  } catch (error) {
    $("reasons").replaceChildren(make("p", { text: `${error.what ?? error}.` }));
  }
  place();
}

function reasons({ claim, evidence, nearest, notes, remedies }) {
  const most = Math.max(1, ...Object.values(evidence).map(Math.abs));
  const rows = Object.entries(evidence).map(([kind, points]) =>
    make("tr", { class: points < 0 ? "against" : "for" }, make("th", { scope: "row", text: kind }),
      make("td", {}, make("span", { class: "bar", "aria-hidden": "true", "--share": Math.abs(points) / most }), ` ${points > 0 ? "+" : ""}${points.toFixed(1)}`)));
  const near = nearest.map((one) => make("li", {}, "labelled near it: ", make("strong", { text: one.word }), ` (${one.tag}) in “${one.sentence}”`));
  const lines = [...notes, ...remedies.map((text) => `What would change it: ${text}`)].map((text) => make("li", { text }));
  return [
    make("p", { text: claim }),
    make("table", {}, make("caption", { class: "soft", text: `${count(rows.length, "kind")} of evidence, in points` }), make("tbody", {}, ...rows)),
    make("ul", {}, ...near, ...lines),
  ];
}

export function setUpPopover() {
  const decided = (doing) => () => (hidePopover(), doing());
  $("right").addEventListener("click", decided(acceptOne));
  $("wrong").addEventListener("click", decided(remove));
  $("why").addEventListener("click", why);
  $("why-type").addEventListener("change", why);
  $("popover-find").addEventListener("input", () => (filter(), place()));
  $("popover-find").addEventListener("keydown", (event) => {
    if (event.key === "Escape") hidePopover();
    else if (event.key === "Enter") $("popover-types").querySelector("button:not([hidden])")?.click();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  for (const button of $("borders").querySelectorAll("button")) {
    button.addEventListener("click", () => shiftBorders(+button.dataset.start, +button.dataset.end));
  }
  $("popover").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || event.target.matches("select")) return;
    if (event.target.matches("input") && /Left|Right/.test(event.key)) return event.stopPropagation(); // they are for what was typed
    const all = [...$("popover").querySelectorAll("button, input, select")].filter((one) => one.offsetParent);
    event.preventDefault();
    event.stopPropagation();
    all[(all.indexOf(document.activeElement) + step + all.length) % all.length].focus();
  });
  document.addEventListener("pointerdown", (event) => !event.target.closest("#popover, #sentence") && hidePopover());
  on("pointed", showPopover);
  on("selection", () => {
    const now = app.sentence && chosen();
    if (isOpen() && (now.end <= openFor.start || openFor.end <= now.start)) hidePopover();
  });
  on("sentence", (isOther) => {
    if (isOther) hidePopover();
    else if (isOpen()) (draw(), place());
  });
  addEventListener("scroll", place, { capture: true, passive: true });
  addEventListener("resize", place);
}
