// The palette: goes to a file, a symbol or a command by a few letters of its name.

import { TIERS } from "./bar.js";
import { el, field, fill, openDialog, pointTo } from "./dom.js";
import { best } from "./find.js";
import { plural, visible } from "./format.js";
import { SCHEMES, setColors, showHelp } from "./help.js";
import { loweredPaths } from "./table.js";

const FOUND = 12;
const SYMBOLS_SHOWN = 6;
/** The delay after the last key before symbols are requested. */
const SYMBOL_MS = 150;

/** Returns the commands of the palette. @returns {{title: string, act: () => void}[]} */
function commandsOf(page, views) {
  return [
    ...views.map((view) => ({ title: `Show ${view.title}`, act: () => page.go(view.id) })),
    ...TIERS.map((name, at) => ({ title: `Tier ${name}`, act: () => page.choose({ tier: at + 1 }) })),
    { title: "Undo", act: () => page.travel("undo") },
    { title: "Redo", act: () => page.travel("redo") },
    ...SCHEMES.map((name) => ({ title: `Colors: ${name}`, act: () => setColors(name) })),
    { title: "Show the keys", act: () => showHelp(page) },
  ];
}

/** Opens the palette. @param {object} page @param {{id: string, title: string}[]} views */
export function openPalette(page, views) {
  const commands = commandsOf(page, views);
  const list = el("ul#palette-list", { role: "listbox", "aria-label": "Found" });
  const input = field("input#palette-input", { role: "combobox", "aria-expanded": "true", "aria-controls": "palette-list", "aria-label": "Go to a file, a symbol or a command", placeholder: "file, symbol or command" });
  const titles = commands.map(({ title }) => title.toLowerCase());
  let hits = [];
  let symbols = [];
  let current = 0;
  let timer;
  let isAsking = false;

  const search = () => {
    const query = input.value.trim();
    const { table } = page;
    const found = query && table ? best(loweredPaths(table), query, FOUND) : [];
    hits = [
      ...symbols,
      ...best(titles, query, query ? 4 : FOUND).map((at) => ({ kind: "command", text: commands[at].title, act: commands[at].act })),
      ...found.map((row) => ({ kind: "file", text: table.paths[row], act: () => page.inspect(table.paths[row]) })),
    ];
    current = 0;
    draw();
  };
  const draw = () => {
    const options = hits.map((hit, at) =>
      el(`li#hit-${at}`, { role: "option", "aria-selected": String(at === current), onclick: () => choose(at) }, el("span.faint", hit.kind), el("span", visible(hit.text))),
    );
    fill(list, ...(options.length ? options : [el("li.faint", { role: "option", "aria-selected": "false" }, isAsking ? "Searching the symbols …" : "Nothing has such a name.")]));
    pointTo(input, hits.length && `hit-${current}`);
    options[current]?.scrollIntoView({ block: "nearest" });
  };
  const choose = (at) => {
    dialog.close();
    hits[at]?.act();
  };
  const askForSymbols = async () => {
    const name = input.value.trim();
    if (!/^[\p{L}_$][\p{L}\p{N}_$.:]*$/u.test(name)) return;
    isAsking = true;
    draw();
    try {
      const found = await page.api.post("/v1/symbols", { name, ignore_case: true });
      if (input.value.trim() !== name) return;
      isAsking = false;
      symbols = found.slice(0, SYMBOLS_SHOWN).map((symbol) => ({ kind: "symbol", text: `${symbol.qualified_name ?? symbol.name}  ${symbol.path}:${symbol.start_line}`, act: () => page.inspect(symbol.path) }));
      search();
    } catch {
      // Files and commands are still found without the daemon.
      isAsking = false;
      draw();
    }
  };
  input.addEventListener("input", () => {
    symbols = [];
    isAsking = false;
    search();
    clearTimeout(timer);
    timer = setTimeout(askForSymbols, SYMBOL_MS);
    page.say(plural(hits.length, "hit"));
  });
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && hits.length) {
      current = (current + step + hits.length) % hits.length;
      draw();
    } else if (event.key === "Enter") choose(current);
    else return;
    event.preventDefault();
  });
  const dialog = openDialog("dialog#palette", "Go to", input, list);
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  dialog.addEventListener("close", () => clearTimeout(timer));
  search();
}
