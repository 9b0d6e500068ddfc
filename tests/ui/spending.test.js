import { spending } from "./spending.js";
import { decode } from "./table.js";
import { answer, same, test } from "./check.js";

const paths = ["a.c", "src/b.c", "src/deep/c.c", "src/deep/d.c", "srcs/e.c"];
const table = decode(answer(paths));
const shown = (state) => spending(table, { zoom: "", opened: new Set(), key: "tokens", isAscending: false, ...state }).map(({ path, depth, tokens }) => [path, depth, tokens]);

test("folders have the sums of all that is in them, the largest first", () => {
  same(shown({}), [["src", 0, 9], ["srcs", 0, 5], ["a.c", 0, 1]]);
});

test("what is in an opened folder follows it, one step deeper", () => {
  same(shown({ opened: new Set(["src", "src/deep"]) }), [["src", 0, 9], ["src/deep", 1, 7], ["src/deep/d.c", 2, 4], ["src/deep/c.c", 2, 3], ["src/b.c", 1, 2], ["srcs", 0, 5], ["a.c", 0, 1]]);
});

test("a folder that is zoomed into shows its own parts alone", () => {
  same(shown({ zoom: "src", key: "name", isAscending: true }), [["src/b.c", 0, 2], ["src/deep", 0, 7]]);
});

test("files without tokens are not listed", () => {
  const none = decode({ ...answer(paths), tokens: [0, 2, 0, 0, 0] });
  same(spending(none, { zoom: "", opened: new Set(["src"]), key: "tokens", isAscending: false }).map(({ path }) => path), ["src", "src/b.c"]);
});
