// The takes view: sets of everything that is curated, the earlier states of slop.toml in each, and their parts.

import { defaults, presets, screenshots } from "./curated.js";
import { ask, buttonOf, el, failure, options, refill, sign } from "./dom.js";
import { clock, plural, visible } from "./format.js";

/** The counts of a take, with the singular noun of each. */
const COUNTED = { entries: "entry", masks: "mask", slices: "slice", screenshots: "screenshot", document: "default" };

export class TakesView {
  static id = "takes";
  static title = "Takes";

  constructor(page) {
    this.page = page;
    this.list = el("ul.take-list", { "aria-label": "Takes" });
    this.of = el("select#history-of", { "aria-label": "History of", onchange: () => this.refresh() });
    this.states = el("ol.states", { "aria-label": "States of slop.toml" });
    this.sections = [defaults, presets, screenshots].map((make) => make(page));
    this.element = el(
      "div.sheet",
      el("section", el("h1", "Takes"), this.list),
      el(
        "div.columns",
        el("section", el("h2", "History of ", this.of), this.states),
        el("div", ...this.sections.map(({ element }) => element)),
      ),
    );
  }

  show() {
    return this.refresh();
  }

  async refresh() {
    for (const section of this.sections) section.refresh();
    try {
      const known = await this.page.api.get("/v1/takes");
      const names = known.takes.map(({ name }) => name);
      const of = names.includes(this.of.value) && !this.isOfCurrent ? this.of.value : known.current;
      const past = await this.page.api.post("/v1/history", { take: of });
      this.isOfCurrent = of === known.current;
      const { isConnected } = this.page;
      refill(this.list, [known, isConnected], () => known.takes.map((take, at) => this.take(take, at, known)));
      refill(this.of, [names, of], () => options(names.map((name) => [name, visible(name)]), of));
      refill(this.states, [past, isConnected, this.isOfCurrent], () => (past.entries.length ? states(past, this.page, this.isOfCurrent) : [el("li.empty", "Nothing was edited yet.")]));
    } catch (error) {
      refill(this.states, error.message, () => [failure(error, "li")]);
    }
  }

  /** Returns the row of a take, with its actions. */
  take(take, at, { current, takes: all }) {
    const { name } = take;
    const isCurrent = name === current;
    const button = (what, act) => buttonOf(`${what}-${at}`, what, name, act, { disabled: !this.page.isConnected });
    const change = (what) => this.page.changeTakes({ name, ...what });
    const named = async (question, what) => {
      const to = await ask({ name: "name", ...question });
      if (to) await change(what(to));
    };
    const copy = () => named({ title: `Copy ${name}`, text: "The copy has all that is curated in it. It does not become the current take.", confirm: "Copy", value: free(name, all) }, (to) => ({ do: "create", name: to, from: name }));
    const rename = () => named({ title: `Rename ${name}`, text: "Its history goes with it.", confirm: "Rename", value: name }, (to) => ({ do: "rename", to }));
    const remove = async () => {
      const isEmpty = !differences(take, {}).length;
      const question = { title: `Delete ${name}?`, text: `It has ${summary(take)}. Undo does not bring a take back.`, confirm: "Delete" };
      if (isEmpty || (await ask(question))) await change({ do: "delete", force: !isEmpty });
    };
    const than = isCurrent ? "" : differences(take, all.find((other) => other.name === current)).join(" ");
    return el(
      "li",
      { class: isCurrent ? "now" : "", "aria-current": isCurrent ? "true" : null },
      sign("i", isCurrent ? "●" : "○"),
      el("b", visible(name)),
      el("span.faint", `${isCurrent ? "current, " : ""}${summary(take)}${than ? ` (${than})` : ""}`),
      el("span.acts", !isCurrent && button("switch", () => change({ do: "switch" })), button("copy", copy), button("rename", rename), !isCurrent && button("delete", remove)),
    );
  }

  act(action) {
    if (action !== "filter") return false;
    this.of.focus();
    return true;
  }

  unmount() {
    for (const { unmount } of this.sections) unmount?.();
  }
}

/** Returns what is curated in a take. */
function summary(take) {
  const counts = Object.entries(COUNTED).filter(([key]) => take[key]).map(([key, noun]) => plural(take[key], noun));
  return counts.join(", ") || "nothing curated";
}

/** Returns the differences in counts between a take and another one. */
function differences(take, other) {
  const keys = Object.keys(COUNTED).map((key) => [take[key] - (other?.[key] ?? 0), COUNTED[key]]);
  return keys.filter(([more]) => more).map(([more, noun]) => `${more < 0 ? "−" : "+"}${plural(Math.abs(more), noun)}`);
}

/** Returns an unused name for a take. */
function free(name, all) {
  let number = 2;
  while (all.some((take) => take.name === `${name} ${number}`)) number += 1;
  return `${name} ${number}`;
}

/** Returns the rows of the states, newest first. States that the current one is not based on are marked. */
function states({ entries, current }, page, isOfCurrent) {
  const parents = new Map(entries.map(({ id, parent }) => [id, parent]));
  const line = new Set();
  for (let id = current; id !== null && id !== undefined && !line.has(id); id = parents.get(id)) line.add(id);
  return [...entries].reverse().map((entry) => {
    const isNow = entry.id === current;
    const label = visible(entry.by_hand ? "edited by hand" : entry.label || "edited");
    const at = clock(entry.at_ms);
    return el(
      "li",
      { class: isNow ? "now" : line.has(entry.id) ? "" : "aside", "aria-current": isNow ? "step" : null },
      el("span.faint", at),
      ` ${label} `,
      !line.has(entry.id) && el("span.faint", "taken back "),
      isOfCurrent && !isNow && el(`button#jump-${entry.id}.jump`, { disabled: !page.isConnected, "aria-label": `jump to ${label}, ${at}`, onclick: () => page.travel("jump", entry.id) }, "jump"),
    );
  });
}
