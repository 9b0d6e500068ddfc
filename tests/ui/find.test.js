import { answer, same, test } from "./check.js";
import { best, matcher } from "./find.js";
import { decode } from "./table.js";

const table = decode(answer(["README.md", "src/net/tcp.c", "src/net/tcp_input.c", "src/tree.rs"]));
const found = (text) => table.paths.filter((_, row) => matcher(text)(table)(row));

test("letters in their order, words together, and a part with a slash or a dot as a whole", () => {
  same(found("tcpi"), ["src/net/tcp_input.c"]);
  same(found("net tcp"), ["src/net/tcp.c", "src/net/tcp_input.c"]);
  same(found("tcp.c"), ["src/net/tcp.c"]);
  same(found("zz"), []);
  same(matcher("  "), null);
});

test("capital letters are meant when they are typed", () => {
  same(found("readme"), ["README.md"]);
  same(found("README"), ["README.md"]);
  same(found("TCP"), []);
});

test("columns are filtered by their names", () => {
  same(found("lang:rust"), ["src/net/tcp.c", "src/tree.rs"]);
  same(found("lang:rust tree"), ["src/tree.rs"]);
  same(found("state:stale"), []);
});

test("names count before folders, and whole names before parts", () => {
  const texts = ["tcp/other.c", "src/net/tcp_input.c", "src/net/tcp.c", "src/the_copy.c", "tcp.c"];
  same(best(texts, "tcp.c", 3).map((at) => texts[at]), ["tcp.c", "src/net/tcp.c"]);
  same(best(texts, "tcp", 9).map((at) => texts[at]), ["tcp.c", "src/net/tcp.c", "src/net/tcp_input.c", "tcp/other.c", "src/the_copy.c"]);
});
