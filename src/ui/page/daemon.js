// The view of the daemon: its status, and how long the steps of its answers take.

import { ask, el, failure, fill, section, sign, table } from "./dom.js";
import { bytes, clock, count, duration, micros } from "./format.js";

/** The polling interval for the daemon's status. */
const STATUS_MS = 2000;

export class DaemonView {
  static id = "daemon";
  static title = "Daemon";

  constructor(page) {
    this.page = page;
    this.body = el("div.sheet");
    this.element = el("div.paper", el("h1", "Daemon"), this.body);
    this.timer = setInterval(() => this.show(), STATUS_MS);
  }

  async show() {
    try {
      fill(this.body, ...content(await this.page.api.get("/v1/performance"), this.page));
    } catch (error) {
      fill(this.body, failure(error));
    }
  }

  refresh() {
    // The status changes all the time, independently of events.
  }

  unmount() {
    clearInterval(this.timer);
  }
}

function content({ spans, status }, page) {
  const audit = status.last_audit ? `${count(status.last_audit.differences ?? 0)} differences, ${clock(status.last_audit.at_ms ?? status.started_at_ms)}` : "none yet";
  const facts = [
    ["process", `${status.pid}, slop ${status.version}, up ${duration(status.uptime_ms)}`],
    ["watches", status.mode === "events" || status.watches ? `${count(status.watches)} folders by events` : `no events: ${status.reason}`],
    ["clock", status.clock],
    ["pending", `${count(status.pending)} files, ${count(status.queue_waiting)} queries`],
    ["answers", count(status.answers)],
    ["events", `${count(status.events)}, ${count(status.missed)} missed, ${count(status.overflows)} overflows`],
    ["memory", status.rss_bytes ? bytes(status.rss_bytes) : "unknown"],
    ["last audit", audit],
    ["settings", status.settings_problems?.length ? status.settings_problems.join("; ") : "no problems"],
  ];
  const longest = Math.max(1, ...spans.map((span) => span.max_us));
  const rows = spans.map((span) => {
    const bar = sign("i.bar-of");
    bar.style.width = `${(12 * span.max_us) / longest}em`;
    return [span.name, ...[count(span.count), micros(span.p50_us), micros(span.p99_us), micros(span.max_us)].map((text) => el("span.number", text)), bar];
  });
  return [
    el(
      "div.columns",
      el(
        "div",
        section("Status", table(["what", "now"], facts, "Status")),
        section("Sub-agent", table(["what", "now"], agentFacts(status.agent), "Sub-agent")),
        el("p.buttons", el("button#stop.danger", { onclick: () => stop(page) }, "Stop the daemon")),
      ),
      section("How long the steps of answers take", table(["step", "count", "p50", "p99", "max", "of the longest"], rows, "Steps of answers", "figures")),
    ),
  ];
}

/** Returns the status of the sub-agent, and its cost. */
function agentFacts(agent) {
  const money = (spent, cap) => `$${spent} of $${cap}`;
  return [
    ["state", `${agent.state}${agent.reason ? `: ${agent.reason}` : ""}`],
    ["models", agent.models.join(", ") || "none"],
    ["written", `${count(agent.done)} of ${count(agent.ready)}; ${count(agent.waiting)} waiting, ${count(agent.in_flight)} being written, ${count(agent.refused)} refused`],
    ["spent today", money(agent.spent_today_usd, agent.cap_day_usd)],
    ["spent in all", money(agent.spent_total_usd, agent.cap_total_usd)],
  ];
}

async function stop(page) {
  const question = { title: "Stop the daemon?", text: "This page ends with it. `slop ui` starts it again.", confirm: "Stop the daemon" };
  if (!(await ask(question))) return;
  try {
    await page.api.post("/v1/stop", {});
  } catch (error) {
    page.fail(error);
  }
}
