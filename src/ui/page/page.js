// What all views share: the API, the table of files, the selection, what documents are made for, and what is curated.

import { connect } from "./api.js";
import { showChoice, showHistoryButtons, showLive } from "./bar.js";
import { byId, el, fill } from "./dom.js";
import { forget } from "./door.js";
import { Pick } from "./pick.js";
import { apply, decode } from "./table.js";

/** At most so often something is said to those who do not see the page. */
const SAID_MS = 1000;
/** So long after the last change the document is composed, for exact numbers of a large project. */
const MEASURE_MS = 500;
/** The tier, where neither the page nor `slop.toml` has one. */
const DEFAULT_TIER = 3;

export class Page {
  constructor(token) {
    this.api = connect(token, (answer) => this.answered(answer));
    this.isConnected = true;
    this.partial = null;
    this.asOf = Date.now();
    /** What the view of files keeps while another one is shown. */
    this.folded = new Set();
    this.filterText = "";
    this.pick = new Pick();
    /** @type {import("./table.js").Table|null} */
    this.table = null;
    this.curation = null;
    this.writes = 0;
    this.changedAt = new Map();
    this.letters = localStorage.getItem("letters") !== "off";
    /** What was chosen on this page; what is left open is what `[document]` of slop.toml says. */
    this.chosen = JSON.parse(sessionStorage.getItem("choice") ?? "{}");
    this.lastSaid = 0;
  }

  /** Returns `[document]` of slop.toml. */
  get defaults() {
    return this.curation?.document ?? {};
  }

  /** Returns the tier that documents are made for; null for a persona without one. */
  get tier() {
    return this.chosen.tier || this.tierWithout();
  }

  /** Returns the tier that documents are made for if none is chosen on the page. */
  tierWithout() {
    const tierOf = (name) => this.curation?.personas.find((saved) => saved.persona.name === name)?.persona.tier ?? null;
    if (this.chosen.persona) return tierOf(this.chosen.persona);
    return this.defaults.tier ?? (this.defaults.persona ? tierOf(this.defaults.persona) : DEFAULT_TIER);
  }

  /** Returns what the document is made for, as the API takes it. @param {object} [instead] what is chosen, if it is not what the page shows */
  choice(instead = this.chosen) {
    const { tier, budget: limit, focus, task, persona, preset } = instead;
    const isOpen = !persona && !this.defaults.tier && !this.defaults.persona;
    const choice = {};
    if (tier || isOpen) choice.tier = tier || DEFAULT_TIER;
    if (persona) choice.persona = persona;
    if (preset) choice.preset = preset;
    if (limit || limit === 0) choice.budget = limit;
    if (focus) choice.focus = words(focus);
    if (task) choice.task = task;
    return choice;
  }

  async choose(part) {
    Object.assign(this.chosen, part);
    sessionStorage.setItem("choice", JSON.stringify(this.chosen));
    showChoice(this);
    await this.reload();
  }

  /** Writes what was chosen into `[document]` of slop.toml, and follows that again. The task is of this page alone. */
  async keepChoice() {
    const { tier, persona, preset, focus, budget } = this.chosen;
    const to = { tier: tier || undefined, persona: persona || undefined, preset: preset || undefined, focus: focus ? words(focus) : undefined, budget_tokens: budget ?? undefined };
    if (await this.edit("defaults of documents", [{ document: { to } }])) await this.resetChoice();
  }

  /** Follows slop.toml again. */
  resetChoice() {
    return this.choose({ tier: null, persona: "", preset: "", focus: "", budget: null });
  }

  /** Says something to those who do not see it. @param {string} text */
  say(text) {
    const wait = Math.max(0, this.lastSaid + SAID_MS - Date.now());
    clearTimeout(this.saying);
    this.saying = setTimeout(() => {
      this.lastSaid = Date.now();
      byId("said").textContent = text;
    }, wait);
  }

  /** Notes whether an answer was about all files as they are. */
  answered({ command, freshness, reason }) {
    if (command !== "table") return;
    this.asOf = Date.now();
    this.partial = freshness && freshness !== "fresh" ? (reason ?? freshness) : null;
    this.showState();
  }

  showState() {
    showLive({ isConnected: this.isConnected, since: this.asOf, partial: this.partial });
  }

  /** Asks for the table: all of it, or what has changed since the one that is here. */
  async loadTable(isWhole = false) {
    const since = isWhole ? null : (this.table?.clock ?? null);
    const answer = await this.api.post("/v1/table", { choice: this.choice(), since });
    const now = Date.now();
    if (answer.rows && answer.since !== this.table?.clock) return this.loadTable(true);
    if (answer.rows) {
      const wasExact = this.table.exact;
      const { changed } = apply(this.table, answer);
      // What an estimate is replaced by is no change of a file.
      if (wasExact) for (const row of changed ?? []) this.changedAt.set(this.table.paths[row], now);
    } else {
      this.table = decode(answer);
      this.pick.retain(this.table);
    }
    return this.table;
  }

  async loadCuration() {
    const [before, writes] = [this.curation, this.writes];
    const curation = await this.api.get("/v1/curation");
    // It was edited meanwhile: what came is older than the revision that the next edit has to name.
    if (writes !== this.writes) return this.loadCuration();
    this.curation = curation;
    showHistoryButtons(this);
    if (offered(before) !== offered(this.curation)) showChoice(this);
    return this.curation;
  }

  /** Edits what is curated. Returns what was written, or null if it could not be. */
  async edit(label, edits) {
    return this.write(async (revision) => {
      const done = await this.api.post("/v1/curation/edit", { revision, label, edits });
      this.say(`${label}: ${done.entries_written} entries written, ${done.files_affected} files affected`);
      return done;
    });
  }

  /** Returns how many entries an edit would write. */
  async plan(edits, signal) {
    const { revision } = this.curation ?? (await this.loadCuration());
    return this.api.post("/v1/curation/edit", { revision, label: "", edits, dry_run: true }, signal);
  }

  /** Goes to another state of slop.toml. @param {"undo"|"redo"|"jump"} way @param {number} [to] */
  async travel(way, to) {
    return this.write(async (revision) => {
      const moved = await this.api.post(`/v1/${way}`, way === "jump" ? { revision, to } : { revision });
      this.say(`now: ${moved.entry.label}`);
      return moved;
    });
  }

  /** Changes the takes. @param {{do: string, name: string, from?: string, to?: string, force?: boolean}} change */
  async changeTakes(change) {
    return this.write(async (revision) => {
      const done = await this.api.post("/v1/takes/edit", { revision, ...change });
      this.say(`current take: ${done.current}`);
      return done;
    });
  }

  /** Writes one edit after the other: each names the revision that the one before has made. */
  write(work) {
    this.writing = (this.writing ?? Promise.resolve()).then(() => this.writeNow(work));
    return this.writing;
  }

  async writeNow(work) {
    try {
      const { revision } = this.curation ?? (await this.loadCuration());
      const done = await work(revision);
      this.writes += 1;
      this.curation.revision = done.revision;
      this.reload();
      return done;
    } catch (error) {
      if (error.code === "revision_moved") {
        await this.reload();
        this.fail({ message: "slop.toml was edited elsewhere; nothing was overwritten.", hint: "The page shows the new state: make the edit again if it is still wanted." });
      } else this.fail(error);
      return null;
    }
  }

  /** Gets everything again that may have changed. */
  async reload(changes = new Set(["changed", "curation"])) {
    try {
      // What a document is made for where the page leaves it open has to be known first.
      if (!this.curation) await this.loadCuration();
      const asked = JSON.stringify(this.choice());
      await Promise.all([this.loadTable(), this.loadCuration()]);
      if (asked !== JSON.stringify(this.choice())) await this.loadTable();
      if (this.isStale) this.fail(null);
      this.isStale = false;
    } catch (error) {
      this.isStale = true;
      this.fail(error);
    }
    this.shown?.refresh(changes);
    // Of a large project, estimates come first; they are exact when they are asked for again.
    clearTimeout(this.measuring);
    const isEstimated = !this.isStale && !this.table.exact && !this.table.problem;
    if (isEstimated) this.measuring = setTimeout(() => this.reload(new Set(["exact"])), MEASURE_MS);
  }

  /** Shows an error above everything, or removes it. */
  fail(error) {
    const banner = byId("banner");
    banner.hidden = !error;
    if (!error) return;
    if (error.status === 401) {
      forget();
      fill(banner, "This session has ended. Run ", el("code", { text: "slop ui" }), " for a new one.");
      return;
    }
    const again = error.status === 0 || !this.table;
    fill(
      banner,
      el("span", { text: error.message }),
      error.hint ? el("span", { class: "hint", text: error.hint }) : "",
      again ? el("button", { text: "Try again", onclick: () => this.reload() }) : el("button", { text: "Close", onclick: () => this.fail(null) }),
    );
  }

  go(hash) {
    location.hash = hash;
  }
}

/** Returns what the fields of the choice depend on. */
const offered = (curation) => JSON.stringify(curation && [curation.document, curation.take, curation.takes, curation.presets.map(({ preset }) => preset.name), curation.personas.map(({ persona }) => persona)]);

/** Returns the parts of a text between commas. */
const words = (text) => text.split(/\s*,\s*/).filter(Boolean);
