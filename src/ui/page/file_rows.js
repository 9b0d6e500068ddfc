// The rows of folders and files in the grid.

import { cell, el, sign } from "./dom.js";
import { count, plural, spaced, visible } from "./format.js";
import { sums } from "./table.js";

/** The signs of states. Each also has its name, so that no state is shown by color alone. */
const SIGNS = { fresh: "●", stale: "◐", new: "○", left_out: "✕", agent: "◆" };

const plain = (name) => spaced(name.replace("ast_", ""));
const size = (number) => cell(".number", number ? count(number) : "–");

/** Returns the content of a folder's row: its name, and the sums of its contents. */
export const folderContent = (table, folder, isFolded) => ({ name: table.folders[folder], isFolded, ...sums(table, folder) });

/** Returns the row of a folder. */
export function folderRow({ name, isFolded, files, lines, tokens }) {
  const label = cell("", { "aria-expanded": String(!isFolded) }, sign("i.fold", isFolded ? "▸" : "▾"), name ? `${visible(name)}/` : "this project");
  return el("div.folder", { role: "row" }, cell(""), label, cell(""), cell("", plural(files, "file")), cell(""), size(lines), size(tokens));
}

/** Returns the content of a file's row. @param {{isSelected: boolean, isChanged: boolean}} marks */
export function fileContent({ columns, paths }, row, marks) {
  const [language, state, view, why, rule, lines, tokens] = ["language", "state", "view", "why", "rule", "lines", "tokens"].map((name) => columns[name][row]);
  return { path: paths[row], language, state, shown: state === "fresh" && columns.agent_tiers[row] ? "agent" : state, view, why, rule, lines, tokens, ...marks };
}

/** Returns the row of a file. */
export function fileRow({ path, language, state, shown, view, why, rule, lines, tokens, isSelected, isChanged }) {
  return el(
    isChanged ? "div.file.changed" : "div.file",
    { role: "row", "aria-selected": String(isSelected), "data-state": state },
    cell(".state", sign("i", SIGNS[shown] ?? "·"), el("span", plain(shown))),
    cell("", { title: visible(path) }, visible(path.slice(path.lastIndexOf("/") + 1))),
    cell("", language === "unknown" ? "" : language),
    cell(".shown", sign(`i.step.${view}`), view === "left_out" ? "–" : plain(view)),
    cell(why ? ".faint" : "", { title: why }, why || plain(rule)),
    size(lines),
    size(tokens),
  );
}
