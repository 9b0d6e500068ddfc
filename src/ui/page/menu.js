// A context menu, for the pointer and the keyboard.

import { el, openDialog } from "./dom.js";

/**
 * Opens a menu. @param {{x: number, y: number}} at @param {[string, () => void][]} entries
 * @param {HTMLElement} home gets the focus when the menu is closed
 */
export function openMenu(at, entries, home) {
  const chosen = (act) => () => {
    dialog.close();
    act();
  };
  const items = entries.map(([text, act]) => el("button", { role: "menuitem", onclick: chosen(act) }, text));
  const dialog = openDialog("dialog.menu", "Menu", el("div", { role: "menu" }, ...items));
  dialog.addEventListener("keydown", (event) => {
    const now = items.indexOf(document.activeElement);
    const to = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: -1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    items.at(to % items.length).focus();
  });
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  dialog.addEventListener("close", () => home.focus());
  const { width, height } = dialog.getBoundingClientRect();
  dialog.style.left = `${Math.max(0, Math.min(at.x, innerWidth - width - 4))}px`;
  dialog.style.top = `${Math.max(0, Math.min(at.y, innerHeight - height - 4))}px`;
  items[0].focus();
}
