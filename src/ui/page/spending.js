// Where tokens go: a tree of folders and files, of which only opened folders are listed. Does not use the DOM.

import { endOf } from "./table.js";

/**
 * @typedef {{name: string, path: string, row: number, depth: number, tokens: number}} Spent a folder has the row -1
 */

/** Returns the direct entries of a folder that have tokens. @param {import("./table.js").Table} table @param {string} folder @returns {Omit<Spent, "depth">[]} */
export function partsOf(table, folder) {
  const parts = new Map();
  const prefix = folder ? `${folder}/` : "";
  for (const [at, name] of table.folders.entries()) {
    if (name !== folder && !name.startsWith(prefix)) continue;
    for (let row = table.starts[at]; row < endOf(table, at); row += 1) {
      const tokens = table.columns.tokens[row];
      if (!tokens) continue;
      const rest = table.paths[row].slice(prefix.length);
      const slash = rest.indexOf("/");
      const part = slash < 0 ? rest : rest.slice(0, slash + 1);
      const known = parts.get(part);
      if (known) known.tokens += tokens;
      else parts.set(part, { name: part, path: prefix + (slash < 0 ? part : part.slice(0, -1)), row: slash < 0 ? row : -1, tokens });
    }
  }
  return [...parts.values()];
}

/**
 * Returns the rows for the entries of a folder that have tokens, including those of opened folders.
 * @param {import("./table.js").Table} table
 * @param {{zoom: string, opened: Set<string>, key: string, isAscending: boolean}} shown `key` is `name`, `tokens` or a column
 * @returns {Spent[]}
 */
export function spending(table, { zoom, opened, key, isAscending }) {
  const value = (part) => (key === "name" || key === "tokens" ? part[key] : part.row < 0 ? "" : table.columns[key][part.row]);
  const sign = isAscending ? 1 : -1;
  const compare = (one, other) => {
    const [a, b] = [value(one), value(other)];
    return a < b ? -sign : b < a ? sign : other.tokens - one.tokens;
  };
  const rows = [];
  const add = (folder, depth) => {
    for (const part of partsOf(table, folder).sort(compare)) {
      rows.push({ ...part, depth });
      if (part.row < 0 && opened.has(part.path)) add(part.path, depth + 1);
    }
  };
  add(zoom, 0);
  return rows;
}
