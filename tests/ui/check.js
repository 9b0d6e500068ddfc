// What the tests of the page's modules check with. A failed check is an exception that names the test.

let name = "";

/** Runs a test. @param {string} title @param {() => void} body */
export function test(title, body) {
  name = title;
  body();
}

/** Checks that two values are the same in JSON. */
export function same(got, wanted) {
  const [one, other] = [JSON.stringify(got), JSON.stringify(wanted)];
  if (one !== other) throw new Error(`${name}: ${one}, not ${other}`);
}

/** Checks that something holds. */
export function holds(condition, what) {
  if (!condition) throw new Error(`${name}: ${what}`);
}

/** Returns an answer of `/v1/table` about files, ordered by folder and name as the API orders them. */
export function answer(paths, clock = "1") {
  const folderOf = (path) => path.slice(0, Math.max(0, path.lastIndexOf("/")));
  const folders = [...new Set(paths.map(folderOf))];
  const starts = folders.map((folder) => paths.findIndex((path) => folderOf(path) === folder));
  const each = (value) => paths.map((_, row) => (typeof value === "function" ? value(row) : value));
  return {
    clock, since: null, choice: "tier 3", files: paths.length, folders, starts,
    names: paths.map((path) => `${path.slice(path.lastIndexOf("/") + 1)}\n`).join(""),
    languages: ["c", "rust"], states: ["fresh", "stale"], views: ["full", "skeleton"], rules: ["tier", "mask"], whys: ["", "no room"],
    language: each((row) => row % 2), state: each(0), view: each(0), wanted: each(0), rule: each(0), why: each(0),
    tokens: each((row) => row + 1), bytes: each(10), lines: each(2), agent_tiers: each(0), entry: each(-1),
    total: { tokens: 9, bytes: 90, budget_tokens: null }, exact: true,
  };
}
