// The table of all files: columns as received, and the lines that a view shows. Does not use the DOM.

/** Columns whose values are positions in a list of the answer. */
const LISTED = { language: "languages", state: "states", view: "views", wanted: "views", rule: "rules", why: "whys" };
const PLAIN = ["tokens", "bytes", "lines", "agent_tiers", "entry"];

/**
 * @typedef {{clock: string, choice: string, files: number, folders: string[], starts: number[], paths: string[],
 *   byPath: Map<string, number>, byFolder: Map<string, number>, columns: Record<string, any[]>, total: any, exact: boolean, problem: string|undefined,
 *   lowered: string[]|null, sums: Map<number, {files: number, tokens: number, lines: number}>}} Table
 */

/** Decodes a complete answer. @returns {Table} */
export function decode(answer) {
  const names = answer.names.split("\n");
  const paths = new Array(answer.files);
  for (let folder = 0; folder < answer.folders.length; folder += 1) {
    const prefix = answer.folders[folder] ? `${answer.folders[folder]}/` : "";
    const end = answer.starts[folder + 1] ?? answer.files;
    for (let row = answer.starts[folder]; row < end; row += 1) paths[row] = prefix + names[row];
  }
  const columns = {};
  for (const name of Object.keys(LISTED)) columns[name] = named(answer, name);
  for (const name of PLAIN) columns[name] = answer[name];
  const { clock, choice, files, folders, starts, total, exact, problem } = answer;
  const byPath = new Map(paths.map((path, row) => [path, row]));
  const byFolder = new Map(folders.map((folder, at) => [folder, at]));
  return { clock, choice, files, folders, starts, paths, byPath, byFolder, columns, total, exact, problem, lowered: null, sums: new Map() };
}

function named(answer, column) {
  const list = answer[LISTED[column]];
  return answer[column].map((position) => list[position]);
}

/**
 * Applies an answer to a request with `since`. Returns the table, a new one if the answer is complete, and the rows
 * that have changed (null: all).
 * @param {Table} table
 * @returns {{table: Table, changed: number[]|null}}
 */
export function apply(table, answer) {
  if (!answer.rows) return { table: decode(answer), changed: null };
  for (const column of Object.keys(LISTED)) {
    const values = named(answer, column);
    answer.rows.forEach((row, at) => (table.columns[column][row] = values[at]));
  }
  for (const column of PLAIN) answer.rows.forEach((row, at) => (table.columns[column][row] = answer[column][at]));
  const { clock, choice, total, exact, problem } = answer;
  Object.assign(table, { clock, choice, total, exact, problem });
  table.sums.clear();
  return { table, changed: answer.rows };
}

/** Returns the paths in lower case; they are computed at the first filter. @param {Table} table */
export const loweredPaths = (table) => (table.lowered ??= table.paths.map((path) => path.toLowerCase()));

/** Returns the folder of a row, as its index in `folders`. @param {Table} table @param {number} row */
export function folderOf(table, row) {
  let [low, high] = [0, table.starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (table.starts[middle] <= row) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Returns the row after the last one of a folder. @param {Table} table @param {number} folder */
export const endOf = (table, folder) => table.starts[folder + 1] ?? table.files;

/** Yields a folder and its subfolders at any depth. Names with a common prefix are contiguous. @param {Table} table @param {number} folder */
export function* within(table, folder) {
  const { folders } = table;
  const name = folders[folder];
  for (let other = folder; other < folders.length && folders[other].startsWith(name); other += 1) {
    if (!name || other === folder || folders[other][name.length] === "/") yield other;
  }
}

/** Returns the highest folded folder among a folder and its ancestors; -1 if it is visible. */
function foldedAbove(table, folder, folded) {
  const name = table.folders[folder];
  if (folded.has("") && table.byFolder.has("")) return table.byFolder.get("");
  for (let slash = name.indexOf("/"); slash !== -1; slash = name.indexOf("/", slash + 1)) {
    const above = name.slice(0, slash);
    if (folded.has(above) && table.byFolder.has(above)) return table.byFolder.get(above);
  }
  return folded.has(name) ? folder : -1;
}

/**
 * Returns the lines that a view shows: a line is a folder (`-1 - folder`) or a file (its row). A folder in `folded` shows
 * none of its contents; with a filter, folders without a match are omitted.
 * @param {Table} table @param {Set<string>} folded @param {(row: number) => boolean} [matches]
 */
export function visibleLines(table, folded, matches) {
  const lines = [];
  // Where the line of a folded folder belongs, if a folder hidden by it contains a match.
  const hidden = new Map();
  for (let folder = 0; folder < table.folders.length; folder += 1) {
    const above = folded.size ? foldedAbove(table, folder, folded) : -1;
    const at = lines.length;
    if (above === -1 || above === folder) lines.push(-1 - folder);
    let found = !matches;
    for (let row = table.starts[folder]; row < endOf(table, folder); row += 1) {
      if (matches && !matches(row)) continue;
      found = true;
      if (above !== -1) break;
      lines.push(row);
    }
    if (above === folder && !found) hidden.set(folder, at);
    else if (above !== -1 && found && hidden.has(above)) {
      const to = hidden.get(above);
      lines.splice(to, 0, -1 - above);
      hidden.delete(above);
      for (const [other, place] of hidden) if (to <= place) hidden.set(other, place + 1);
    }
    if (!found) lines.length = at;
  }
  return lines;
}

/** Returns the sums of all files in a folder and its subfolders. @param {Table} table @param {number} folder */
export function sums(table, folder) {
  const known = table.sums.get(folder);
  if (known) return known;
  const sum = { files: 0, tokens: 0, lines: 0 };
  for (const inner of within(table, folder)) {
    for (let row = table.starts[inner]; row < endOf(table, inner); row += 1) {
      sum.files += 1;
      sum.tokens += table.columns.tokens[row];
      sum.lines += table.columns.lines[row];
    }
  }
  table.sums.set(folder, sum);
  return sum;
}

/**
 * Returns the files that two tables show differently, largest difference in tokens first.
 * @param {Table} before @param {Table} after
 * @returns {{path: string, from: {view: string, tokens: number}, to: {view: string, tokens: number}}[]}
 */
export function changesBetween(before, after) {
  const absent = { view: "left_out", tokens: 0 };
  const shown = ({ columns, byPath }, path) => (byPath.has(path) ? { view: columns.view[byPath.get(path)], tokens: columns.tokens[byPath.get(path)] } : absent);
  const changes = [];
  for (const path of new Set([...before.paths, ...after.paths])) {
    const [from, to] = [shown(before, path), shown(after, path)];
    if (from.view !== to.view || from.tokens !== to.tokens) changes.push({ path, from, to });
  }
  const size = ({ from, to }) => Math.abs(to.tokens - from.tokens);
  return changes.sort((one, other) => size(other) - size(one));
}
