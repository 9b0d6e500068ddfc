// The state that all views share: the API, the table of files, the selection, the document's settings, and the curation.

import { connect } from "./api.js";
import { showChoice, showHistoryButtons, showLive } from "./bar.js";
import { byId, el, fill } from "./dom.js";
import { forget } from "./door.js";
import { Pick } from "./pick.js";
import { apply, decode } from "./table.js";

/** The minimum interval between announcements for screen readers. */
const SAID_MS = 1000;
/** The delay after the last change before the document is composed, for exact numbers of a large project; */
const MEASURE_MS = 500;
/** and at least this many times as long as that took the last time. */
const MEASURE_PAUSES = 4;
/** The tier if neither the page nor `slop.toml` has one. */
const DEFAULT_TIER = 3;

export class Page {
  /** @param {string} token @param {() => void} showView shows the view of the URL */
  constructor(token, showView) {
    this.showView = showView;
    this.api = connect(token, (answer) => this.answered(answer));
    this.isConnected = true;
    /** The views that are kept while hidden, by class. */
    this.kept = new Map();
    this.partial = null;
    /** Whether all files were compared for the last answer, not only those reported by events. */
    this.isCompared = true;
    this.asOf = Date.now();
    /** The state of the files view while another one is shown. */
    this.folded = new Set();
    this.filterText = "";
    this.pick = new Pick();
    /** @type {import("./table.js").Table|null} */
    this.table = null;
    /** The number of requests for the table, and the latest one that was answered. */
    this.asked = 0;
    this.answeredLast = 0;
    this.curation = null;
    this.writes = 0;
    this.changedAt = new Map();
    this.letters = localStorage.getItem("letters") !== "off";
    /** The choices on this page; open ones default to `[document]` in slop.toml. */
    this.chosen = JSON.parse(sessionStorage.getItem("choice") ?? "{}");
    this.lastSaid = 0;
  }

  /** Returns `[document]` of slop.toml. */
  get defaults() {
    return this.curation?.document ?? {};
  }

  /** Returns the tier of documents; null for a persona without one. */
  get tier() {
    return this.chosen.tier || this.tierWithout();
  }

  /** Returns the tier of documents if none is chosen on the page. */
  tierWithout() {
    const tierOf = (name) => this.curation?.personas.find((saved) => saved.persona.name === name)?.persona.tier ?? null;
    if (this.chosen.persona) return tierOf(this.chosen.persona);
    return this.defaults.tier ?? (this.defaults.persona ? tierOf(this.defaults.persona) : DEFAULT_TIER);
  }

  /** Returns the document's settings in the format of the API. @param {object} [instead] replaces the choices on the page */
  choice(instead = this.chosen) {
    const { tier, budget: limit, focus, task, persona, preset } = instead;
    const isOpen = !persona && !this.defaults.tier && !this.defaults.persona;
    const choice = {};
    if (tier || isOpen) choice.tier = tier || DEFAULT_TIER;
    if (persona) choice.persona = persona;
    if (preset) choice.preset = preset;
    if (limit || limit === 0) choice.budget = limit || "none";
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

  /** Writes the choices to `[document]` in slop.toml, and resets them on the page. The task is only for this page. */
  async keepChoice() {
    const { tier, persona, preset, focus, budget } = this.chosen;
    const to = { tier: tier || undefined, persona: persona || undefined, preset: preset || undefined, focus: focus ? words(focus) : undefined, budget_tokens: budget ?? undefined };
    if (await this.edit("defaults of documents", [{ document: { to } }])) await this.resetChoice();
  }

  /** Resets the choices to those of slop.toml. */
  resetChoice() {
    return this.choose({ tier: null, persona: "", preset: "", focus: "", budget: null });
  }

  /** Announces a text to screen readers. @param {string} text */
  say(text) {
    const wait = Math.max(0, this.lastSaid + SAID_MS - Date.now());
    clearTimeout(this.saying);
    this.saying = setTimeout(() => {
      this.lastSaid = Date.now();
      byId("said").textContent = text;
    }, wait);
  }

  /** Records whether an answer reflects the current state of all files. */
  answered({ command, freshness, reason }) {
    if (command !== "table") return;
    this.isCompared = freshness !== "stale";
    if (!this.isCompared) return;
    this.asOf = Date.now();
    this.partial = freshness && freshness !== "fresh" ? (reason ?? freshness) : null;
    this.showState();
  }

  showState() {
    showLive({ isConnected: this.isConnected, since: this.asOf, partial: this.partial });
  }

  /** Requests the table: all of it, or the changes since the current one. @param {boolean} trustsEvents */
  async loadTable(trustsEvents) {
    const since = this.table?.clock ?? null;
    const number = (this.asked += 1);
    const answer = await this.api.post("/v1/table", { choice: this.choice(), since, trust_events: trustsEvents });
    // Exact numbers take long: the answer to a later request may have arrived already.
    if (number < this.answeredLast) return this.table;
    this.answeredLast = number;
    const now = Date.now();
    // Another answer came in between: the changes since then are less than the whole table.
    if (answer.rows && answer.since !== this.table.clock) return this.loadTable(trustsEvents);
    if (answer.rows) {
      const wasExact = this.table.exact;
      const { changed } = apply(this.table, answer);
      // Replacing an estimate is not a change of a file.
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
    // It was edited in the meantime, so this answer is older than the revision that the next edit has to name.
    if (writes !== this.writes) return this.loadCuration();
    this.curation = curation;
    showHistoryButtons(this);
    if (offered(before) !== offered(this.curation)) showChoice(this);
    return this.curation;
  }

  /** Returns how many entries an edit would write. */
  async plan(edits, signal) {
    const { revision } = this.curation ?? (await this.loadCuration());
    return this.api.post("/v1/curation/edit", { revision, label: "", edits, dry_run: true }, signal);
  }

  /** Edits the curation. Returns what was written, or null if that failed. */
  edit(label, edits) {
    return this.write("/v1/curation/edit", { label, edits }, (done) => `${label}: ${done.entries_written} entries written, ${done.files_affected} files affected`);
  }

  /** Goes to another state of slop.toml. @param {"undo"|"redo"|"jump"} way @param {number} [to] */
  travel(way, to) {
    return this.write(`/v1/${way}`, { to }, ({ entry }) => `now: ${entry.label}`);
  }

  /** Changes the takes. @param {{do: string, name: string, from?: string, to?: string, force?: boolean}} change */
  changeTakes(change) {
    return this.write("/v1/takes/edit", change, ({ current }) => `current take: ${current}`);
  }

  /** Writes edits one after another: each names the revision that the previous one created. */
  write(path, body, said) {
    this.writing = (this.writing ?? Promise.resolve()).then(() => this.writeNow(path, body, said));
    return this.writing;
  }

  async writeNow(path, body, said) {
    try {
      const { revision } = this.curation ?? (await this.loadCuration());
      const done = await this.api.post(path, { revision, ...body });
      this.say(said(done));
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

  /** Reloads everything that may have changed. */
  async reload(changes = new Set(["changed", "curation"])) {
    const began = performance.now();
    const isLast = changes.has("exact");
    try {
      // The defaults for the document's settings have to be known first.
      if (!this.curation) await this.loadCuration();
      const asked = JSON.stringify(this.choice());
      await Promise.all([this.loadTable(!isLast), changes.has("curation") && this.loadCuration()]);
      if (asked !== JSON.stringify(this.choice())) await this.loadTable(!isLast);
      if (this.isStale) this.fail(null);
      this.isStale = false;
    } catch (error) {
      this.isStale = true;
      this.fail(error);
    }
    this.shown?.refresh(changes);
    // In a large project, estimates for the files reported by events come first; when the table is requested again, numbers
    // are exact, and all files are compared.
    clearTimeout(this.measuring);
    const isEstimated = !this.isStale && (!this.isCompared || (!this.table.exact && !this.table.problem));
    if (isLast) this.measured = performance.now() - began;
    const pause = Math.max(MEASURE_MS, MEASURE_PAUSES * (this.measured ?? 0));
    if (isEstimated) this.measuring = setTimeout(() => this.reload(new Set(["exact"])), pause);
  }

  /** Shows an error above everything, or removes it. */
  fail(error) {
    const banner = byId("banner");
    banner.hidden = !error;
    if (!error) return;
    if (error.status === 401) {
      forget();
      return fill(banner, "This session has ended. Run ", el("code", "slop ui"), " for a new one.");
    }
    const again = error.status === 0 || !this.table;
    fill(
      banner,
      el("span", error.message),
      error.hint ? el("span.hint", error.hint) : "",
      again ? el("button", { onclick: () => this.reload() }, "Try again") : el("button", { onclick: () => this.fail(null) }, "Close"),
    );
  }

  /** Navigates within the page before the next key is handled: the browser's event comes later. */
  go(hash) {
    location.hash = hash;
    this.showView();
  }

  /** Goes to a file. @param {string} path */
  inspect(path) {
    this.go(`files/${encodeURIComponent(path)}`);
  }
}

/** Returns the data that the fields of the choice depend on. */
const offered = (curation) => JSON.stringify(curation && [curation.document, curation.take, curation.takes, curation.presets.map(({ preset }) => preset.name), curation.personas.map(({ persona }) => persona)]);

/** Splits a text at commas. */
const words = (text) => text.split(/\s*,\s*/).filter(Boolean);
