// Filters, and the search for names as one types. Touches no document.

import { loweredPaths } from "./table.js";

/**
 * Returns what a filter matches: words, each of which has to occur in the path in this order of letters; `view:full`,
 * `state:stale`, `lang:c`, `rule:tier` and `why:room` are about the columns.
 * @param {string} text
 * @returns {((table: import("./table.js").Table) => (row: number) => boolean)|null}
 */
export function matcher(text) {
  const words = text.trim().split(/\s+/).filter(Boolean);
  if (!words.length) return null;
  return (table) => {
    const tests = words.map((word) => {
      const [, column, wanted] = /^(view|state|lang|why|rule):(.*)$/.exec(word) ?? [];
      if (column) {
        const values = table.columns[column === "lang" ? "language" : column];
        return (row) => values[row].includes(wanted);
      }
      const paths = word === word.toLowerCase() ? loweredPaths(table) : table.paths;
      return (row) => contains(paths[row], word);
    });
    return tests.length === 1 ? tests[0] : (row) => tests.every((test) => test(row));
  };
}

/** Returns whether the letters of a word occur in a text, in this order. A word with a slash or a dot is looked for whole. */
export function contains(text, word) {
  if (word.includes("/") || word.includes(".")) return text.includes(word);
  let at = 0;
  for (const letter of word) {
    at = text.indexOf(letter, at) + 1;
    if (!at) return false;
  }
  return true;
}

/**
 * Returns how well a query fits a text: a lower number is better, undefined is not at all. Names count before folders,
 * letters in a row before scattered ones, and short texts before long ones.
 * @param {string} text @param {string} query both in lower case
 */
export function rank(text, query) {
  if (!contains(text, query)) return undefined;
  const name = text.slice(text.lastIndexOf("/") + 1);
  const at = name.indexOf(query);
  const class_ = name === query ? 0 : at === 0 ? 1 : at > 0 ? 2 : text.includes(query) ? 3 : contains(name, query) ? 4 : 5;
  return class_ * 10_000 + text.length;
}

/** Returns the best of some texts, the best first. @param {string[]} texts in lower case @param {string} query @param {number} limit @returns {number[]} positions */
export function best(texts, query, limit) {
  const wanted = query.toLowerCase();
  const found = [];
  for (let at = 0; at < texts.length; at += 1) {
    const score = rank(texts[at], wanted);
    if (score !== undefined) found.push({ at, score });
  }
  found.sort((one, other) => one.score - other.score || one.at - other.at);
  return found.slice(0, limit).map(({ at }) => at);
}
