// The table of keys. Does not use the DOM; `main.js` handles the events.

/** Keys of all views: the key, the name of the action, and its description. */
export const KEYS = [
  ["1", "view-1", "Files"],
  ["2", "view-2", "Document"],
  ["3", "view-3", "Budget"],
  ["4", "view-4", "Cache"],
  ["5", "view-5", "Takes"],
  ["6", "view-6", "Daemon"],
  ["Ctrl+k", "palette", "Go to a file, a symbol or a command"],
  ["/", "filter", "Filter the files"],
  ["j", "down", "Next row"],
  ["ArrowDown", "down", "Next row"],
  ["k", "up", "Previous row"],
  ["ArrowUp", "up", "Previous row"],
  ["PageDown", "page-down", "Next page"],
  ["PageUp", "page-up", "Previous page"],
  ["Home", "first", "First row"],
  ["End", "last", "Last row"],
  ["ArrowLeft", "fold", "Fold the folder"],
  ["ArrowRight", "unfold", "Unfold the folder"],
  [" ", "select", "Select or deselect"],
  ["Shift+ArrowDown", "extend-down", "Extend the selection down"],
  ["Shift+ArrowUp", "extend-up", "Extend the selection up"],
  ["Shift+ ", "range", "Select up to here"],
  ["Ctrl+a", "all", "Select all that the filter shows"],
  ["Escape", "escape", "Clear the selection, then close"],
  ["f", "full", "Full"],
  ["a", "agg", "Agg: the tier decides"],
  ["s", "sig", "Sig: signatures of all symbols"],
  ["d", "def", "Def: definitions of all symbols"],
  ["Delete", "remove", "Remove from documents"],
  ["Enter", "open", "Inspect, or zoom into a folder of the budget"],
  ["Backspace", "out", "Out of the folder of the budget"],
  ["m", "colors", "Other colors of the map"],
  ["c", "copy", "Copy the document"],
  ["t", "view-5", "Takes"],
  ["[", "tier-down", "Lower tier"],
  ["]", "tier-up", "Higher tier"],
  ["z", "undo", "Undo"],
  ["Shift+Z", "redo", "Redo"],
  ["?", "help", "Show the keys"],
];

const ACTIONS = new Map(KEYS.map(([key, action]) => [key, action]));

/** Returns the name of a pressed key, as in the table. @param {{key: string, ctrlKey: boolean, metaKey: boolean, altKey: boolean, shiftKey: boolean}} event */
export function pressed({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  if (altKey) return "";
  const isLetter = key.length === 1 && key !== " ";
  // Shift is part of typing a character such as `?`, but not of a letter or a named key.
  const shift = shiftKey && (!isLetter || /[a-z]/i.test(key)) ? "Shift+" : "";
  return `${ctrlKey || metaKey ? "Ctrl+" : ""}${shift}${key}`;
}

/**
 * Returns the action of a pressed key. While a text is edited, only Escape and the palette have one. Single-character keys can be disabled.
 * @param {object} event @param {{typing: boolean, letters: boolean}} state
 */
export function actionOf(event, { typing, letters }) {
  const name = pressed(event);
  if (typing && name !== "Escape" && name !== "Ctrl+k") return undefined;
  if (!letters && name.length === 1 && name !== " ") return undefined;
  return ACTIONS.get(name);
}
