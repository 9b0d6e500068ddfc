import { answer, same, test } from "./check.js";
import { apply, changesBetween, decode, folderOf, sums, visibleLines } from "./table.js";

const PATHS = ["a.c", "src/b.c", "src/c.rs", "src-x/d.c", "src/net/e.c", "tests/f.c"];
const table = decode(answer(PATHS));
const shown = (lines, of = table) => lines.map((line) => (line < 0 ? `${of.folders[-1 - line]}/` : of.paths[line]));

test("rows are paths, and columns are words", () => {
  same(table.paths, PATHS);
  same(table.columns.language.slice(0, 3), ["c", "rust", "c"]);
  same(PATHS.map((_, row) => table.folders[folderOf(table, row)]), ["", "src", "src", "src-x", "src/net", "tests"]);
});

test("what has changed replaces the values of its rows, and the sums", () => {
  const changed = decode(answer(PATHS));
  same(sums(changed, 1).tokens, 2 + 3 + 5);
  const delta = { ...answer(["x"], "2"), since: "1", rows: [2], states: ["new"], state: [0], tokens: [100] };
  same(apply(changed, delta).changed, [2]);
  same([changed.clock, changed.columns.state[2], changed.columns.state[1], changed.columns.tokens[2]], ["2", "new", "fresh", 100]);
  same(sums(changed, 1), { files: 3, tokens: 2 + 100 + 5, lines: 3 * 2 });
});

test("a whole answer replaces the table: a file that is gone is not kept", () => {
  const { table: next, changed } = apply(table, answer(["src/c.rs"], "3"));
  same([next.paths, changed, next.byPath.has("a.c")], [["src/c.rs"], null, false]);
});

test("a folded folder hides all that is in it, and nothing with a like name", () => {
  same(shown(visibleLines(table, new Set(["src"]))), ["/", "a.c", "src/", "src-x/", "src-x/d.c", "tests/", "tests/f.c"]);
  same(shown(visibleLines(table, new Set([""]))), ["/"]);
});

test("with a filter, folders without a match are left out, and folded ones show that they have one", () => {
  const only = (...wanted) => (row) => wanted.includes(table.paths[row]);
  same(shown(visibleLines(table, new Set(), only("src/net/e.c"))), ["src/net/", "src/net/e.c"]);
  same(shown(visibleLines(table, new Set(["src"]), only("src/net/e.c", "src-x/d.c"))), ["src/", "src-x/", "src-x/d.c"]);
  same(shown(visibleLines(table, new Set(["src"]), only("tests/f.c"))), ["tests/", "tests/f.c"]);
});

test("two tables are compared by what they show of each file, the largest difference first", () => {
  const before = decode({ ...answer(["a.c", "b.c", "c.c"]), tokens: [10, 20, 30] });
  const after = decode({ ...answer(["a.c", "b.c", "d.c"]), tokens: [10, 25, 90], view: [1, 0, 0] });
  same(changesBetween(before, after).map(({ path, from, to }) => [path, from.view, from.tokens, to.view, to.tokens]), [
    ["d.c", "left_out", 0, "full", 90],
    ["c.c", "full", 30, "left_out", 0],
    ["b.c", "full", 20, "full", 25],
    ["a.c", "full", 10, "skeleton", 10],
  ]);
});
