// Where the words that were searched for are in a sentence.

import { app } from "./app.js";

/** The places with what was searched for, as ranges of words; a part of a word counts as the word. */
export function hitsOf(sentence, wanted = app.query.toLowerCase()) {
  if (!wanted) return [];
  const starts = [];
  let text = "";
  sentence.words.forEach((word, i) => {
    starts.push(text.length);
    text += word.toLowerCase() + (sentence.spaces[i] ? " " : "");
  });
  const hits = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
    const start = starts.findLastIndex((one) => one <= at);
    hits.push({ start, end: starts.findLastIndex((one) => one < at + wanted.length) + 1 });
  }
  return hits;
}
