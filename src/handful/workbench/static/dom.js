// Elements, and what is said to the person.

export const $ = (id) => document.getElementById(id);

/** Make an element: names of attributes, `class`, `text`, `on…` functions and `--variables`, then its children. */
export function make(tag, attributes = {}, ...children) {
  const svg = ["svg", "path", "circle", "line", "text", "title", "polygon"].includes(tag);
  const one = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") one.textContent = value;
    else if (name.startsWith("on")) one.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) one.style.setProperty(name, value);
    else if (name === "value" && !svg) one.value = value;
    else one.setAttribute(name, value === true ? "" : value);
  }
  one.append(...children.filter((child) => child !== null));
  return one;
}

const KEPT = 4000; // milliseconds in which something said by the way does not take the place of an answer
let clearing = 0;
let answer = { text: "", at: -KEPT };

/** Say what happened: to the eye below the sentence, to the ear by the live region; `isAside`, nobody has asked for it. */
export function say(text, { isAside = false } = {}) {
  const live = $("live");
  if (!isAside) answer = { text, at: performance.now() };
  else if (performance.now() - answer.at < KEPT) text = `${answer.text} ${text}`;
  live.textContent = live.textContent === text ? `${text}\u00a0` : text;
  clearTimeout(clearing);
  clearing = setTimeout(() => (live.textContent = ""), 12000);
}

let end = null;

/** Say why the server has ended; requests that it does not answer then say the same. Null when it answers again. */
export function ended(why) {
  end = why;
  trouble(why);
}

/** Show an error, until it is closed or the next thing succeeds. */
export function trouble(error, place = $("trouble")) {
  if (error?.status === 0) error = end ?? error;
  if (!error) {
    place.replaceChildren();
    if (place.id) place.hidden = true;
    return;
  }
  const what = error.what ?? `a fault of the page: ${error.message ?? error}`;
  place.replaceChildren(
    make("strong", { text: what.replace(/^[a-z]+(?= )/, (word) => word.charAt(0).toUpperCase() + word.slice(1)) + "." }), // no name of a file
    error.advice ? ` ${error.advice.charAt(0).toUpperCase()}${error.advice.slice(1)}.` : "",
  );
  if (place.id) {
    place.append(make("button", { type: "button", text: "Close", onclick: () => trouble(null, place) }));
    place.hidden = false;
  }
  place.scrollIntoView({ block: "nearest" }); // in a long dialog it may be below what is in sight
  if (error.what === undefined) console.error(error);
}

/** Ask whether to go on. */
export function confirmed(text) {
  const dialog = $("confirm");
  $("confirm-text").textContent = text;
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.querySelector(".yes").onclick = () => dialog.close("yes");
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

export const count = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
