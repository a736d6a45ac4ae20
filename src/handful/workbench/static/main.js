// The start of the page: its parts are put together, and it listens to the server.

import { get, listen, tellPages } from "./api.js";
import { act, app, inTurn, on, refresh, tell } from "./app.js";
import { clickType, decide, mark, moveBorders, reread, reverse } from "./decisions.js";
import { deleteFound, deleteText } from "./deleting.js";
import { $, count, ended, say, trouble } from "./dom.js";
import { openFiles, setUpFiles } from "./files.js";
import { openHelp, setUpKeys } from "./keys.js";
import { setUpPanel } from "./panel.js";
import { changedBy, setUpPeople } from "./people.js";
import { setUpPopover } from "./popover.js";
import { goToFirst, next, open, previous, setUpQueue } from "./queue.js";
import { setUpRecent } from "./recent.js";
import { openReview, setUpReview } from "./review.js";
import { describeChange, isDecided, show, watchMouse } from "./sentence.js";
import { watchSight } from "./sight.js";
import { openTypes, setUpTypes } from "./types.js";

const clicked = {
  undo: () => reverse("undo"),
  redo: () => reverse("redo"),
  "open-review": () => openReview(),
  "open-types": openTypes,
  "open-files": openFiles,
  "import-first": openFiles,
  "open-help": openHelp,
  theme: switchTheme,
  accept: () => decide("label"),
  nothing: () => decide("nothing"),
  unsure: () => decide("unsure"),
  skip: () => decide("skip"),
  reset: () => decide("reset", { stay: true }),
  "delete-text": deleteText,
  "delete-texts": deleteFound,
  previous: () => act(previous),
  next: () => act(() => next()),
};

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
}

function switchTheme() {
  const now = document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const theme = now === "dark" ? "light" : "dark";
  setTheme(theme);
  localStorage.setItem("handful-theme", theme);
}

function drawHeader() {
  const { project, counts, fit } = app.state;
  document.title = `${project.name} · handful`;
  $("project").textContent = project.name;
  $("progress-bar").value = counts.sentences ? counts.labelled / counts.sentences : 0;
  $("progress-bar").style.setProperty("--partly", counts.sentences ? (counts.labelled + counts.partial) / counts.sentences : 0);
  const partly = counts.partial ? `, ${counts.partial.toLocaleString("en")} partly` : "";
  $("progress").textContent = `${counts.labelled.toLocaleString("en")} of ${count(counts.sentences, "sentence")} decided${partly}`;
  const isSame = project.sentences > counts.sentences;
  $("progress").title = isSame ? `${count(project.sentences, "sentence")} in all; those with the same words are asked once` : "";
  const doing = {
    encoding: `reading the text, ${Math.round(100 * fit.progress)}%`,
    fitting: "fitting",
    looking: "looking through all text",
    idle: fit.number ? "up to date" : "ready",
  };
  $("fit").textContent = fit.error ? "no fit" : (doing[fit.status] ?? fit.status);
  const took = fit.number ? `Fit ${fit.number} took ${fit.seconds.toFixed(2)} s` : "";
  $("fit").title = fit.error ? [fit.error.what, fit.error.advice].filter(Boolean).join("; ") : took;
  $("fit").dataset.status = fit.error ? "error" : fit.status;
  $("undo").disabled = !project.can_undo;
  $("redo").disabled = !project.can_redo;
  if (fit.status === "stopped" && fit.error) trouble(fit.error);
  drawEmpty();
}

/** Without a sentence on the page, say what can be done. */
function drawEmpty() {
  for (const id of ["card", "hint"]) $(id).hidden = !app.sentence;
  $("empty").hidden = Boolean(app.sentence);
  $("empty-text").textContent = app.state.counts.sentences
    ? "No sentence waits for a decision. Look at all of them in order, or bring in more text."
    : "There is no text in the project yet.";
}

/** What the server tells: a new fit, labels of other windows, other types. */
async function happened(event) {
  const id = app.sentence?.id;
  try {
    if (event.kind === "fit") {
      hear(event.sentences, { fit: event.fit });
      if (id && event.sentences.includes(id)) await inTurn(pointOut);
      refresh();
    } else if (event.kind === "labels") {
      hear(event.sentences, { version: event.version });
      if (id && event.sentences.includes(id)) {
        await inTurn(() => app.sentence.version < event.version && pointOut()); // else it was ours
      }
      refresh();
    } else if (event.kind === "encode") {
      $("fit").textContent = `reading the text, ${Math.round(100 * event.progress)}%`;
      if (event.progress === 1) refresh();
    } else if (event.kind === "looked") {
      tell("looked", event);
      if (event.looked >= event.sentences) refresh();
    } else if (event.kind === "texts") {
      await refresh();
      tell("texts");
      await inTurn(stayOrGoOn);
    } else if (event.kind === "types") {
      await refresh();
      tell("types");
    } else if (event.kind === "queue") {
      refresh();
      tell("queue", event.fit);
    } else if (event.kind === "stop") {
      isStopped = true;
      ended({ what: "handful label has been stopped", advice: "everything that was shown as stored is safe; start it again to go on" });
    } else {
      await refresh();
      if (event.kind === "reset") {
        tell("types");
        tell("queue");
        if (id) await inTurn(pointOut);
      }
    }
  } catch (error) {
    if (error.status !== 0) trouble(error);
  }
}

/** Where the sentence on the page is no longer there, go on to another one. */
async function stayOrGoOn() {
  try {
    if (app.sentence) return show(await get(`/api/sentences/${app.sentence.id}`));
  } catch (error) {
    if (error.status !== 422) throw error;
    app.sentence = null;
    tell("sentence", true);
  }
  return next();
}

const heard = new Map(); // by sentence, the last fit and version that the server told of

function hear(ids, news) {
  for (const id of ids) heard.set(id, { ...heard.get(id), ...news });
}

/** A sentence that comes on the page may be older than what was told while it was on its way. */
function catchUp() {
  if (!app.sentence) return;
  const { fit = 0, version = 0 } = heard.get(app.sentence.id) ?? {};
  if (fit > app.sentence.fit || version > app.sentence.version) inTurn(pointOut);
}

async function pointOut() {
  const news = await reread({ pointOut: true });
  const { sentence } = app;
  if (news?.isNewer) return say(`${changedBy(sentence)}. You see how it stands now.`);
  if (!news?.isOther || isDecided(sentence) || !sentence.changed.length) return;
  say(`Predictions have changed. ${sentence.changed.map((one) => describeChange(sentence, one)).join("; ")}.`, { isAside: true });
}

let isConnected = true;
let isStopped = false;

function connected(is, refusal = null) {
  document.body.dataset.connected = is;
  if (is && !isConnected) {
    isStopped = false;
    ended(null);
    say("Connected again.");
    happened({ kind: "reset" }); // it may be another process, whose events have other numbers
  }
  if (refusal && app.state.project.person) {
    trouble(refusal);
  } else if (refusal) {
    trouble({ what: "handful label was started again, and no longer knows this page", advice: "open the address that it printed, in any window; then this page comes back by itself" });
  } else if (!is && isConnected && !isStopped) {
    trouble({ what: "the connection to handful label is lost", advice: "it is tried again by itself; everything that was shown as stored is safe" });
  }
  if (!is) Object.assign($("fit"), { textContent: "no connection" }).dataset.status = "stopped";
  isConnected = is;
}

async function begin() {
  const wanted = Number.parseInt(location.hash.slice(1), 10);
  setTheme(localStorage.getItem("handful-theme"));
  for (const [id, done] of Object.entries(clicked)) {
    $(id).addEventListener("click", () => {
      done();
      if ($(id).closest("#card")) $("sentence").focus({ preventScroll: true });
    });
  }
  for (const button of document.querySelectorAll("dialog .close")) button.addEventListener("click", () => button.closest("dialog").close());
  for (const dialog of document.querySelectorAll("dialog")) dialog.addEventListener("close", () => $("sentence").focus({ preventScroll: true }));
  on("state", drawHeader);
  on("sentence", drawEmpty);
  on("sentence", (isOther) => isOther && catchUp());
  on("sentence", (isOther) => isOther && !document.activeElement?.matches("input") && $("sentence").focus({ preventScroll: true }));
  const marked = (name, isMouse) => {
    if (isMouse) clickType(name);
    else mark(name);
    $("sentence").focus({ preventScroll: true });
  };
  setUpTypes(marked);
  setUpReview();
  setUpPanel();
  setUpKeys();
  setUpFiles();
  setUpPopover();
  setUpPeople();
  setUpRecent();
  watchMouse(moveBorders, () => app.armed !== null && mark(app.armed));
  watchSight();
  try {
    await refresh();
    if (!app.state) return;
    listen(app.state.event, happened, connected);
    tellPages();
    if (wanted) await open(wanted);
  } catch (error) {
    if (error.status !== 422) trouble(error);
  }
  try {
    const found = await setUpQueue();
    if (!app.sentence) await goToFirst(found);
    if (!app.state.types.length) openTypes();
  } catch (error) {
    if (error.status !== 0 || !isStopped) trouble(error);
  }
}

begin();
