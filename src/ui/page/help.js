// The help about keys.

import { el, openDialog, options, table } from "./dom.js";
import { KEYS } from "./keys.js";

/** The color schemes of the page. */
export const SCHEMES = ["system", "light", "dark"];
const SHOWN = { " ": "Space", "Shift+ ": "Shift Space", ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→" };

/** Shows the keys, with a switch for single-letter keys, and one for the color scheme. */
export function showHelp(page) {
  const switched = ({ target }) => {
    page.letters = target.checked;
    localStorage.setItem("letters", page.letters ? "on" : "off");
  };
  const letters = el("input#letters", { type: "checkbox", checked: page.letters, onchange: switched });
  const { colors: scheme } = document.documentElement.dataset;
  const colors = el("select#colors", { onchange: () => setColors(colors.value) }, ...options(SCHEMES, scheme));
  const rows = KEYS.map(([key, , what]) => [el("kbd", SHOWN[key] ?? key.replace("+", " ")), what]);
  const close = el("button", { onclick: () => dialog.close() }, "Close");
  const dialog = openDialog("dialog", "Keys", el("h2", "Keys"), table(["key", "what it does"], rows, "Keys"), el("p", el("label", letters, " single letters are keys")), el("p", el("label", "colors ", colors)), el("p.buttons", close));
}

/** Applies and remembers a color scheme. @param {string} name */
export function setColors(name) {
  localStorage.setItem("colors", name);
  document.documentElement.dataset.colors = name;
}

setColors(localStorage.getItem("colors") ?? SCHEMES[0]);
