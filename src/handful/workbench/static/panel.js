// The side panel: labels by type, the curve of quality, the share of O.

import { post } from "./api.js";
import { act, app, on, typeOf } from "./app.js";
import { $, count, make } from "./dom.js";
import { openReview } from "./review.js";

const VAGUE = 0.1; // the width of an interval from which on there is no single figure
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
  // The middle of a wide interval, or a figure from sentences that were chosen, would be taken for what is known.
  const range = `${quality.low.toFixed(2)} to ${quality.high.toFixed(2)}`;
  const isVague = quality.high - quality.low > VAGUE || !quality.n_drawn;
  const [head, then] = isVague ? [range, "likely F1"] : [quality.f1.toFixed(2), `F1, ${range} with 95%`];
  const isKnown = typeOf(quality.weakest)?.n_labels > 0;
  const why = isKnown ? "most mistakes are there" : "it has no label yet, so nothing is known of it";
  const next = quality.n_more ? `Label ${quality.n_more} ${isKnown ? "more " : ""}of ${quality.weakest}: ${why}.` : "";
  const figure = make("p", { class: "figure" }, make("strong", { text: head }), make("span", { class: "soft", text: then }));
  const [least, most] = [quality.low, quality.high].map((one) => Math.round(10 * one));
  const words = `Of ten mentions, ${least === most ? `about ${most}` : `${least} to ${most}`} are found and right.`;
  const from = quality.n_drawn
    ? `Known from ${count(quality.n_drawn, "sentence")} drawn at random; one in five of the queue is.`
    : "From all that was decided: difficult sentences if the queue asked for them, easy ones if you chose them. From five drawn at random on, it holds for the text.";
  const again = quality.weakest && make("button", { type: "button", class: "link", text: `Review ${quality.weakest}`, onclick: () => openReview(quality.weakest) });
  const lines = [words, from, ...(isVague ? ["More decisions make it narrower."] : [])].map((text) => make("p", { class: "soft", text }));
  $("quality").replaceChildren(figure, ...(next ? [make("p", { class: "next" }, `${next} `, again)] : []), svg, ...lines);
}

export function setUpPanel() {
  $("find").addEventListener("change", () => act(() => post("/api/find", { find: $("find").value })));
  on("state", () => {
    $("find").value = app.state.find;
    drawLabels();
    drawQuality();
  });
  on("types", drawLabels);
}
