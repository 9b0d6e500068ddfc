// The selection of files, by path, because rows move when files come and go. Does not use the DOM.

import { endOf, within } from "./table.js";

export class Pick {
  constructor() {
    /** @type {Set<string>} */
    this.paths = new Set();
    /** The path or folder that was clicked last: where a range begins. @type {string|null} */
    this.anchor = null;
  }

  get size() {
    return this.paths.size;
  }

  has(path) {
    return this.paths.has(path);
  }

  clear() {
    this.paths.clear();
  }

  /** Selects only the files of one line. */
  only(table, line) {
    this.paths.clear();
    for (const row of rowsOf(table, line)) this.paths.add(table.paths[row]);
    this.anchor = nameOf(table, line);
  }

  /** Adds the files of a line, or removes them if all of them are selected. */
  toggle(table, line) {
    const rows = [...rowsOf(table, line)];
    const isAll = rows.every((row) => this.paths.has(table.paths[row]));
    for (const row of rows) this.paths[isAll ? "delete" : "add"](table.paths[row]);
    this.anchor = nameOf(table, line);
  }

  /** Selects the lines from the anchor to one. */
  range(table, lines, line, folded) {
    const anchor = lines.indexOf(lineNamed(table, this.anchor));
    const to = lines.indexOf(line);
    const from = anchor < 0 ? to : anchor;
    this.paths.clear();
    this.all(table, lines.slice(Math.min(from, to), Math.max(from, to) + 1), folded);
  }

  /** Adds all files of some lines; a folded folder includes its contents. */
  all(table, lines, folded) {
    for (const line of lines) {
      if (line >= 0) this.paths.add(table.paths[line]);
      else if (folded.has(table.folders[-1 - line])) for (const row of rowsOf(table, line)) this.paths.add(table.paths[row]);
    }
  }

  /** Removes files that no longer exist. */
  retain(table) {
    for (const path of this.paths) if (!table.byPath.has(path)) this.paths.delete(path);
  }

  /** Returns the selection as ranges of rows, for the API. @returns {[number, number][]} */
  ranges(table) {
    const ranges = [];
    for (let row = 0; row < table.files; row += 1) {
      if (!this.paths.has(table.paths[row])) continue;
      const last = ranges.at(-1);
      if (last && last[1] === row - 1) last[1] = row;
      else ranges.push([row, row]);
    }
    return ranges;
  }
}

/** Returns the rows of a line: its own, or those of its folder and subfolders. */
export function* rowsOf(table, line) {
  if (line >= 0) {
    yield line;
    return;
  }
  for (const folder of within(table, -1 - line)) {
    for (let row = table.starts[folder]; row < endOf(table, folder); row += 1) yield row;
  }
}

/** Returns the name by which a line is found again. */
export const nameOf = (table, line) => (line < 0 ? `${table.folders[-1 - line]}/` : table.paths[line]);

/** Returns the line with a name, or undefined if it no longer exists. @param {string|null} name */
export function lineNamed(table, name) {
  if (name === null) return undefined;
  if (!name.endsWith("/")) return table.byPath.get(name);
  const folder = table.byFolder.get(name.slice(0, -1));
  return folder === undefined ? undefined : -1 - folder;
}
