// Several people at one project: who is there, whose sentence it is, and the answers of two that differ.

import { download, post } from "./api.js";
import { app, on } from "./app.js";
import { settle } from "./decisions.js";
import { $, count, make, say } from "./dom.js";
import { line } from "./list.js";
import { choosePart } from "./queue.js";

const ACTIONS = { labelled: "label", none: "nothing", unsure: "unsure", skipped: "skip" };
const SAID = { none: "Nothing here", unsure: "Put aside as not sure", skipped: "Skipped" };
const me = () => app.state?.project.person ?? null;

/** Keep a sentence for this person, and let go of the one on the page. A page for one person keeps none. */
export async function take(sentence) {
  if (!me()) return sentence;
  const leave = app.sentence && app.sentence.id !== sentence.id ? app.sentence.id : 0;
  return post(`/api/sentences/${sentence.id}/take`, { leave });
}

export const isOfAnother = (sentence) => Boolean(sentence.by) && sentence.by !== me();

export const changedBy = (sentence) => (isOfAnother(sentence) ? `${sentence.by} changed this sentence` : "This sentence was changed in another window");

/** Who decided on a sentence, and who has it on the page now, where that is somebody else. */
export function namesOf(sentence) {
  return (isOfAnother(sentence) && sentence.status !== "disputed" ? ` · ${sentence.by}` : "") + (sentence.held ? ` · on the page of ${sentence.held}` : "");
}

const places = (labels) => labels.map(({ start, end, type }) => `${start} ${end} ${type}`).sort().join();

/** What can be chosen where two people differ: either answer, and what both have marked. */
function choices({ answers }) {
  const found = answers.slice(0, 2).map((one, i) => ({
    ...one, key: "bc"[i], name: one.person, action: ACTIONS[one.status], said: `The answer of ${one.person} counts`,
  }));
  if (found.length < 2) return found;
  const shared = found[0].labels.filter((one) => places(found[1].labels).split(",").includes(places([one])));
  const isOther = shared.length && found.every((one) => places(one.labels) !== places(shared));
  return isOther ? [...found, { key: "d", name: "what both have marked", status: "labelled", action: "label", labels: shared, said: "What both have marked counts" }] : found;
}

/** Whether nobody has begun to mark anew a sentence on which two people differ. */
export function isUnsettled(sentence) {
  if (sentence.status !== "disputed") return false;
  const [one, other] = sentence.answers;
  return places(sentence.labels) === places(one.labels.filter((label) => places(other.labels).split(",").includes(places([label]))));
}

export function settleBy(key) {
  const chosen = choices(app.sentence).find((one) => one.key === key);
  return chosen ? settle(chosen) : say("There are no two answers here to choose from.");
}

function drawAnswers() {
  const found = app.sentence ? choices(app.sentence) : [];
  $("answers").hidden = !found.length;
  $("answers").replaceChildren(...found.map((one) => {
    const button = make("button", { type: "button", onclick: () => settleBy(one.key) }, `Take ${one.name === one.person ? `that of ${one.name}` : one.name} `, make("kbd", { text: one.key.toUpperCase() }));
    const text = SAID[one.status] ?? null;
    const words = make("p", { dir: "auto" }, line({ ...app.sentence, labels: one.labels, predictions: [] }));
    return make("section", { "aria-label": one.name }, make("h3", { text: one.name }), words, text ? make("p", { class: "soft", text }) : null, button);
  }));
}

function drawPeople() {
  const { project, counts, agreement } = app.state;
  const others = project.people.filter((one) => one !== me());
  $("people").hidden = !me();
  $("people").textContent = me() ? `${me()}${others.length ? `, with ${others.join(", ")}` : ", alone here"}` : "";
  $("agreement").hidden = !me() && !agreement.length && !counts.disputed;
  const figure = (value) => (value === null ? "–" : value.toFixed(2));
  const rows = agreement.map((one) => make("tr", {},
    make("th", { scope: "row", text: one.people.join(" and ") }),
    ...[figure(one.f1), figure(one.kappa), one.n_sentences].map((text) => make("td", { text })),
  ));
  $("agreement-table").hidden = !rows.length;
  $("agreement-table").tBodies[0].replaceChildren(...rows);
  const waiting = counts.waiting ? `${count(counts.waiting, "sentence waits", "sentences wait")} for a second answer. ` : "";
  $("agreement-note").textContent = rows.length ? waiting : `${waiting}It comes with the first sentence that two people have answered.`;
  $("settle").hidden = !counts.disputed;
  $("settle").textContent = `Settle ${count(counts.disputed, "sentence")}`;
}

export function setUpPeople() {
  on("state", drawPeople);
  on("sentence", drawAnswers);
  on("types", drawAnswers);
  $("settle").addEventListener("click", () => choosePart("disputed"));
  $("get-answers").addEventListener("click", () => download("/api/answers"));
}
