// Review of one type: all that it was found in, in all text, as a list. Nothing is stored that was not in sight.

import { get, post } from "./api.js";
import { act, app, on, refresh, typeOf } from "./app.js";
import { $, confirmed, count, make, say, trouble } from "./dom.js";
import { open } from "./queue.js";
import { draw as drawRow, row } from "./review_row.js";

const AT_ONCE = 200;
const MOST = 1000; // that the server gives at once
const PAUSE = 300; // milliseconds without a key before words are looked for
let rows = []; // of review_row.js
let total = 0;
let number = 0;
let sought = ""; // words that the listed places have
let stored = ""; // what was stored last, until the person goes on
let looked = { now: 0, then: 0, sentences: 0 }; // sentences that were looked through, now and when the list was read

const problem = () => $("review").querySelector(".trouble");
const key = ({ sentence, start, end }) => `${sentence} ${start} ${end}`;
const type = () => $("review-type").value;

/** Read the list. What the person said of rows that are listed again stays, if it is the same review. */
async function load({ keep = false } = {}) {
  const mine = ++number;
  const said = new Map(keep ? rows.map((one) => [key(one.mention), one]) : []);
  const before = looked;
  const words = $("review-words").value.trim();
  try {
    const answer = await ask(keep ? Math.min(MOST, Math.max(AT_ONCE, rows.length)) : AT_ONCE, 0);
    if (mine !== number) return;
    [total, sought] = [answer.total, words];
    const now = looked === before ? answer.looked : looked.now; // else more was told while the answer was on its way
    looked = { now, then: answer.looked, sentences: answer.sentences };
    rows = answer.mentions.map((mention) => made(mention, said.get(key(mention))));
    draw();
  } catch (error) {
    trouble(error, problem());
  }
}

const ask = (n, after) => get("/api/mentions", {
  type: type(), q: $("review-words").value.trim(), least: $("review-least").value, most: $("review-most").value, by: $("review-by").value, n, after,
});

/** List those that are not shown yet, too. What the person said of the others stays. */
async function loadRest() {
  const mine = number;
  try {
    const known = new Set(rows.map(({ mention }) => key(mention)));
    for (let after = rows.length; after < total; after += MOST) {
      const answer = await ask(MOST, after);
      if (mine !== number) return;
      total = answer.total;
      rows.push(...answer.mentions.filter((one) => !known.has(key(one))).map((one) => made(one)));
    }
    total = rows.length;
    draw();
  } catch (error) {
    trouble(error, problem());
  }
}

function made(mention, before) {
  const changed = () => {
    stored = "";
    describe();
  };
  const one = row(mention, type(), { changed, show: () => {
    $("review").close();
    act(() => open(mention.sentence, mention.start));
  } });
  if (before) Object.assign(one, { is: before.is, as: before.as, isSeen: before.isSeen });
  return one;
}

function draw() {
  sight.disconnect();
  $("review-list").replaceChildren(...rows.map((one) => one.item));
  for (const one of rows) {
    drawRow(one);
    if (!one.isSeen) sight.observe(one.item);
  }
  $("review-more").hidden = rows.length >= total;
  $("review-more").textContent = `Show all ${total.toLocaleString("en")}`;
  $("review-guideline").textContent = typeOf(type())?.description || "This type has no description yet.";
  describe();
}

const sight = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    rows.find((one) => one.item === target).isSeen = true;
    sight.unobserve(target);
  }
  describe();
}, { threshold: 0.9 });

/** Say the same of all rows. */
function all(is) {
  stored = "";
  for (const one of rows) Object.assign(one, { is, as: type() });
  rows.forEach(drawRow);
  describe();
}

/** What storing would do: with all rows that are listed, or with those that were in sight. */
function decided(some = rows.filter((one) => one.isSeen)) {
  const accept = some.filter(({ is, as, mention }) => is === "right" && !(mention.confirmed && as === type()));
  const reject = some.filter(({ is }) => is === "wrong");
  const brief = ({ as, mention: { sentence, start, end, version } }) => ({ sentence, start, end, version, ...(as === type() ? {} : { type: as }) });
  return { accept: accept.map(brief), reject: reject.map(brief) };
}

const inWords = ({ accept, reject }) => `confirm ${accept.length.toLocaleString("en")}, reject ${reject.length.toLocaleString("en")}`;
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function describe() {
  const listed = rows.length < total ? `, the first ${rows.length} listed` : "";
  const seen = rows.filter((one) => one.isSeen).length;
  $("review-note").textContent = stored + (total
    ? `${count(total, sought ? "place" : "thing")} ${sought ? `with “${sought}”` : `it takes for ${type()}`}${listed}; ${seen.toLocaleString("en")} ${seen === 1 ? "has" : "have"} been in sight.`
    : sought ? `No place has “${sought}”.` : `Nothing is taken for ${type()} here.`);
  describeSearch();
  const [now, everything] = [decided(), decided(rows)];
  const unseen = everything.accept.length + everything.reject.length - now.accept.length - now.reject.length;
  $("review-store").textContent = capital(inWords(now));
  $("review-store").disabled = !now.accept.length && !now.reject.length;
  $("review-unseen").hidden = !unseen;
  $("review-unseen").textContent = `${capital(inWords(everything))}, unseen ones too…`;
}

/** How much of the text was looked through, which goes on while the list is open. */
function describeSearch() {
  const { now, then, sentences } = looked;
  const of = now < sentences ? `It has looked through ${now.toLocaleString("en")} of ${count(sentences, "sentence")} so far.` : `It has looked through all ${count(sentences, "sentence")}.`;
  $("review-looked").textContent = of;
  $("review-again").hidden = now <= then;
}

/** Store what was said of the rows that were in sight; of all that are listed, if that is wanted. */
async function store(wanted) {
  trouble(null, problem());
  try {
    const answer = await post("/api/mentions/review", { type: type(), ...wanted });
    stored = `Confirmed ${answer.accepted}, rejected ${answer.rejected}. Stored. `;
    if (answer.stale.length) {
      const what = `${count(answer.stale.length, "mention")} not stored: changed in another window in the meantime`;
      trouble({ what, advice: "the list shows how they stand now" }, problem());
    }
    say(stored.trim());
    await load();
    refresh();
  } catch (error) {
    trouble(error, problem());
  }
}

async function storeUnseen() {
  const wanted = decided(rows);
  const seen = rows.filter((one) => one.isSeen).length;
  if (await confirmed(`${seen.toLocaleString("en")} of ${count(rows.length, "row")} have been in sight. ${capital(inWords(wanted))} all the same? It can be undone.`)) await store(wanted);
}

export function openReview(name) {
  if (!app.state.types.length) return say("There are no types yet.");
  const select = $("review-type");
  const was = typeof name === "string" ? name : select.value;
  select.replaceChildren(...app.state.types.map((one) => make("option", { value: one.name, text: one.name })));
  if (app.state.types.some((one) => one.name === was)) select.value = was;
  trouble(null, problem());
  stored = "";
  $("review").showModal();
  return load();
}

export function setUpReview() {
  for (const name of ["type", "by", "least", "most"]) $(`review-${name}`).addEventListener("change", () => load());
  let typed = 0;
  $("review-words").addEventListener("input", () => {
    clearTimeout(typed);
    typed = setTimeout(load, PAUSE);
  });
  $("review-more").addEventListener("click", loadRest);
  $("review-again").addEventListener("click", () => load({ keep: true }));
  $("review-all").addEventListener("click", () => all("right"));
  $("review-none").addEventListener("click", () => all("wrong"));
  $("review-open").addEventListener("click", () => all("open"));
  $("review-store").addEventListener("click", () => store(decided()));
  $("review-unseen").addEventListener("click", storeUnseen);
  $("review-list").addEventListener("keydown", (event) => {
    const at = rows.findIndex(({ item }) => item.contains(document.activeElement));
    if (at < 0 || event.target.matches("select")) return;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    const is = { a: "right", x: "wrong", o: "open" }[event.key.toLowerCase()];
    const as = app.state.types.find((one) => one.key === event.key)?.name;
    if (to !== undefined) rows[Math.max(0, Math.min(rows.length - 1, to))].item.querySelector("input:checked").focus();
    else if (is) rows[at].set(is);
    else if (as) rows[at].set("right", as);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  on("looked", ({ looked: now, sentences }) => {
    looked = { ...looked, now, sentences };
    if ($("review").open) describeSearch();
  });
}
