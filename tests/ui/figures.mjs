// Measures what the web page costs in a project of 80,000 made files, and prints the figures with their goals.
//
//   SLOP=… CHROMIUM=… node figures.mjs FOLDER [--minutes N] [--files N]
//
// The project is made in FOLDER, which is kept for the next run. For N minutes, by default 2, 200 files a second are written.
// Figures "of processor" are those of one core. All others are medians, or of what takes milliseconds the least of some
// rounds; they depend on the load of the machine, which is printed.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { cpus, loadavg } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { slopIn, startBrowser, ticket } from "./shared.mjs";

const options = { minutes: { type: "string", default: "2" }, files: { type: "string", default: "80000" } };
const { values, positionals } = parseArgs({ options, allowPositionals: true });
const [MINUTES, FILES] = [Number(values.minutes), Number(values.files)];
const PROJECT = resolve(positionals[0]);
const SIZE = { width: 1440, height: 900 };
const ROUNDS = 5;
const FRAMES = 120;
const FILTER = "unit_77/file";
/** Files that are written each second. */
const RATE = 200;
const DEADLINE_MS = 300_000;
/** The document without a limit has some 18 MB. */
const LARGE = { tier: 3, budget: "none" };

const slop = slopIn(PROJECT);
const median = (numbers) => [...numbers].sort((one, other) => one - other)[numbers.length >> 1];
const shownAs = (number) => (number < 100 ? number.toFixed(1) : Math.round(number).toLocaleString("en"));

const pathOf = (file) => {
  const folder = Math.floor(file / 18);
  return join(PROJECT, "src", `part_${Math.floor(folder / 20)}`, `unit_${folder}`, `file_${file}.py`);
};
/** Returns a text with so many lines more at its end. */
const textOf = (file, edit, more) => `"""Part ${file} of a made project."""\n\nLIMIT = ${edit}\n\n\ndef read_${file}(source, limit=LIMIT):\n    return source.read(limit)\n${"# more\n".repeat(more)}`;
const LINES = textOf(0, 0, 0).split("\n").length - 1;
const write = (file, edit, more = 0) => writeFileSync(pathOf(file), textOf(file, edit, more));
const writeSettings = () => writeFileSync(join(PROJECT, "slop.toml"), "# What is curated of a made project.\n");

function makeProject() {
  if (existsSync(join(PROJECT, ".git"))) return;
  for (let file = 0; file < FILES; file += 1) {
    mkdirSync(dirname(pathOf(file)), { recursive: true });
    write(file, 0);
  }
  writeSettings();
  const git = (...words) => execFileSync("git", ["-c", "user.name=slop", "-c", "user.email=slop@localhost", ...words], { cwd: PROJECT });
  git("init", "--quiet");
  git("add", ".");
  git("commit", "--quiet", "--message", "made");
}

/** Asks the daemon on the page's port. Returns how many bytes were sent, how long that took, and the text. */
function ask(path, body) {
  const headers = { "accept-encoding": "gzip", authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) };
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const asked = request(new URL(path, origin), { method: body ? "POST" : "GET", headers }, async (answer) => {
      const bytes = Buffer.concat(await answer.toArray());
      const took = performance.now() - began;
      const text = answer.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes;
      if (answer.statusCode === 200) resolve({ bytes: bytes.length, took, text: text.toString() });
      else reject(new Error(`${path}: ${answer.statusCode} ${text}`));
    });
    asked.on("error", reject);
    asked.end(body && JSON.stringify(body));
  });
}

/** Returns the processor time of a process in milliseconds. */
function processorOf(pid) {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ").slice(11, 13).map(Number);
  return (user + system) * 10;
}

/** Runs before the page's own modules: notes when its first rows are there, and what its worker is asked. */
function observe() {
  const seen = (globalThis.seen = { rows: 0, maps: [], long: [] });
  /** Waits until something is there, and returns when it was. */
  globalThis.until = (isThere) =>
    new Promise((done) => {
      const look = () => {
        if (!isThere()) return;
        observer.disconnect();
        done(performance.timeOrigin + performance.now());
      };
      const observer = new MutationObserver(look);
      observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
      look();
    });
  globalThis.timed = (act, began = performance.now()) => (act(), performance.now() - began);
  /** The row of the file that is edited. */
  globalThis.edited = () => [...document.querySelectorAll(".files .file")].find((row) => row.textContent.includes("file_0.py"));
  until(() => document.querySelector(".files .file")).then(() => (seen.rows = performance.now()));
  new PerformanceObserver((list) => seen.long.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: "longtask" });
  const Native = globalThis.Worker;
  globalThis.Worker = class extends Native {
    postMessage(message) {
      const began = performance.now();
      const map = { handed: timed(() => super.postMessage(message)) };
      seen.maps.push(map);
      this.addEventListener("message", () => (map.answered = performance.now() - began), { once: true });
    }
  };
}

const figures = [];
function add(name, value, goal, unit, note = "") {
  figures.push([name, `${shownAs(value)} ${unit}`, `${goal.toLocaleString("en")} ${unit}`, goal < value ? "**missed**" : "", note]);
  console.error(figures.at(-1).join("  "));
}

makeProject();
write(0, 0);
writeSettings();
slop("index");
slop("daemon", "start");
const { pid } = JSON.parse(slop("daemon", "status", "--json")).data;
const browser = await startBrowser(SIZE);
const page = await browser.newPage();
page.setDefaultTimeout(DEADLINE_MS);
const client = await page.createCDPSession();
const clientOfBrowser = await browser.target().createCDPSession();
await client.send("Performance.enable", { timeDomain: "threadTicks" });
await page.evaluateOnNewDocument(observe);
// First of all once, so that the daemon is warm.
const { origin } = new URL(ticket(slop));
await page.goto(ticket(slop));
await page.waitForFunction(() => seen.rows);
const token = await page.evaluate(() => sessionStorage.getItem("token"));

/** Returns what the page's thread has spent so far, in milliseconds of processor time. */
const spent = async () => 1000 * (await client.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value;
const frames = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const heapOf = async (session) => {
  await session.send("HeapProfiler.collectGarbage");
  return (await session.send("Runtime.getHeapUsage")).usedSize / 1e6;
};

/** Waits until the daemon has nothing to do, and the page no more questions than that for events. */
async function quiet() {
  await page.waitForNetworkIdle({ idleTime: 2000, concurrency: 1 });
  while (JSON.parse(slop("daemon", "status", "--json")).data.pending) await pause(100);
}

/** Opens the page anew, in a process that has shown another page of the daemon. Returns what its thread has spent before. */
async function openPage() {
  await page.goto(`${origin}/none`);
  const before = await spent();
  await page.goto(ticket(slop));
  await page.waitForFunction(() => seen.rows);
  return before;
}

const goTo = async (hash, selector) => {
  await page.evaluate((hash) => (location.hash = hash), hash);
  await page.waitForSelector(selector);
};

/** How many nodes each view has in the page. */
const nodes = {};
async function countNodes(view) {
  nodes[view] = await page.evaluate(() => document.evaluate("count(//node())", document, null, XPathResult.NUMBER_TYPE).numberValue);
}

/** Asks without a browser. */
async function measureAnswers() {
  const index = await ask("/");
  const [folder] = /\/ui\/[0-9a-f]+\//.exec(index.text);
  const sent = await Promise.all(["main.js", "map.js", "slop.css", "icon.svg"].map((name) => ask(folder + name)));
  add("page and its files, gzipped", sent.reduce((sum, { bytes }) => sum + bytes, index.bytes) / 1024, 40, "KB");
  const before = processorOf(pid);
  const answers = [];
  for (let round = 0; round < ROUNDS; round += 1) answers.push(await ask("/v1/table", { choice: { tier: 3 } }));
  add("table, gzipped", answers[0].bytes / 1024, 700, "KB");
  add("table answered, warm daemon", median(answers.map(({ took }) => took)), 250, "ms", `daemon: ${(processorOf(pid) - before) / ROUNDS} ms of processor`);
}

/** Opens the page without a cache, in a process that has shown another page of the daemon. */
async function measureOpening() {
  await page.setCacheEnabled(false);
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = await openPage();
    await frames();
    const processor = (await spent()) - before;
    rounds.push(await page.evaluate((processor) => [performance.getEntriesByName("first-contentful-paint")[0].startTime, seen.rows, processor], processor));
    await quiet();
  }
  const [paint, rows, processor] = [0, 1, 2].map((at) => median(rounds.map((round) => round[at])));
  add("first paint", paint, 200, "ms");
  add("rows to be seen", rows, 700, "ms");
  add("page’s thread until usable", processor, 250, "ms of processor");
}

/** Scrolls by a part of a screen each frame, and then to another place each frame. */
async function measureScrolling() {
  for (const [name, step] of [["scrolling", 130], ["scrolling, a new screen each frame", 15_000]]) {
    const before = await spent();
    const scroll = async (step, frames) => {
      const rows = document.querySelector(".files .rows");
      seen.long = [];
      for (let frame = 0; frame < frames; frame += 1) {
        rows.scrollTop += step;
        await new Promise(requestAnimationFrame);
      }
      rows.scrollTop = 0;
      return Math.max(0, ...seen.long);
    };
    const long = await page.evaluate(scroll, step, FRAMES);
    add(name, ((await spent()) - before) / FRAMES, 5, "ms of processor a frame", long ? `a task of ${Math.round(long)} ms` : "no task over 50 ms");
  }
}

/** Selects all files by two clicks. */
async function measureSelecting() {
  const scrollTo = (top) => page.evaluate((top) => (document.querySelector(".files .rows").scrollTop = top), top).then(frames);
  const took = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await scrollTo(0);
    await page.evaluate(() => document.querySelector(".files .file").click());
    await scrollTo(1e7);
    took.push(await page.evaluate(() => timed(() => [...document.querySelectorAll(".files .file")].at(-1).dispatchEvent(new MouseEvent("click", { bubbles: true, shiftKey: true })))));
  }
  add("shift-click", Math.min(...took), 10, "ms", await page.$eval("#selected", ({ textContent }) => textContent));
  await page.keyboard.press("Escape");
}

/** Types a filter letter by letter. */
async function measureFilter() {
  await page.focus("#filter");
  const type = (text) => {
    const field = document.querySelector("#filter");
    const set = (value) => timed(() => ((field.value = value), field.dispatchEvent(new Event("input"))));
    const took = [...text].map((_, at) => set(text.slice(0, at + 1)));
    set("");
    return took;
  };
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await page.evaluate(type, FILTER));
  const letters = [...FILTER].map((_, at) => Math.min(...rounds.map((round) => round[at])));
  add("filter, the slowest letter", Math.max(...letters), 15, "ms", `${Math.max(...rounds[0]).toFixed(1)} ms in the first round`);
}

/** Has the map of tokens laid out again for windows of other sizes. */
async function measureMap() {
  const answered = () => page.waitForFunction(() => seen.maps.at(-1)?.answered);
  await goTo("budget", ".budget .folder");
  await answered();
  for (let round = 0; round < ROUNDS; round += 1) {
    await page.setViewport({ ...SIZE, width: SIZE.width - 10 - 10 * (round % 2) });
    await frames();
    await answered();
  }
  const maps = (await page.evaluate(() => seen.maps)).slice(-ROUNDS);
  add("treemap, in its worker", median(maps.map((map) => map.answered)), 150, "ms", `the page’s thread hands it over in ${Math.min(...maps.map((map) => map.handed)).toFixed(1)} ms`);
  const heaps = [await heapOf(client), await heapOf(page.workers()[0].client)];
  add("JS heap, page and worker", heaps[0] + heaps[1], 60, "MB", heaps.map((heap) => `${heap.toFixed(1)} MB`).join(" and "));
  await countNodes("budget");
  await page.setViewport(SIZE);
}

/** Saves a file, and takes it out of the documents by the page, until its row shows it. */
async function measureEdits() {
  const [saves, edits] = [[], []];
  /** Notes how long something takes, and what the daemon spends on it. */
  const count = async (rounds, act) => {
    const before = processorOf(pid);
    rounds.push({ took: await act(), processor: processorOf(pid) - before });
  };
  await goTo("files", ".files .file");
  for (let round = 1; round <= ROUNDS; round += 1) {
    await quiet();
    const save = async () => {
      const shown = page.evaluate((lines) => until(() => edited().children[5].textContent === lines), String(LINES + round));
      const began = Date.now();
      write(0, round, round);
      return (await shown) - began;
    };
    await count(saves, save);
    await quiet();
    const edit = async (isOut) => {
      edited().click();
      const began = performance.timeOrigin + performance.now();
      document.querySelector(isOut ? "#batch-remove" : "#batch-agg").click();
      return (await until(() => (edited().querySelector(".shown").textContent === "–") === isOut)) - began;
    };
    await count(edits, () => page.evaluate(edit, Boolean(round % 2)));
  }
  for (const [name, rounds] of [["edit of what is curated", edits], ["saved file", saves]]) {
    const of = (key) => median(rounds.map((round) => round[key]));
    add(`${name}, until the table shows it`, of("took"), 150, "ms", `daemon: ${of("processor")} ms of processor`);
  }
}

/** Writes files all the time, and measures what the page and the daemon spend on that, and whether the page grows. */
async function measureBurst() {
  await quiet();
  const { processInfo } = await clientOfBrowser.send("SystemInfo.getProcessInfo");
  const renderers = processInfo.filter(({ type }) => type === "renderer").map(({ id }) => id);
  const heap = await heapOf(client);
  const before = [pid, ...renderers].map(processorOf);
  const began = Date.now();
  const passed = () => Date.now() - began;
  for (let written = 0; passed() < MINUTES * 60_000; await pause(20)) {
    for (const due = (passed() * RATE) / 1000; written < due; written += 1) write(1 + ((written * 7919) % (FILES - 1)), began + written);
  }
  const [ofDaemon, ...ofRenderers] = [pid, ...renderers].map((id, at) => (100 * (processorOf(id) - before[at])) / passed());
  // Only one of them shows the page.
  const ofPage = Math.max(...ofRenderers);
  await quiet();
  const after = await heapOf(client);
  add(`${RATE} changed files a second for ${MINUTES} minutes, the page`, ofPage, 2, "% of a core", `the daemon: ${ofDaemon.toFixed(0)} %`);
  add("JS heap of the page after that", after, 60, "MB", `${heap.toFixed(1)} MB before, so ${(after - heap).toFixed(1)} MB more`);
}

/** Opens the document without a limit, once before so that the daemon has composed it: on a page that has not shown it yet, and once more on the same. */
async function measureDocument() {
  await page.evaluate((choice) => sessionStorage.setItem("choice", JSON.stringify(choice)), LARGE);
  const open = async () => {
    await goTo("files", ".files .file");
    await quiet();
    return page.evaluate(async () => {
      const began = performance.timeOrigin + performance.now();
      location.hash = "document";
      return (await until(() => 9 < [...document.querySelectorAll(".document .line")].filter(({ textContent }) => textContent.trim()).length)) - began;
    });
  };
  const [first, again] = [[], []];
  for (let round = 0; round <= ROUNDS; round += 1) {
    await openPage();
    first.push(await open());
    again.push(await open());
    // A question that is broken off would count as one that is still open.
    await quiet();
  }
  await countNodes("document");
  const { bytes } = JSON.parse((await ask("/v1/document/open", { choice: LARGE })).text).data;
  add("document opened, first screen", median(first.slice(1)), 300, "ms", `${(bytes / 1e6).toFixed(1)} MB; the first time ${(first[0] / 1000).toFixed(1)} s`);
  add("document shown again", median(again), 300, "ms");
}

try {
  await measureAnswers();
  await measureOpening();
  await countNodes("files");
  await measureScrolling();
  await measureSelecting();
  await measureFilter();
  await measureMap();
  await measureEdits();
  await measureBurst();
  await measureDocument();
  add("nodes in the page", Math.max(...Object.values(nodes)), 1500, "", Object.entries(nodes).map(([view, count]) => `${view} ${count}`).join(", "));
  console.log(`${FILES} files, ${new Date().toISOString().slice(0, 10)}, ${await browser.version()}, ${cpus().length} cores, load ${loadavg().map(shownAs).join(" ")}\n`);
  for (const row of [["", "measured", "goal", "", ""], ["---", "--:", "--:", "---", "---"], ...figures]) console.log(`| ${row.join(" | ")} |`);
} finally {
  await browser.close();
  slop("daemon", "stop");
}
