import { same, test } from "./check.js";
import { parseEvent } from "./api.js";
import { plural, visible } from "./format.js";

test("what could hide or reorder text is written out", () => {
  same(visible("a\u202eb\u200bc\n\u001b[0m"), "a<U+202E>b<U+200B>c␊␛[0m");
  same(visible("a\n\tb\u202e", true), "a\n\tb<U+202E>");
});

test("one file, two entries", () => same([plural(1, "file"), plural(2, "file"), plural(1, "entry"), plural(1200, "entry")], ["1 file", "2 files", "1 entry", "1,200 entries"]));

test("an event has its kind, its id, and its data", () => {
  same(parseEvent('event: changed\nid: 7\ndata: {"paths":\ndata: ["a"]}'), { kind: "changed", id: "7", data: { paths: ["a"] } });
  same(parseEvent(": a comment"), { kind: "", id: "", data: null });
});
