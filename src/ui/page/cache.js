// The cache view: how much of the delivered documents a provider's prompt cache keeps; how much is stored,
// and what can be cleared.

import { ask, el, failure, fill, options, refill, section, sign, table } from "./dom.js";
import { bytes, clock, count, spaced, visible } from "./format.js";

/** The polling interval for delivered documents. */
const POLL_MS = 3000;

export class CacheView {
  static id = "cache";
  static title = "Cache";

  constructor(page) {
    this.page = page;
    this.given = el("select#given", { onchange: () => this.showGiven() });
    this.strips = el("ol.strips", { "aria-label": "Documents, the newest first" });
    this.body = el("section");
    this.report = el("p#cache-report", { role: "status" });
    const given = section("Prompt cache", el("label", "documents given as ", this.given), this.strips);
    this.element = el("div.paper", el("h1", "Cache"), el("div.sheet", given, this.body));
  }

  async show() {
    // There are no events for delivered documents.
    this.timer ??= setInterval(() => this.page.isConnected && this.showGiven(), POLL_MS);
    await this.refresh();
  }

  async refresh() {
    await Promise.all([this.showGiven(), this.showStored()]);
  }

  /** Shows the last documents of a name, and how much of each a prompt cache keeps from the previous one. */
  async showGiven() {
    try {
      const { names } = await this.page.api.post("/v1/given", {});
      const key = ({ name, curation }) => JSON.stringify([name, curation]);
      const shown = names.find((name) => key(name) === this.given.value) ?? names[0];
      refill(this.given, [names, shown], () => options(names.map((name) => [key(name), visible(name.name) + (name.curation ? ` (${name.curation.slice(0, 8)})` : "")]), shown && key(shown)));
      if (!shown) return fill(this.strips, el("li.empty", "No agent was given a document yet: run `slop aggregate`."));
      const { history } = await this.page.api.post("/v1/given", { name: shown.name, curation: shown.curation });
      if (key(shown) === this.given.value) refill(this.strips, history, () => history.map(strip));
    } catch (error) {
      fill(this.strips, failure(error, "li"));
    }
  }

  async showStored() {
    try {
      const size = await this.page.api.get("/v1/cache/status");
      refill(this.body, size, () => [el("h2", "slop's own cache"), ...this.content(size), this.report]);
    } catch (error) {
      fill(this.body, failure(error));
    }
  }

  content(size) {
    const number = (text) => el("span.number", text);
    const rows = size.artifacts.map(({ artifact, rows: entries, bytes: stored }) => [spaced(artifact), number(count(entries)), number(bytes(stored))]);
    rows.push(["known files", number(count(size.files)), ""], ["contents", number(count(size.contents)), ""], ["contents that no file has", number(count(size.idle_contents)), ""], ["on disk", "", number(bytes(size.bytes_on_disk))]);
    const { agent } = size;
    const paid = agent?.summaries ? `${count(agent.summaries)} summaries by models, which cost $${agent.spent_usd}` : "no summaries by models";
    const button = (id, text, question, body, isDanger) =>
      el("button", { id, class: isDanger ? "danger" : "", onclick: () => this.clear(question, body) }, text);
    return [
      table(["what", "entries", "size"], rows, "What is stored", "figures"),
      el("p", `Kept apart: ${paid}.`),
      el(
        "p.buttons",
        button("clear-summaries", "Clear Summary Cache", { title: "Clear the summary cache?", text: "Deletes the summaries that slop derived. They are derived again when they are needed, at no cost. Summaries by models stay.", confirm: "Clear Summary Cache" }, { summaries: true }),
        button("clear-all", "Clear everything derived", { title: "Clear everything derived?", text: "Deletes outlines, skeletons, summaries and references. They are derived again when they are needed. Summaries by models stay.", confirm: "Clear everything derived" }, {}),
        button("clear-agent", "What models wrote …", { title: "Delete what models wrote?", text: `Deletes ${paid}. Writing them again costs money.`, confirm: "Delete what models wrote" }, { agent: true }, true),
        el("button#verify", { onclick: () => this.run("/v1/cache/verify", {}, "verified") }, "Verify"),
        el("button#collect", { onclick: () => this.run("/v1/cache/gc", {}, "deleted") }, "Delete what no file holds"),
      ),
    ];
  }

  async clear(question, body) {
    if (await ask(question)) await this.run("/v1/cache/clear", body, "cleared");
  }

  async run(path, body, what) {
    this.report.textContent = "…";
    try {
      const done = await this.page.api.post(path, body);
      const facts = Object.entries(done).filter(([, value]) => typeof value === "number").map(([key, value]) => `${spaced(key)} ${count(value)}`);
      this.report.textContent = `${what}: ${facts.join(", ") || "done"}`;
    } catch (error) {
      fill(this.report, failure(error, "span"));
    }
    this.page.say(this.report.textContent);
    await this.refresh();
  }

  unmount() {
    clearInterval(this.timer);
  }
}

/** Returns the bar of a document (solid: kept from the previous one; hatched: the rest), and where the difference begins. */
function strip({ at_ms, bytes: size, tokens, kept_bytes, kept_tokens, first }) {
  const time = el("span.faint", clock(at_ms));
  if (kept_bytes === null) return el("li", time, ` ${count(tokens)} tokens, the first document`);
  const share = size ? Math.floor((100 * kept_bytes) / size) : 0;
  const kept = el("i");
  kept.style.width = `${share}%`;
  const name = first && visible(first.file ?? first.section ?? "");
  const place = first?.file ? el("a", { href: `#files/${encodeURIComponent(first.file)}` }, first.line ? `${name}:${first.line}` : name) : name;
  const difference = first ? [", first difference: ", place, ` ${first.reason}`] : [", nothing differs"];
  return el("li", time, sign("span.strip", kept), ` ${share}\u00a0%, ${count(kept_tokens)} kept of ${count(tokens)} tokens`, ...difference);
}
