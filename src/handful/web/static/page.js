// Hide the mentions of types that are not ticked, and those with low scores; count what is left of each type.
const marks = [...document.querySelectorAll("mark:not(.missed)")];
const boxes = [...document.querySelectorAll("nav input[data-type]")];
const least = document.querySelector("#least");

function show() {
  const off = new Set(boxes.filter(box => !box.checked).map(box => box.dataset.type));
  const shown = {};
  least.nextElementSibling.textContent = (+least.value).toFixed(2);
  for (const mark of marks) {
    const type = mark.classList[0];
    const isLow = +mark.dataset.score < +least.value; // false without a score
    mark.classList.toggle("low", isLow || off.has(type));
    shown[type] = (shown[type] || 0) + !isLow;
  }
  for (const box of boxes) box.parentElement.querySelector("i").textContent = shown[box.dataset.type] || 0;
}

document.querySelector("nav").addEventListener("input", show);
show();
