// Which predicted mentions have been in sight: no key accepts one that was not.

import { app, on } from "./app.js";
import { $, count } from "./dom.js";

let id = null;
const seen = new Set();

const key = ({ type, start, end }) => `${type} ${start} ${end}`;
const predicted = () => [...$("sentence").querySelectorAll(".m.predicted:has(> .tag)")];

/** Take down which mentions are in sight now, and say how many are not yet. */
function look() {
  if (id !== app.sentence?.id) seen.clear();
  id = app.sentence?.id;
  const box = $("text").getBoundingClientRect();
  const [top, bottom] = [Math.max(0, box.top), Math.min(innerHeight, box.bottom)];
  for (const one of predicted()) {
    const { top: first, bottom: last } = one.querySelector(":scope > .tag").getBoundingClientRect(); // it is at the end
    if (first >= top - 2 && last <= bottom + 2) seen.add(key(one.dataset));
  }
  const hidden = unseen().length;
  const { scrollHeight, scrollTop, clientHeight } = $("text");
  const isMore = scrollHeight - scrollTop - clientHeight > 4;
  $("text").classList.toggle("more", isMore);
  $("below").hidden = !isMore && !hidden;
  $("below").textContent = hidden ? `${count(hidden, "predicted mention")} not seen yet ↓` : "The text goes on ↓";
}

export function unseen() {
  return predicted().filter((one) => !seen.has(key(one.dataset)));
}

/** Bring the first mention that was not in sight to where it is; return how many there are, or 0. */
export function showUnseen() {
  look();
  const hidden = unseen();
  if (hidden.length) hidden[0].scrollIntoView({ block: "start", behavior: "instant" });
  return hidden.length;
}

export function watchSight() {
  for (const kind of ["sentence", "types", "state"]) on(kind, () => requestAnimationFrame(look));
  addEventListener("scroll", look, { capture: true, passive: true });
  addEventListener("resize", look);
  $("below").addEventListener("click", () => {
    if (!showUnseen()) $("text").scrollBy({ top: $("text").clientHeight * 0.8 });
    $("sentence").focus({ preventScroll: true });
  });
}
