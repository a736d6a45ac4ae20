// The server: requests, their errors, and what it tells by itself.

/** An answer that is no success; `what` and `advice` are for the person. */
export class Failure extends Error {
  constructor(status, record) {
    const { what, advice } = record?.error ?? { what: `the server answered ${status}`, advice: null };
    super(what);
    Object.assign(this, { status, what, advice, record });
  }
}

let person = null; // whose page it is, of several people; the server checks it

export const speakFor = (name) => (person = name);

async function call(path, options = {}) {
  let answer;
  const headers = { ...options.headers, ...(person ? { "X-Handful-Person": encodeURIComponent(person) } : {}) };
  try {
    answer = await fetch(path, { ...options, headers });
  } catch {
    const advice = "is handful label still running? Everything that was shown as stored is safe";
    throw new Failure(0, { error: { what: "the server does not answer", advice } });
  }
  if (answer.ok) return answer;
  throw new Failure(answer.status, await answer.json().catch(() => null));
}

export async function get(path, query = {}) {
  const search = new URLSearchParams(query).toString();
  return (await call(search ? `${path}?${search}` : path)).json();
}

export async function post(path, record = {}) {
  const headers = { "Content-Type": "application/json" };
  return (await call(path, { method: "POST", headers, body: JSON.stringify(record) })).json();
}

export async function send(path, query, file) {
  const headers = { "Content-Type": "application/octet-stream" };
  return (await call(`${path}?${new URLSearchParams(query)}`, { method: "POST", headers, body: file })).json();
}

/** Save a file under the name that the server gives it, and return a link for doing it again. */
export async function download(path, query = {}) {
  const answer = await call(`${path}?${new URLSearchParams(query)}`);
  const name = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition"))?.[1] ?? "download";
  const url = URL.createObjectURL(await answer.blob());
  const link = Object.assign(document.createElement("a"), { href: url, download: name, textContent: name });
  link.click(); // a browser may refuse this after a long wait; then there is the link
  return link;
}

const pages = new BroadcastChannel("handful"); // of this browser, which keeps one token for all of them

/** Tell other pages that the browser has a token that the server takes. */
export const tellPages = () => pages.postMessage("known");

/**
 * Listen to what happens on the server; the browser connects again by itself, from the last event on. `connected` is
 * called with whether there is a connection, and with the failure if the server refuses one.
 */
export function listen(since, happened, connected) {
  const source = new EventSource(`/api/events?${new URLSearchParams({ since, ...(person ? { person } : {}) })}`);
  source.onopen = () => connected(true);
  source.onerror = () => {
    connected(false);
    if (source.readyState !== EventSource.CLOSED) return;
    const again = () => setTimeout(() => listen(since, happened, connected), 3000);
    get("/api/state").then(again, (error) => {
      if (error.status !== 403) return again();
      connected(false, error); // it would ask in vain, until the new address is opened in another window
      pages.onmessage = () => {
        pages.onmessage = null;
        listen(since, happened, connected);
      };
    });
  };
  source.onmessage = (message) => {
    since = message.lastEventId || since;
    happened(JSON.parse(message.data));
  };
}
