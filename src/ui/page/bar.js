// The top bar: what the document is made for, undo and redo, and whether the page is up to date.

import { byId, el, fill } from "./dom.js";
import { clock } from "./format.js";

export const TIERS = ["1 orchestrator", "2 tech lead", "3 worker", "4 QA"];

/** Shows the fields of the choice; what is being typed stays. */
export function showChoice(page) {
  if (byId("choice").contains(document.activeElement) && byId("choice").children.length && document.activeElement.matches("input")) return;
  const field = (name, props) => {
    const input = el("input", { id: `choice-${name}`, value: page.chosen[name] ?? "", autocomplete: "off", spellcheck: "false", ...props });
    input.addEventListener("change", () => {
      const text = input.value.trim();
      page.choose({ [name]: name === "budget" ? Number(text.replace(/\D/g, "")) || null : text });
    });
    return el("label", { class: name }, `${name} `, input);
  };
  const list = (name, options) => {
    const select = el("select", { id: `choice-${name}`, onchange: () => page.choose({ [name]: select.value }) });
    for (const [value, text] of options) select.append(el("option", { value, text }));
    select.value = String(page.chosen[name] ?? "");
    return el("label", {}, `${name} `, select);
  };
  const { personas = [], presets = [] } = page.curation ?? {};
  const named = (entries, key) => [["", "none"], ...entries.map((entry) => [entry[key].name, entry[key].name])];
  fill(
    byId("choice"),
    list("tier", TIERS.map((name, at) => [at + 1, name])),
    personas.length > 0 && list("persona", named(personas, "persona")),
    presets.length > 0 && list("preset", named(presets, "preset")),
    field("budget", { inputmode: "numeric", size: 7, placeholder: "tier’s", title: "The limit in tokens; empty for the tier’s own" }),
    field("focus", { size: 12, placeholder: "nothing", title: "Paths, with commas between them" }),
    field("task", { size: 20, placeholder: "nothing", title: "What the reader is about to do" }),
  );
}

/** Shows whether there is something to undo and to redo. */
export function showHistoryButtons(page) {
  const home = byId("history-buttons");
  // The buttons stay, and with them the focus.
  if (!home.children.length) fill(home, ...[["undo", "⟲"], ["redo", "⟳"]].map(([id, sign]) => el("button", { id, type: "button", onclick: () => page.travel(id), text: `${sign} ${id}` })));
  const { can_undo: canUndo, can_redo: canRedo } = page.curation ?? {};
  home.children[0].disabled = !canUndo || !page.isConnected;
  home.children[1].disabled = !canRedo || !page.isConnected;
}

/** Shows whether what is on the page is up to date. @param {{isConnected: boolean, since: number, partial: string|null}} state */
export function showLive({ isConnected, since, partial }) {
  const live = byId("live");
  live.className = isConnected ? (partial ? "partial" : "") : "lost";
  live.textContent = isConnected ? (partial ? "◐ partial" : "● live") : `○ not connected, as of ${clock(since)}`;
  live.title = partial ?? "";
}
