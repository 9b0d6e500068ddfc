// How a folder and a file look in the grid of files.

import { el } from "./dom.js";
import { count, plural, visible } from "./format.js";
import { sums } from "./table.js";

/** The signs of states: each has its word, too, so that no state is a matter of color alone. */
const SIGNS = { fresh: "●", stale: "◐", new: "○", left_out: "✕", agent: "◆" };

const words = (name) => name.replace("ast_", "").replaceAll("_", " ");
const cell = (text, props = {}) => el("span", { role: "gridcell", ...props, text });
const size = (number) => cell(number ? count(number) : "–", { class: "number" });

/** Returns the row of a folder, with the sums of all that is in it. */
export function folderRow(table, folder, isFolded) {
  const { files, lines, tokens } = sums(table, folder);
  const name = table.folders[folder];
  const label = el("span", { role: "gridcell", "aria-expanded": String(!isFolded) }, el("i", { class: "fold", "aria-hidden": "true", text: isFolded ? "▸" : "▾" }), name ? `${visible(name)}/` : "this project");
  return el("div", { role: "row", class: "folder" }, cell(""), label, cell(""), cell(plural(files, "file")), cell(""), size(lines), size(tokens));
}

/** Returns the row of a file. @param {{isSelected: boolean, isChanged: boolean}} state */
export function fileRow(table, row, { isSelected, isChanged }) {
  const get = (column) => table.columns[column][row];
  const path = table.paths[row];
  const state = get("state");
  const shown = state === "fresh" && get("agent_tiers") ? "agent" : state;
  const view = get("view");
  const why = get("why");
  const step = el("span", { role: "gridcell", class: "shown" }, el("i", { class: `step ${view}`, "aria-hidden": "true" }), view === "left_out" ? "–" : words(view));
  return el(
    "div",
    { role: "row", class: `file${isChanged ? " changed" : ""}`, "aria-selected": String(isSelected), "data-state": state },
    el("span", { role: "gridcell", class: "state" }, el("i", { "aria-hidden": "true", text: SIGNS[shown] ?? "·" }), el("span", { text: words(shown) })),
    cell(visible(path.slice(path.lastIndexOf("/") + 1)), { title: visible(path) }),
    cell(get("language") === "unknown" ? "" : get("language")),
    step,
    cell(why || words(get("rule")), { title: why, class: why ? "faint" : "" }),
    size(get("lines")),
    size(get("tokens")),
  );
}
