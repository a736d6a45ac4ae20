// What was decided last on this page, below the sentence: a click goes back to it.

import { act, on } from "./app.js";
import { $, make } from "./dom.js";
import { open } from "./queue.js";
import { wordsOf } from "./sentence.js";

const SHOWN = 5;
let recent = [];

/** List a decision before the others; of a sentence, the last one counts. */
function remember({ sentence, said }) {
  recent = [{ sentence, said }, ...recent.filter((one) => one.sentence.id !== sentence.id)].slice(0, SHOWN);
  $("recent").hidden = false;
  $("recent-list").replaceChildren(...recent.map(item));
}

function item({ sentence, said }) {
  const text = make("span", { class: "line", dir: "auto", text: wordsOf(sentence, { start: 0, end: sentence.words.length }) });
  return make("li", {}, make("button", { type: "button", onclick: () => act(() => open(sentence.id)) },
    make("span", { class: "soft", dir: "auto", text: said }), " ", text));
}

export function setUpRecent() {
  on("decided", remember);
}
