// Review of one type: all that it was found in, as a list; the wrong ones are ticked off.

import { get, post } from "./api.js";
import { act, app, hueOf, refresh } from "./app.js";
import { $, count, make, say, trouble } from "./dom.js";
import { open } from "./queue.js";

const AT_ONCE = 200;
const MOST = 1000; // that the server gives at once
let rows = []; // {mention, box}: a ticked box is right, an empty one wrong, an indeterminate one stays open
let total = 0;
let number = 0;
let where = ""; // the sentences that it has looked through

const problem = () => $("review").querySelector(".trouble");

async function load() {
  const mine = ++number;
  try {
    const answer = await ask(AT_ONCE, 0);
    if (mine !== number) return;
    total = answer.total;
    where = answer.looked < answer.sentences
      ? ` It has looked through ${answer.looked.toLocaleString("en")} of ${count(answer.sentences, "sentence")} (--words sets how much); there may be more in the others.`
      : "";
    rows = answer.mentions.map(row);
    draw();
  } catch (error) {
    trouble(error, problem());
  }
}

const ask = (n, after) => get("/api/mentions", { type: $("review-type").value, least: $("review-least").value, n, after });

/** List those that are not shown yet, too. What the person ticked stays. */
async function loadRest() {
  const mine = number;
  try {
    const known = new Set(rows.map(({ mention }) => key(mention)));
    for (let after = AT_ONCE; after < total; after += MOST) {
      const answer = await ask(MOST, after);
      if (mine !== number) return;
      total = answer.total;
      rows.push(...answer.mentions.filter((one) => !known.has(key(one))).map(row));
    }
    total = rows.length;
    draw();
  } catch (error) {
    trouble(error, problem());
  }
}

const key = ({ sentence, start, end }) => `${sentence} ${start} ${end}`;

function draw() {
  $("review-list").replaceChildren(...rows.map((one) => one.item));
  $("review-list").style.setProperty("--hue", hueOf($("review-type").value));
  $("review-more").hidden = rows.length >= total;
  $("review-more").textContent = `Show all ${total.toLocaleString("en")}`;
  describe();
}

function tick(is) {
  for (const { box } of rows) Object.assign(box, { checked: is, indeterminate: false });
  describe();
}

function row(mention) {
  const score = mention.confirmed ? "confirmed" : mention.score.toFixed(2);
  const box = make("input", { type: "checkbox", "aria-label": `${mention.text}: right? ${score}; ${mention.left} ${mention.text} ${mention.right}` });
  box.checked = true;
  box.addEventListener("change", describe);
  const leave = make("button", { type: "button", text: "Leave open", title: "Say nothing about this one (O)", "aria-label": `Leave open: ${mention.text}`, onclick: () => setOpen(box) });
  const look = make("button", { type: "button", text: "Show", "aria-label": `Show ${mention.text} in its sentence`, onclick: () => {
    $("review").close();
    act(() => open(mention.sentence, mention.start));
  } });
  const words = make("span", { class: "line", dir: "auto" }, mention.left, make("mark", { text: mention.text }), mention.right);
  words.addEventListener("click", () => box.click());
  const item = make("li", {}, box, words, make("span", { class: "soft score", text: score }), leave, look);
  return { mention, box, item };
}

function setOpen(box) {
  box.indeterminate = !box.indeterminate;
  box.focus();
  describe();
}

/** What storing would do. */
function decided() {
  const known = rows.filter(({ box }) => !box.indeterminate);
  const accept = known.filter(({ box, mention }) => box.checked && !mention.confirmed);
  const reject = known.filter(({ box }) => !box.checked);
  return { accept: accept.map(brief), reject: reject.map(brief) };
}

const brief = ({ mention: { sentence, start, end, version } }) => ({ sentence, start, end, version });

function describe() {
  for (const { box, item } of rows) item.dataset.is = box.indeterminate ? "open" : box.checked ? "right" : "wrong";
  const { accept, reject } = decided();
  const type = $("review-type").value;
  $("review-note").textContent = total
    ? `${count(total, "thing")} it takes for ${type}, ${rows.length < total ? `the first ${rows.length} shown` : "all shown"}. Untick the wrong ones.${where}`
    : `Nothing is taken for ${type} here.${where}`;
  $("review-store").textContent = `Confirm ${accept.length}, reject ${reject.length}`;
  $("review-store").disabled = !accept.length && !reject.length;
}

async function store() {
  trouble(null, problem());
  try {
    const answer = await post("/api/mentions/review", { type: $("review-type").value, ...decided() });
    const text = `Confirmed ${answer.accepted}, rejected ${answer.rejected}. Stored.`;
    if (answer.stale.length) {
      const what = `${count(answer.stale.length, "mention")} not stored: changed in another window in the meantime`;
      trouble({ what, advice: "the list shows how they stand now" }, problem());
    }
    say(text);
    await load();
    $("review-note").textContent = `${text} ${$("review-note").textContent}`;
    refresh();
  } catch (error) {
    trouble(error, problem());
  }
}

export function openReview(type) {
  if (!app.state.types.length) return say("There are no types yet.");
  const select = $("review-type");
  const was = typeof type === "string" ? type : select.value;
  select.replaceChildren(...app.state.types.map((one) => make("option", { value: one.name, text: one.name })));
  if (app.state.types.some((one) => one.name === was)) select.value = was;
  trouble(null, problem());
  $("review").showModal();
  return load();
}

export function setUpReview() {
  $("review-type").addEventListener("change", () => load());
  $("review-least").addEventListener("input", () => ($("review-score").value = (+$("review-least").value).toFixed(2)));
  $("review-least").addEventListener("change", () => load());
  $("review-more").addEventListener("click", loadRest);
  $("review-all").addEventListener("click", () => tick(true));
  $("review-none").addEventListener("click", () => tick(false));
  $("review-store").addEventListener("click", store);
  $("review-list").addEventListener("keydown", (event) => {
    const at = rows.findIndex(({ box }) => box === document.activeElement);
    if (at < 0) return;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      rows[Math.max(0, Math.min(rows.length - 1, to))].box.focus();
    } else if (event.key === "o") setOpen(rows[at].box);
  });
}
