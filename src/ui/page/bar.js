// The top bar: the document's settings, undo and redo, and whether the page is up to date.

import { byId, el, field, fill, options } from "./dom.js";
import { clock } from "./format.js";

export const TIERS = ["1 orchestrator", "2 tech lead", "3 worker", "4 QA"];

/** Shows the fields of the choice, except one that is being edited. Empty fields default to `[document]` in slop.toml. */
export function showChoice(page) {
  const home = byId("choice");
  const { chosen, defaults } = page;
  const isChosen = ["tier", "persona", "preset", "focus", "budget"].some((key) => chosen[key] || chosen[key] === 0);
  const acts = el(
    "span#choice-acts",
    isChosen && el("button#choice-keep", { type: "button", title: "Write this into [document] of slop.toml, which decides for all who leave it open", onclick: () => page.keepChoice() }, "keep"),
    isChosen && el("button#choice-reset", { type: "button", title: "Follow slop.toml again", onclick: () => page.resetChoice() }, "reset"),
  );
  if (home.contains(document.activeElement) && document.activeElement.matches("input")) return home.querySelector("#choice-acts")?.replaceWith(acts);
  const { personas = [], presets = [], takes = [], take } = page.curation ?? {};
  const typed = (name, props) => {
    const read = (text) => (name !== "budget" ? text : /\d/.test(text) ? Number(text.replace(/\D/g, "")) : null);
    return el(`label.${name}`, `${name} `, field(`input#choice-${name}`, { value: chosen[name] ?? "", onchange: ({ target }) => page.choose({ [name]: read(target.value.trim()) }), ...props }));
  };
  const list = (name, values, value, choose) => {
    const heard = { onchange: ({ target }) => choose(target.value) };
    return el("label", `${name} `, el(`select#choice-${name}`, heard, ...options(values, value ?? "")));
  };
  const named = (name, names, change = {}) => {
    const open = defaults[name] ? `${defaults[name]} (slop.toml)` : "none";
    return (names.length > 0 || chosen[name]) && list(name, [["", open], ...names], chosen[name], (value) => page.choose({ ...change, [name]: value }));
  };
  const isOpen = Boolean(chosen.persona || defaults.tier || defaults.persona);
  const tiers = TIERS.map((name, at) => [at + 1, name]);
  if (isOpen) tiers.unshift(["", `${TIERS[page.tierWithout() - 1] ?? "none"} (${chosen.persona ? "persona" : "slop.toml"})`]);
  const limit = defaults.budget_tokens === 0 ? "no limit" : defaults.budget_tokens;
  fill(
    home,
    list("tier", tiers, chosen.tier ?? (isOpen ? "" : page.tier), (value) => page.choose({ tier: Number(value) || null })),
    named("persona", personas.map(({ persona }) => persona.name), { tier: null }),
    named("preset", presets.map(({ preset }) => preset.name)),
    typed("budget", { inputmode: "numeric", size: 7, placeholder: limit ?? "tier’s", title: "The limit in tokens: 0 for none; empty for that of slop.toml, or the tier’s own" }),
    typed("focus", { size: 12, placeholder: defaults.focus?.join(", ") || "nothing", title: "Paths, with commas between them" }),
    typed("task", { size: 20, placeholder: "nothing", title: "What the reader is about to do" }),
    acts,
    takes.length > 1 && list("take", takes, take, (name) => page.changeTakes({ do: "switch", name })),
  );
}

/** Enables the undo and redo buttons if they can be used. */
export function showHistoryButtons(page) {
  const home = byId("history-buttons");
  // The buttons are kept, so that the focus is too.
  if (!home.children.length) fill(home, ...[["undo", "⟲"], ["redo", "⟳"]].map(([id, sign]) => el("button", { id, type: "button", onclick: () => page.travel(id) }, `${sign} ${id}`)));
  const { can_undo: canUndo, can_redo: canRedo } = page.curation ?? {};
  home.children[0].disabled = !canUndo || !page.isConnected;
  home.children[1].disabled = !canRedo || !page.isConnected;
}

/** Shows whether the page is up to date. @param {{isConnected: boolean, since: number, partial: string|null}} state */
export function showLive({ isConnected, since, partial }) {
  const live = byId("live");
  live.className = isConnected ? (partial ? "partial" : "") : "lost";
  live.textContent = isConnected ? (partial ? "◐ partial" : "● live") : `○ not connected, as of ${clock(since)}`;
  live.title = partial ?? "";
}
