// The side panel: labels by type, the curve of quality, the share of O, the map of words.

import { get } from "./api.js";
import { act, app, hueOf, on } from "./app.js";
import { $, count, make, say, trouble } from "./dom.js";
import { open } from "./queue.js";
import { openReview } from "./review.js";

const percent = (share) => `${(100 * share).toFixed(0)}%`;

function drawLabels() {
  const { types, o_share: share } = app.state;
  const most = Math.max(1, ...types.map((one) => one.n_labels));
  const rows = types.map((one) => {
    const name = make("button", { type: "button", class: "link", title: "Review all mentions", text: one.name, onclick: () => openReview(one.name) });
    const bar = make("span", { class: "bar", "aria-hidden": "true", "--hue": one.colour, "--share": one.n_labels / most });
    return make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, bar, ` ${one.n_labels}`));
  });
  $("labels").tBodies[0].replaceChildren(...rows);
  $("share").textContent = share === null ? "" : `${percent(share)} of the words are in no mention (O).`;
}

/** The curve: F1 over decisions, with its interval. */
function drawQuality() {
  const { quality } = app.state;
  if (!quality) {
    return $("quality").replaceChildren(make("p", { class: "soft", text: "Comes with five decided sentences." }));
  }
  const [width, height, left, bottom] = [280, 130, 30, 18];
  const { curve } = quality;
  const [first, last] = [curve[0][0], curve.at(-1)[0]];
  const x = (n) => left + ((width - left - 6) * (n - first)) / Math.max(1, last - first);
  const y = (f1) => 6 + (height - bottom - 6) * (1 - f1);
  const line = (k) => curve.map((one) => `${x(one[0]).toFixed(1)},${y(one[k]).toFixed(1)}`);
  const text = `Estimated F1 ${quality.f1.toFixed(2)}, between ${quality.low.toFixed(2)} and ${quality.high.toFixed(2)}, after ${count(last, "decision")}`;
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": text, class: "curve" });
  for (const at of [0, 0.5, 1]) {
    svg.append(make("line", { x1: left, x2: width - 6, y1: y(at), y2: y(at) }));
    svg.append(make("text", { x: left - 5, y: y(at) + 3, "text-anchor": "end", text: at }));
  }
  svg.append(make("polygon", { points: [...line(3), ...line(2).reverse()].join(" ") }));
  svg.append(make("path", { d: `M${line(1).join("L")}` }));
  svg.append(make("circle", { cx: x(last), cy: y(quality.f1), r: 3.5 }));
  if (first < last) svg.append(make("text", { x: left, y: height - 4, text: first }));
  svg.append(make("text", { x: width - 6, y: height - 4, "text-anchor": "end", text: count(last, "decision") }));
  const interval = `F1, ${quality.low.toFixed(2)} to ${quality.high.toFixed(2)} with 95%`;
  const figure = make("p", { class: "figure" }, make("strong", { text: quality.f1.toFixed(2) }), make("span", { class: "soft", text: interval }));
  $("quality").replaceChildren(figure, svg, make("p", { class: "soft", text: "Cross-validated on your labels." }));
}

let points = [];
let current = -1;
let waiting = 0;
let drawn = null; // the fit that the map shows
const SIZE = 280;
let place = () => [0, 0]; // of a point, in the picture

/** Let the points fill the picture. */
function scale() {
  const inside = (values) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return (value) => 8 + ((SIZE - 16) * (value - low)) / Math.max(high - low, 1e-9);
  };
  const [x, y] = [inside(points.map((one) => one.x)), inside(points.map((one) => -one.y))];
  place = (one) => [x(one.x), y(-one.y)];
}

async function loadMap() {
  if (!$("map-box").open || drawn === app.state.fit.number) return;
  try {
    const { number } = app.state.fit;
    points = (await get("/api/map", { n: 1200 })).points;
    drawn = points.length ? number : null;
    points.sort((a, b) => (a.type !== null) - (b.type !== null) || String(a.type).localeCompare(String(b.type)) || a.x - b.x);
    drawMap();
  } catch (error) {
    trouble(error);
  }
}

function drawMap() {
  current = -1;
  if (!points.length) {
    $("map-note").textContent = "Comes with the first fit.";
    return $("map").replaceChildren();
  }
  scale();
  const dots = points.map((one) => {
    const [cx, cy] = place(one);
    const kind = one.type === null ? "o" : one.labelled ? "dot labelled" : "dot";
    return make("circle", { cx: cx.toFixed(1), cy: cy.toFixed(1), r: one.type === null ? 1.5 : 3, class: kind, "--hue": one.type === null ? null : hueOf(one.type) });
  });
  const label = `Map of ${count(points.length, "word")}. Arrow keys go from word to word, Enter shows the sentence.`;
  const svg = make("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "map", tabindex: 0, role: "application", "aria-label": label }, ...dots);
  const nearest = (event) => {
    const box = svg.getBoundingClientRect();
    const [x, y] = [((event.clientX - box.left) * SIZE) / box.width, ((event.clientY - box.top) * SIZE) / box.height];
    const far = points.map((one) => Math.hypot(place(one)[0] - x, place(one)[1] - y) - (one.type === null ? 0 : 1));
    const at = far.indexOf(Math.min(...far));
    return far[at] < 12 ? at : -1;
  };
  svg.addEventListener("pointermove", (event) => point(nearest(event), dots));
  svg.addEventListener("click", (event) => look(nearest(event)));
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) point((Math.max(current, step < 0 ? 0 : -1) + step + points.length) % points.length, dots, true);
    else if (event.key === "Enter") look(current);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  $("map").replaceChildren(svg);
  $("map-note").textContent = "Filled: labelled. Rings: predicted. Click a word to see its sentence.";
}

function point(at, dots, aloud = false) {
  if (at === current) return;
  dots[current]?.classList.remove("here");
  current = at;
  if (at < 0) return;
  dots[at].classList.add("here");
  const { text, type, labelled } = points[at];
  const words = `${text} · ${type === null ? "O" : `${type}, ${labelled ? "labelled" : "predicted"}`}`;
  $("map-note").textContent = words;
  if (aloud) say(words);
}

function look(at) {
  if (at >= 0) act(() => open(points[at].sentence, points[at].word));
}

export function setUpPanel() {
  on("state", () => {
    drawLabels();
    drawQuality();
  });
  on("types", () => {
    drawLabels();
    if (points.length) drawMap();
  });
  on("queue", () => {
    clearTimeout(waiting);
    waiting = setTimeout(loadMap, 700);
  });
  $("map-box").addEventListener("toggle", loadMap);
}
