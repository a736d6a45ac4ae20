// What the page knows, and telling its parts that it has changed.

import { get, speakFor } from "./api.js";
import { trouble } from "./dom.js";

export const app = {
  state: null, // of the project, as the server gives it
  sentence: null, // the one on the page
  query: "", // the words that are searched for
  armed: null, // the type that was chosen before any words: those that are chosen next are of it
};

const listeners = {};

/** Call a function when something happened: state, sentence, selection, or a kind of event of the server. */
export function on(kind, listener) {
  (listeners[kind] ??= []).push(listener);
}

export function tell(kind, detail) {
  for (const listener of listeners[kind] ?? []) listener(detail);
}

let asked = null;

/** Read the state again; calls while one is under way share the one after it. */
export function refresh() {
  asked ??= new Promise((resolve) => setTimeout(resolve, 80)).then(async () => {
    asked = null;
    try {
      app.state = await get("/api/state");
      speakFor(app.state.project.person);
      tell("state");
    } catch (error) {
      if (error.status !== 0 || !app.state) trouble(error); // that the server is gone is said by whoever listens to it
    }
  });
  return asked;
}

export const typeOf = (name) => app.state?.types.find((one) => one.name === name);
export const hueOf = (name) => typeOf(name)?.colour ?? 0;

let chain = Promise.resolve();

/** Do what a person asked for, in turn; what went wrong before is no longer shown. */
export function act(doing) {
  return inTurn(() => {
    trouble(null);
    return doing();
  });
}

/**
 * Do one thing after the other. What was meant for a sentence that is no longer on the page is not done: so a key that
 * is pressed twice does not decide on a sentence that nobody has seen.
 */
export function inTurn(doing) {
  const id = app.sentence?.id;
  chain = chain.then(async () => {
    if (app.sentence?.id !== id) return;
    try {
      await doing();
    } catch (error) {
      trouble(error);
    }
  });
  return chain;
}
