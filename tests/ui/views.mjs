// Opens each view in both color schemes, checks it with axe-core, and takes a picture of it; see check.sh.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import upng from "upng-js";
import { slopIn, startBrowser, ticket } from "./shared.mjs";

const { PROJECT, OUT } = process.env;
const { FILE = "src/flask/app.py", SYMBOL = "add_ctx", TASK = "an error handler is not called for an exception in a teardown function" } = process.env;
const SIZE = { width: 1280, height: 800 };
/** Colors of a picture: more make it larger, and not better. */
const COLORS = 64;
const DEADLINE_MS = 180_000;
const AXE = readFileSync("node_modules/axe-core/axe.min.js", "utf8");

const slop = slopIn(PROJECT);

/** Each view: its name, how to get there, and what is there when it is complete. */
const VIEWS = [
  ["files", "location.hash = 'files'", "document.querySelectorAll('.files .file').length > 9"],
  ["inspector", `location.hash = 'files/${encodeURIComponent(FILE)}'`, "document.querySelector('#preview')?.textContent.length > 9 && document.querySelector('.current')"],
  ["slices", "document.querySelector('#tab-slices').click()", "document.querySelectorAll('.lines .line').length > 9"],
  ["why", "document.querySelector('#tab-why').click()", "document.querySelector('.rules')"],
  ["task", `(() => { location.hash = 'files'; const task = document.querySelector('#choice-task'); task.value = ${JSON.stringify(TASK)}; task.dispatchEvent(new Event('change')); })()`, "document.querySelectorAll('.hits li').length > 9"],
  ["document", "location.hash = 'document'", "document.querySelectorAll('.document .line').length > 9 && [1, 2, 3, 4].every(tier => /[0-9]$/.test(document.querySelector(`#tier-${tier}`).textContent))"],
  ["budget", "location.hash = 'budget'", "document.querySelectorAll('.budget .folder').length && !document.querySelector('.meter').textContent.startsWith('about')"],
  ["cache", "location.hash = 'cache'", "document.querySelectorAll('.strips li').length > 1 && document.querySelector('#verify')"],
  ["takes", "location.hash = 'takes'", "document.querySelectorAll('.states li').length > 3 && document.querySelector('.takes')"],
  ["daemon", "location.hash = 'daemon'", "document.querySelector('#stop')"],
];

const press = (key, held = "") => async (page) => {
  if (held) await page.keyboard.down(held);
  await page.keyboard.press(key);
  if (held) await page.keyboard.up(held);
};
const resize = (width, height) => (page) => page.setViewport({ width, height });
const goTo = (hash) => (page) => page.evaluate(`location.hash = '${hash}'`);
const AT_FILE = `files/${encodeURIComponent(FILE)}`;

/** What views look like in between, and in small windows; there are no pictures of it. */
const STATES = [
  ["a selection", [goTo("files"), press("a", "Control")], "document.querySelector('.list [aria-selected=true]')"],
  ["a menu", [(page) => page.click(".files .file", { button: "right" })], "document.querySelector('dialog.menu')"],
  ["the palette", [press("Escape"), press("Escape"), press("k", "Control"), (page) => page.keyboard.type("app")], "document.querySelectorAll('#palette-list li[id]').length > 2"],
  ["the keys", [press("Escape"), press("?")], "document.querySelector('dialog #colors')"],
  ["views of a file", [press("Escape"), goTo(AT_FILE), (page) => page.click("#tab-views")], "document.querySelector('#inspector-body').textContent.length > 99"],
  ["what was seen of a file", [(page) => page.click("#tab-seen")], "document.querySelector('#inspector-body').textContent.length > 9"],
  ["a filter that nothing fits", [goTo("files"), (page) => page.type("#filter", "no such file")], "document.querySelector('.empty').textContent.includes('No file')"],
  ["a question", [goTo("cache"), (page) => page.waitForSelector("#verify"), (page) => page.evaluate("[...document.querySelectorAll('.sheet button')].find((button) => button.textContent.startsWith('Clear everything')).click()")], "document.querySelector('dialog form')"],
  ["files on a phone", [press("Escape"), resize(360, 640), goTo("files")], "document.querySelectorAll('.files .file').length || document.querySelector('.empty')"],
  ["a file on a phone", [goTo(AT_FILE)], "document.querySelector('#inspector-pane:not([hidden])')"],
  ["the document on a phone", [goTo("document")], "document.querySelectorAll('.document .line').length > 9"],
  ["the budget on a phone", [goTo("budget")], "document.querySelectorAll('.budget .folder').length"],
  ["takes on a phone", [goTo("takes")], "document.querySelectorAll('.states li').length > 3"],
  ["the daemon at a zoom of 400 %", [resize(320, 256), goTo("daemon")], "document.querySelector('#stop')"],
];

/** Curates something, and gives agents documents, so that there is something to see. */
function prepare() {
  slop("index");
  slop("mask", "set", FILE, `${SYMBOL}=def`);
  slop("slice", "add", FILE, "17-29", "--tag", "imports", "--comment", "all of Werkzeug");
  slop("item", "set", "README.md", "--force-full");
  slop("take", "create", "for review");
  slop("aggregate", "--tier", "3", "--name", "worker", "--stdout");
  writeFileSync(join(PROJECT, FILE), `${readFileSync(join(PROJECT, FILE), "utf8")}\n`);
  slop("aggregate", "--tier", "3", "--name", "worker", "--stdout");
  slop("daemon", "start");
}

/** Returns what axe-core finds wrong with the page as it is. */
async function violations(page) {
  await page.evaluate(AXE);
  const found = await page.evaluate("axe.run(document, { resultTypes: ['violations'] })");
  return found.violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(" | ")}`);
}

async function picture(page, name) {
  const png = await page.screenshot();
  const image = upng.decode(png.buffer.slice(png.byteOffset, png.byteOffset + png.length));
  writeFileSync(join(OUT, `${name}.png`), Buffer.from(upng.encode(upng.toRGBA8(image), image.width, image.height, COLORS)));
}

prepare();
const browser = await startBrowser(SIZE);
const complaints = [];
for (const scheme of ["light", "dark"]) {
  const page = await browser.newPage();
  page.setDefaultTimeout(DEADLINE_MS);
  page.on("console", (message) => message.type() === "error" && complaints.push(`${scheme}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`${scheme}: ${error.message}`));
  await page.evaluateOnNewDocument(`localStorage.setItem('colors', '${scheme}')`);
  await page.goto(ticket(slop));
  for (const [name, open, isComplete] of VIEWS) {
    await page.waitForFunction("document.querySelector('#live').textContent.includes('live')");
    await page.evaluate(open);
    await page.waitForFunction(`Boolean(${isComplete})`, { polling: 100 }).catch(() => complaints.push(`${name} in ${scheme}: not complete`));
    complaints.push(...(await violations(page)).map((violation) => `${name} in ${scheme}: ${violation}`));
    await picture(page, `${name}-${scheme}`);
  }
  for (const [name, acts, isComplete] of STATES) {
    for (const act of acts) await act(page);
    await page.waitForFunction(`Boolean(${isComplete})`, { polling: 100, timeout: 20_000 }).catch(() => complaints.push(`${name} in ${scheme}: not complete`));
    complaints.push(...(await violations(page)).map((violation) => `${name} in ${scheme}: ${violation}`));
  }
  await page.close();
}
await browser.close();
for (const complaint of complaints) console.error(complaint);
console.log(`${VIEWS.length} views and ${STATES.length} states of them in both schemes: ${complaints.length} complaints`);
process.exit(complaints.length ? 1 : 0);
