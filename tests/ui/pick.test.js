import { answer, same, test } from "./check.js";
import { lineNamed, nameOf, Pick } from "./pick.js";
import { decode, visibleLines } from "./table.js";

const PATHS = ["a.c", "src/b.c", "src/c.rs", "src/net/d.c", "tests/e.c"];
const table = decode(answer(PATHS));
const open = new Set();
const lines = visibleLines(table, open);
const file = (path) => table.byPath.get(path);
const folder = (name) => -1 - table.folders.indexOf(name);

test("a click selects one file, or all that is in a folder", () => {
  const pick = new Pick();
  pick.only(table, file("a.c"));
  same([...pick.paths], ["a.c"]);
  pick.only(table, folder("src"));
  same([...pick.paths], ["src/b.c", "src/c.rs", "src/net/d.c"]);
});

test("a range goes either way, and an open folder in it is only its files in the range", () => {
  const pick = new Pick();
  pick.only(table, file("src/c.rs"));
  pick.range(table, lines, file("a.c"), open);
  same([...pick.paths].sort(), ["a.c", "src/b.c", "src/c.rs"]);
  pick.range(table, lines, file("src/net/d.c"), open);
  same([...pick.paths], ["src/c.rs", "src/net/d.c"]);
});

test("a folded folder in a range counts with all that is in it", () => {
  const folded = new Set(["src"]);
  const pick = new Pick();
  pick.only(table, file("a.c"));
  pick.range(table, visibleLines(table, folded), file("tests/e.c"), folded);
  same(pick.size, 5);
  pick.clear();
  pick.all(table, visibleLines(table, folded), folded);
  same(pick.size, 5);
});

test("Ctrl takes off what is selected, and adds what is not", () => {
  const pick = new Pick();
  pick.toggle(table, folder("src"));
  pick.toggle(table, file("src/c.rs"));
  same([...pick.paths], ["src/b.c", "src/net/d.c"]);
  pick.toggle(table, folder("src"));
  same(pick.size, 3);
});

test("the selection is of paths: it means the same files when rows have moved, and none that are gone", () => {
  const pick = new Pick();
  pick.only(table, file("src/c.rs"));
  pick.toggle(table, file("tests/e.c"));
  const next = decode(answer(["0.c", "a.c", "src/b.c", "src/c.rs", "src/d.rs"]));
  pick.retain(next);
  same([...pick.paths], ["src/c.rs"]);
  same(pick.ranges(next), [[3, 3]]);
  same(next.paths[lineNamed(next, "src/c.rs")], "src/c.rs");
  same(lineNamed(next, "tests/e.c") ?? null, null);
  same(nameOf(next, lineNamed(next, "src/")), "src/");
});

test("rows in a row are one range", () => {
  const pick = new Pick();
  for (const path of ["a.c", "src/b.c", "src/net/d.c"]) pick.toggle(table, file(path));
  same(pick.ranges(table), [[0, 1], [3, 3]]);
});
