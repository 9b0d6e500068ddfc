import { same, test } from "./check.js";
import { follow } from "./slices.js";

const before = ["a", "b", "c", "d", "e"];

test("chosen lines are where their text is, if what changed is before or after them", () => {
  same(follow([2, 3], before, before), [2, 3]);
  same(follow([3, 2], before, ["new", ...before]), [4, 3]);
  same(follow([2, 3], before, ["a", "b", "c", "new"]), [2, 3]);
  same(follow([4, 5], before, ["b", "c", "d", "e"]), [3, 4]);
});

test("lines that have changed, or are gone, are not chosen any more", () => {
  same(follow([2, 3], before, ["a", "b", "new", "d", "e"]), null);
  same(follow([2, 3], before, ["a", "d", "e"]), null);
  same(follow([5, 5], before, ["x = 1"]), null);
  same(follow([2, 3], before, ["a", "b", "new", "c", "d", "e"]), null);
});
