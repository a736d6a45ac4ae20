// Texts are deleted: the one on the page, or all in which something was found.

import { post } from "./api.js";
import { act, app } from "./app.js";
import { confirmed, count, say } from "./dom.js";
import { searched } from "./queue.js";

async function remove(which, what) {
  const would = await post("/api/texts/remove", { ...which, preview: true });
  const decided = would.decided ? `, ${would.decided.toLocaleString("en")} of them decided or put aside,` : "";
  const gone = would.sentences ? `${count(would.sentences, "sentence")}${decided} ${would.sentences === 1 ? "goes" : "go"} with it` : "Its sentences are in other texts, too";
  if (!(await confirmed(`Delete ${what(count(would.texts, "text"))}? ${gone}. It can be undone.`))) return;
  const { texts } = await post("/api/texts/remove", which);
  say(`${count(texts, "text")} deleted.`);
}

export const deleteText = () => act(() => remove({ sentence: app.sentence.id }, () => "the text of this sentence"));

export const deleteFound = () => act(() => remove(searched(), (texts) => `${texts} in which “${searched().q}” was found`));
