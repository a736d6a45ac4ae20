// What a person decides: stored by the server first, then shown.

import { get, post } from "./api.js";
import { act, app, refresh, tell } from "./app.js";
import { count, say, trouble } from "./dom.js";
import { changedBy, isOfAnother, isUnsettled } from "./people.js";
import { go, next } from "./queue.js";
import { bare, chosen, clearSelection, isDecided, mentionAt, mentions, selection, shares, show, wordsOf } from "./sentence.js";
import { showUnseen } from "./sight.js";

const CALM = 500; // milliseconds in which predictions that have just changed are not accepted by a key
const SEEN = 1000; // milliseconds in which a key does not decide on a sentence that somebody else has just decided on
const STEPS = { label: "labels accepted", nothing: "nothing here", unsure: "not sure", skip: "skipped", reset: "reset", review: "mentions marked or rejected" };
let changedAt = -CALM;
let othersAt = -SEEN;

/** Read the sentence on the page again; what is older than what is shown is not shown. */
export async function reread({ pointOut = false } = {}) {
  const { id } = app.sentence;
  const fresh = await get(`/api/sentences/${id}`);
  const old = app.sentence;
  if (old.id !== id || fresh.version < old.version || (fresh.version === old.version && fresh.fit < old.fit)) return null;
  const isOther = JSON.stringify(mentions(fresh).map(bare)) !== JSON.stringify(mentions(old).map(bare));
  if (isOther && pointOut) changedAt = performance.now();
  if (fresh.version > old.version && pointOut) othersAt = performance.now();
  show(fresh);
  return { isOther, isNewer: fresh.version > old.version };
}

function conflict(sentence) {
  show(sentence);
  if (sentence.held) return trouble({ what: `${sentence.held} has this sentence on the page, so yours was not stored`, advice: "go on with another one" });
  return trouble({
    what: `${changedBy(sentence)} in the meantime, so yours was not stored`,
    advice: "what you see now is how it stands; decide again if it should be otherwise",
  });
}

/** Whether somebody else has just changed the sentence on the page: no key decides on what was hardly seen. */
function isJustChanged() {
  const isIt = performance.now() - othersAt < SEEN;
  if (isIt) say(`${changedBy(app.sentence)} just now. Look at how it stands, and press the key again.`);
  return isIt;
}

/** Store a decision on the whole sentence, and go on to the next one. */
export function decide(action, { stay = false } = {}) {
  return act(async () => {
    const { sentence } = app;
    if (isJustChanged()) return;
    if (action === "label" && isDecided(sentence)) return next();
    const isLook = sentence.look.length > 0; // then it is about the types that came later, and its labels stay
    const asked = action;
    if (isLook && action === "skip") { // its labels are no less right
      const said = `Left as it is: nobody has looked for ${sentence.look.join(", ")} yet.`;
      say(said);
      return next(said);
    }
    if (isLook && action === "nothing") action = "label";
    const shown = mentions(sentence);
    if (asked === "label" && isUnsettled(sentence)) return say("Two people differ here. Take one of the answers (B, C), or mark the sentence anew.");
    if (asked === "label" && sentence.predictions === null && (isLook || !shown.length)) {
      return say("There is no prediction yet. Mark words, or press N if there is nothing here.");
    }
    if (asked === "label" && performance.now() - changedAt < CALM) {
      return say("The predictions have just changed. Press Enter again to accept them.");
    }
    const n = asked === "label" ? showUnseen() : 0;
    if (n) {
      return say(`${count(n, "predicted mention was", "predicted mentions were")} not in sight. Look at ${n === 1 ? "it" : "them"}, and press Enter again.`);
    }
    const labels = asked === "label" ? shown : action === "label" || action === "unsure" ? shown.filter((one) => one.confirmed) : [];
    const done = { label: labels.length ? `Confirmed ${labels.length}` : "Confirmed: nothing here", nothing: "Nothing here", unsure: "Put aside as not sure", skip: "Skipped", reset: "Open again" };
    return store(action, labels, isLook && asked === "nothing" ? `No ${sentence.look.join(", ")} here` : done[action], stay);
  });
}

/** Let one of two answers count, or what they have in common. */
export function settle(chosen) {
  return act(() => isJustChanged() || store(chosen.action, chosen.labels, chosen.said));
}

async function store(action, labels, said, stay = false) {
  const { id, version } = app.sentence;
  let answer;
  try {
    answer = await post(`/api/sentences/${id}/decision`, { version, action, labels: labels.map(bare) });
  } catch (error) {
    if (error.status === 409 && error.record?.sentence) return conflict(error.record.sentence);
    throw error;
  }
  show(answer.sentence);
  say(`${said}. Stored.`);
  tell("decided", { sentence: answer.sentence, said: `${said}.` });
  refresh();
  if (!stay) await next(`${said}. Stored.`);
}

/** Store that a mention is right, or wrong. Where mentions share words, it may stand instead of another one. */
async function review(kind, type, span, done, instead = null) {
  const { sentence } = app;
  if (isJustChanged()) return;
  const one = { sentence: sentence.id, start: span.start, end: span.end, version: sentence.version };
  const record = { type, [kind]: [one] };
  if (shares() && instead) one.instead = bare(instead);
  else if (!shares() && kind === "accept") record.reject = cutOff(type, span).map((word) => ({ ...one, start: word, end: word + 1 }));
  const answer = await post("/api/mentions/review", record);
  clearSelection();
  if (answer.stale.length) return conflict(await get(`/api/sentences/${sentence.id}`));
  if (kind === "accept") selection.picked = { ...span, type };
  show(await get(`/api/sentences/${sentence.id}`));
  say(`${done} Stored.`);
  tell("decided", { sentence: app.sentence, said: done });
  refresh();
}

/** The words that a mention of this type had, and that are outside its new borders: they are not of the type. */
function cutOff(type, { start, end }) {
  const same = mentions(app.sentence).filter((one) => one.type === type && one.start < end && start < one.end);
  const words = same.flatMap((one) => Array.from({ length: one.end - one.start }, (_, i) => one.start + i));
  return words.filter((word) => word < start || word >= end);
}

/** Mark the chosen words as a mention of a type, or change the type of the mention there. */
export function mark(type) {
  const span = chosen();
  return act(() => review("accept", type, span, `${wordsOf(app.sentence, span)}: ${type}.`, span.type ? span : null));
}

/** A click on a type: it is for the words that were chosen; where there are none, for those that are chosen next. */
export function clickType(type) {
  if (app.armed === null && (selection.isMarked || selection.isPlaced)) return mark(type);
  return arm(app.armed === type ? null : type);
}

export function arm(type) {
  if (app.armed === type) return;
  say(type === null ? `${app.armed} is no longer chosen.` : `${type} is chosen. Drag over words to mark them, or click one. Esc ends it.`);
  app.armed = type;
  tell("armed");
}

/** Say that the mention at the caret is right. */
export function acceptOne() {
  const one = mentionAt(selection.caret);
  if (!one) return say("There is no mention here.");
  if (one.confirmed) return say(`${one.type} is confirmed already.`);
  return act(() => review("accept", one.type, one, `${wordsOf(app.sentence, one)}: ${one.type} is right.`));
}

/** Say that the mention at the caret is none of its type. */
export function remove() {
  const one = mentionAt(selection.caret);
  if (!one) return say("There is no mention here.");
  return act(() => review("reject", one.type, one, `${wordsOf(app.sentence, one)}: not ${one.type}.`));
}

/** Give a mention other borders. */
export function moveBorders(old, { start, end }) {
  const last = app.sentence.words.length;
  if (start < 0 || end > last || start >= end) return say("The border cannot go further.");
  return act(() => review("accept", old.type, { start, end }, `${old.type} is now: ${wordsOf(app.sentence, { start, end })}.`, old));
}

export function shiftBorders(byStart, byEnd) {
  const one = mentionAt(selection.caret);
  if (!one) return say("There is no mention here.");
  const now = { start: one.start + byStart, end: one.end + byEnd };
  selection.caret = Math.max(now.start, Math.min(now.end - 1, selection.caret));
  return moveBorders(one, now);
}

/** Undo or redo the last step, and show what it was about. */
export function reverse(way) {
  return act(async () => {
    const answer = await post(`/api/${way}`, { n: 1 });
    const n = answer.undone ?? answer.redone;
    const left = answer.left.find(isOfAnother);
    if (!n && left) await go(left);
    if (!n && answer.is_left) return say(`Not ${way}ne: ${left ? changedBy(left) : "others have decided"} since then.`);
    if (!n) return say(`There is nothing to ${way}.`);
    const changed = answer.sentences;
    if (changed.length) await go(changed.find((one) => one.id === app.sentence?.id) ?? changed[0]);
    const where = changed.length === 1 ? `sentence ${changed[0].id}` : count(changed.length, "sentence");
    const texts = count(answer.texts, "text");
    const what = answer.action === "remove" ? `${texts} deleted`
      : answer.action === "import" ? (answer.texts ? `an import of ${texts}` : "the labels and types of an import; its texts stay")
      : answer.types_changed ? "a change of types" : `${STEPS[answer.action] ?? answer.action}, in ${where}`;
    const rest = answer.left.length ? ` ${count(answer.left.length, "sentence stays", "sentences stay")} as others have decided since then.` : "";
    const done = `${way === "undo" ? "Undone" : "Redone"}: ${what}.`;
    say(`${done}${rest}`);
    for (const sentence of changed) tell("decided", { sentence, said: done });
    await refresh();
  });
}
