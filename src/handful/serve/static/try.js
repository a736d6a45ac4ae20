/* A page to try the server: text in, mentions out. Positions of the answer count code points, as Array.from does. */

const by = (id) => document.getElementById(id);
const HUES = [205, 28, 140, 285, 350, 55, 175, 245, 100, 320];
const hue = (i) => (i < HUES.length ? HUES[i] : Math.floor(i * 137.508) % 360);
let models = [];

const model = () => models.find((one) => one.name === by("model").value);

function trouble(text) {
  by("trouble").hidden = !text;
  by("trouble").textContent = text;
}

async function ask(path, options) {
  const answer = await fetch(path, options);
  const record = await answer.json();
  if (!answer.ok) {
    throw new Error([record.error.what, record.error.advice].filter(Boolean).join("; "));
  }
  return record;
}

function coloured(element, name) {
  element.style.setProperty("--h", hue(model().types.findIndex((one) => one.name === name)));
  return element;
}

function showTypes() {
  by("types").replaceChildren(
    ...model().types.flatMap((one) => {
      const [name, bold, meaning] = ["dt", "b", "dd"].map((tag) => document.createElement(tag));
      bold.textContent = one.name;
      meaning.textContent = one.description;
      name.append(coloured(bold, one.name));
      return [name, meaning];
    }),
  );
}

function show(text, entities) {
  const characters = Array.from(text);
  const pieces = [];
  let position = 0;
  for (const one of entities) {
    pieces.push(characters.slice(position, one.start).join(""));
    const mark = coloured(document.createElement("mark"), one.entity_group);
    const type = document.createElement("small");
    type.textContent = `${one.entity_group} ${one.score.toFixed(2)}`;
    mark.append(one.word, type);
    pieces.push(mark);
    position = one.end;
  }
  pieces.push(characters.slice(position).join(""));
  by("found").replaceChildren(...pieces);
}

async function predict() {
  const text = by("text").value;
  const body = JSON.stringify({ text, min_score: Number(by("least").value), find: by("find").value || undefined });
  const path = `/models/${encodeURIComponent(model().name)}/predict`;
  by("request").textContent = `POST ${path}\n${body}`;
  try {
    const headers = { "content-type": "application/json" };
    const record = await ask(path, { method: "POST", headers, body });
    trouble("");
    by("answer").textContent = JSON.stringify(record, null, 2);
    show(text, record.entities);
  } catch (error) {
    trouble(error.message);
  }
}

by("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  predict();
});
by("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    predict();
  }
});
by("least").addEventListener("input", () => {
  by("least-shown").textContent = Number(by("least").value).toFixed(2);
});
by("model").addEventListener("change", showTypes);

try {
  const info = await ask("/info");
  models = info.models;
  by("version").textContent = `version ${info.version}; Ctrl + Enter finds mentions`;
  by("model").replaceChildren(...models.map((one) => new Option(one.name, one.name)));
  by("model-row").hidden = models.length < 2;
  showTypes();
} catch (error) {
  trouble(error.message);
}
