// A row of a review: a mention in its text, and what the person says of it: right, wrong, open, or of another type.

import { app, hueOf } from "./app.js";
import { make } from "./dom.js";

let made = 0;
const CHOICES = [["right", "✓", "Right"], ["wrong", "✗", "Wrong"], ["open", "–", "Leave open"]];

/** Make a row. `is` is what was said of it, `as` the type that it is right as; `isSeen`, whether it was in sight. */
export function row(mention, type, { changed, show }) {
  const { score, text, left, right, confirmed, taken } = mention;
  const note = confirmed ? "confirmed" : score !== null ? score.toFixed(2) : taken ?? "not found";
  const one = { mention, is: score === null ? "open" : "right", as: type, isSeen: false };
  one.set = (is, as = one.as) => {
    Object.assign(one, { is, as });
    draw(one);
    changed();
  };
  const name = `row${made++}`;
  const choices = CHOICES.map(([is, sign, label]) => {
    const input = make("input", { type: "radio", name, value: is, "aria-label": label, onchange: () => one.set(is) });
    return make("label", { title: label }, input, make("span", { "aria-hidden": "true", text: sign }));
  });
  const words = make("span", { class: "line", dir: "auto", onclick: () => one.set(one.is === "right" ? "wrong" : "right") }, left, make("mark", { text }), right);
  const options = app.state.types.map((other) => make("option", { value: other.name, text: other.name }));
  const types = make("select", { "aria-label": `Type of ${text}`, onchange: () => one.set("right", types.value) }, ...options);
  const look = make("button", { type: "button", text: "Show", "aria-label": `Show ${text} in its sentence`, onclick: show });
  one.item = make("li", {}, make("span", { class: "choice", role: "radiogroup", "aria-label": `${text}: ${note}; ${left} ${text} ${right}` }, ...choices),
    words, make("span", { class: "soft score", text: note }), types, look);
  one.types = types;
  return one;
}

export function draw(one) {
  one.types.value = one.as;
  one.item.dataset.is = one.is;
  one.item.style.setProperty("--hue", hueOf(one.as));
  one.item.querySelector(`input[value=${one.is}]`).checked = true;
}
