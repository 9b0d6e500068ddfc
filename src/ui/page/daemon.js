// The view of the daemon: its status, and how long the steps of its answers take.

import { ask, el, fill, table } from "./dom.js";
import { bytes, clock, count, duration, micros } from "./format.js";

const POLL_MS = 2000;

export const daemon = {
  id: "daemon",
  title: "Daemon",
  mount(pane, page) {
    const body = el("div", { class: "sheet" });
    pane.append(el("h1", { text: "Daemon" }), body);
    const load = async () => {
      try {
        fill(body, ...content(await page.api.get("/v1/performance"), page));
      } catch (error) {
        fill(body, el("p", { class: "error", text: error.message }), el("p", { class: "hint", text: error.hint ?? "" }));
      }
    };
    const timer = setInterval(load, POLL_MS);
    return { show: load, refresh() {}, unmount: () => clearInterval(timer) };
  },
};

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
    const bar = el("i", { class: "bar-of", "aria-hidden": "true" });
    bar.style.width = `${(12 * span.max_us) / longest}em`;
    return [span.name, ...[count(span.count), micros(span.p50_us), micros(span.p99_us), micros(span.max_us)].map((text) => el("span", { class: "number", text })), bar];
  });
  const section = (title, ...parts) => el("section", {}, el("h2", { text: title }), ...parts);
  return [
    el(
      "div",
      { class: "columns" },
      el(
        "div",
        {},
        section("Status", table(["what", "now"], facts, "Status")),
        section("Sub-agent", table(["what", "now"], agentFacts(status.agent), "Sub-agent")),
        el("p", { class: "buttons" }, el("button", { id: "stop", class: "danger", onclick: () => stop(page), text: "Stop the daemon" })),
      ),
      section("How long the steps of answers take", table(["step", "count", "p50", "p99", "max", "of the longest"], rows, "Steps of answers", "figures")),
    ),
  ];
}

/** Returns what the sub-agent does, and what it has cost. */
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
