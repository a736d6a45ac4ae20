// Import and export.

import { download, send } from "./api.js";
import { app, refresh } from "./app.js";
import { $, count, make, trouble } from "./dom.js";

const MOST = 64 * 1024 * 1024; // what the server takes at once
const problem = () => $("files").querySelector(".trouble");

async function busy(note, doing) {
  trouble(null, problem());
  $("files-note").textContent = note;
  try {
    $("files-note").replaceChildren(...(await doing()));
  } catch (error) {
    $("files-note").textContent = "";
    trouble(error, problem());
  }
}

/** What is not in a file of decided sentences, though something was decided. */
function leftOut() {
  const { partial, look, unsure } = app.state.counts;
  const parts = [[partial, "partly decided"], [look, "not looked at for every type"], [unsure, "put aside as not sure"]].filter(([n]) => n);
  return parts.length ? `Not in it: sentences that are ${parts.map(([n, how]) => `${how} (${n.toLocaleString("en")})`).join(", ")}.` : "";
}

/** What a file with mentions alone does not say. */
function stillOpen() {
  const { all, labelled, look } = app.state.counts;
  const n = all - labelled + look;
  return n ? `${count(n, "sentence")} in it ${n === 1 ? "is" : "are"} not wholly decided; nothing in the file says so.` : "";
}

export function openFiles() {
  const { formats } = app.state.project;
  const options = () => formats.map((one) => make("option", { value: one, text: one }));
  if (!$("export-format").options.length) {
    $("export-format").replaceChildren(...options());
    $("import").elements.format.append(...options());
  }
  trouble(null, problem());
  $("files-note").textContent = "";
  $("files").showModal();
}

export function setUpFiles() {
  $("export").addEventListener("click", () =>
    busy("The labels are written…", async () => {
      const only = $("export-only").value;
      const link = await download("/api/export", { format: $("export-format").value, ...(only ? { only } : {}) });
      return [link, " is downloaded. ", { decided: leftOut, mentions: stillOpen }[only]?.() ?? ""];
    }),
  );
  $("tagger").addEventListener("click", () =>
    busy("The tagger is fitted on all labels and the text. This can take a while…", async () => {
      return [await download("/api/tagger"), " is downloaded."];
    }),
  );
  const form = $("import");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const file = form.elements.file.files[0];
    if (file.size > MOST) {
      return trouble({ what: `${file.name} is larger than 64 MiB`, advice: "give it to handful label on the command line" }, problem());
    }
    return busy(`Reading ${file.name}…`, async () => {
      const found = await send("/api/import", { format: form.elements.format.value, name: file.name }, file);
      form.reset();
      await refresh();
      const what = [count(found.texts, "text"), count(found.sentences, "sentence"), count(found.labelled, "labelled sentence")];
      return [`Imported ${what.join(", ")}. ${found.notes.join(" ")}`];
    });
  });
}
