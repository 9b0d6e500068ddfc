// The table of all files: columns as they came, and the rows that a view shows of them. Touches no document.

/** Columns whose values are positions in a list of the answer. */
const LISTED = { language: "languages", state: "states", view: "views", wanted: "views", rule: "rules", why: "whys" };
const PLAIN = ["tokens", "bytes", "lines", "agent_tiers", "entry"];

/**
 * @typedef {{version: string, choice: string, files: number, folders: string[], starts: number[], paths: string[],
 *   byPath: Map<string, number>, columns: Record<string, any[]>, total: any, exact: boolean}} Table
 */

/** Returns a table from a whole answer. @returns {Table} */
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
  const { clock: version, choice, files, folders, starts, total, exact } = answer;
  const byPath = new Map(paths.map((path, row) => [path, row]));
  return { version, choice, files, folders, starts, paths, byPath, columns, total, exact };
}

function named(answer, column) {
  const list = answer[LISTED[column]];
  return answer[column].map((position) => list[position]);
}

/**
 * Applies an answer to a question with `since`. Returns the table, a new one if the answer was whole, and the rows
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
  const { clock: version, total, exact } = answer;
  Object.assign(table, { version, total, exact });
  return { table, changed: answer.rows };
}

/** Returns the folder that a row is in, by its place in `folders`. @param {Table} table @param {number} row */
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

/**
 * Returns the lines that a view shows: a line is a folder (`-1 - folder`) or a file (its row). Folders in `folded` show
 * no files; with a filter, folders without a match are left out.
 * @param {Table} table @param {Set<string>} folded @param {(row: number) => boolean} [matches]
 */
export function visibleLines(table, folded, matches) {
  const lines = [];
  for (let folder = 0; folder < table.folders.length; folder += 1) {
    const at = lines.length;
    lines.push(-1 - folder);
    const isFolded = folded.has(table.folders[folder]);
    let found = 0;
    for (let row = table.starts[folder]; row < endOf(table, folder); row += 1) {
      if (matches && !matches(row)) continue;
      found += 1;
      if (!isFolded) lines.push(row);
      else if (matches) break;
    }
    if (matches && !found) lines.length = at;
  }
  return lines;
}

/** Returns the sums of a folder. @param {Table} table @param {number} folder */
export function sums(table, folder) {
  const sum = { files: 0, tokens: 0, lines: 0 };
  for (let row = table.starts[folder]; row < endOf(table, folder); row += 1) {
    sum.files += 1;
    sum.tokens += table.columns.tokens[row];
    sum.lines += table.columns.lines[row];
  }
  return sum;
}
