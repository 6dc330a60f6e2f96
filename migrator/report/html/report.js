"use strict";
const search = document.getElementById("search");
const boxes = [...document.querySelectorAll("#levels input")];
const items = [...document.querySelectorAll(".item")].map((element) => [element, element.textContent.toLowerCase()]);

function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const hidden = new Set(boxes.filter((box) => !box.checked).map((box) => box.value));
  for (const [element, text] of items) {
    element.hidden = hidden.has(element.dataset.level) || !words.every((word) => text.includes(word));
  }
}

function open() {
  const rule = location.hash && document.getElementById(location.hash.slice(1));
  if (rule) rule.open = true;
}

search.addEventListener("input", filter);
boxes.forEach((box) => box.addEventListener("change", filter));
addEventListener("hashchange", open);
addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== search) {
    event.preventDefault();
    search.focus();
  } else if (event.key === "Escape") {
    search.value = "";
    filter();
    search.blur();
  }
});
open();
