// Filters: which files a few letters mean. Touches no document.

/**
 * Returns what a filter matches: words, each of which has to occur in the path in this order of letters; `view:full`,
 * `state:stale`, `lang:c` and `why:…` are about the columns.
 * @param {string} text
 * @returns {((table: import("./table.js").Table, row: number) => boolean)|null}
 */
export function matcher(text) {
  const words = text.trim().split(/\s+/).filter(Boolean);
  if (!words.length) return null;
  const tests = words.map((word) => {
    const [, column, wanted] = /^(view|state|lang|why|rule):(.*)$/.exec(word) ?? [];
    if (column) {
      const name = column === "lang" ? "language" : column;
      return (table, row) => table.columns[name][row].includes(wanted);
    }
    const isExact = word !== word.toLowerCase();
    return (table, row) => contains(isExact ? table.paths[row] : table.paths[row].toLowerCase(), word);
  });
  return (table, row) => tests.every((test) => test(table, row));
}

/** Returns whether the letters of a word occur in a text, in this order. A word with a slash or a dot is looked for whole. */
export function contains(text, word) {
  if (/[./]/.test(word)) return text.includes(word);
  let at = 0;
  for (const letter of word) {
    at = text.indexOf(letter, at) + 1;
    if (!at) return false;
  }
  return true;
}
