// The help on keys.

import { el, table } from "./dom.js";
import { KEYS } from "./keys.js";

const SHOWN = { " ": "Space", "Shift+ ": "Shift Space", ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→" };

/** Shows the keys, with a switch for single letters, and one for the colors. */
export function showHelp(page) {
  const letters = el("input", { type: "checkbox", id: "letters", checked: page.letters });
  letters.addEventListener("change", () => {
    page.letters = letters.checked;
    localStorage.setItem("letters", letters.checked ? "on" : "off");
  });
  const colors = el("select", { id: "colors" }, ...["system", "light", "dark"].map((name) => el("option", { value: name, text: name })));
  colors.value = localStorage.getItem("colors") ?? "system";
  colors.addEventListener("change", () => {
    localStorage.setItem("colors", colors.value);
    setColors();
  });
  const rows = KEYS.map(([key, , what]) => [el("kbd", { text: SHOWN[key] ?? key.replace("+", " ") }), what]);
  const dialog = /** @type {HTMLDialogElement} */ (el("dialog", { "aria-label": "Keys" }));
  const close = el("button", { text: "Close", onclick: () => dialog.close() });
  dialog.append(el("h2", { text: "Keys" }), table(["key", "what it does"], rows, "Keys"), el("p", {}, el("label", {}, letters, " single letters are keys")), el("p", {}, el("label", {}, "colors ", colors)), el("p", { class: "buttons" }, close));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** Applies the colors that the user has chosen. */
export function setColors() {
  document.documentElement.dataset.colors = localStorage.getItem("colors") ?? "system";
}

setColors();
