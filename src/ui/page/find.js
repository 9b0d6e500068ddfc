// Filters, and fuzzy search for names. Does not use the DOM.

import { endOf, folderOf, loweredPaths } from "./table.js";

/**
 * Parses a filter: words whose letters have to occur in the path in this order; `view:full`,
 * `state:stale`, `lang:c`, `rule:tier` and `why:room` apply to columns.
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
      return isWhole(word) ? (row) => paths[row].includes(word) : lettersIn(table, paths, word);
    });
    return tests.length === 1 ? tests[0] : (row) => tests.every((test) => test(row));
  };
}

/** Returns whether the letters of a word occur in a path, by its row. The letters found in a folder's path are counted once for all of its files. */
function lettersIn(table, paths, word) {
  const letters = [...word];
  let [first, end, name, inFolder] = [0, 0, 0, 0];
  const enter = (row) => {
    const folder = folderOf(table, row);
    [first, end, name, inFolder] = [table.starts[folder], endOf(table, folder), paths[row].lastIndexOf("/") + 1, 0];
    for (let at = 0; inFolder < letters.length; inFolder += 1) {
      at = paths[row].indexOf(letters[inFolder], at) + 1;
      if (!at || name < at) break;
    }
  };
  return (row) => {
    if (row < first || end <= row) enter(row);
    for (let at = name, letter = inFolder; letter < letters.length; letter += 1) {
      at = paths[row].indexOf(letters[letter], at) + 1;
      if (!at) return false;
    }
    return true;
  };
}

const isWhole = (word) => word.includes("/") || word.includes(".");

/** Returns whether the letters of a word occur in a text, in this order. A word with a slash or a dot has to occur as a whole. */
export function contains(text, word) {
  if (isWhole(word)) return text.includes(word);
  let at = 0;
  for (const letter of word) {
    at = text.indexOf(letter, at) + 1;
    if (!at) return false;
  }
  return true;
}

/**
 * Returns how well a query matches a text: lower is better, undefined means no match. Names count before folders,
 * consecutive letters before scattered ones, and short texts before long ones.
 * @param {string} text @param {string} query both in lower case
 */
export function rank(text, query) {
  if (!contains(text, query)) return undefined;
  const name = text.slice(text.lastIndexOf("/") + 1);
  const at = name.indexOf(query);
  const class_ = name === query ? 0 : at === 0 ? 1 : at > 0 ? 2 : text.includes(query) ? 3 : contains(name, query) ? 4 : 5;
  return class_ * 10_000 + text.length;
}

/** Returns the best matches among some texts, best first. @param {string[]} texts in lower case @param {string} query @param {number} limit @returns {number[]} positions */
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
