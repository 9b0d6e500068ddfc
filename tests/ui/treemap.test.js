import { holds, same, test } from "./check.js";
import { layout, tree } from "./treemap.js";

let seed = 7;
const random = (limit) => (seed = (seed * 48271) % 2147483647) % limit;
const paths = Array.from({ length: 400 }, (_, at) => `${["a", "b/c", "b/d", "e/f/g/h"][random(4)]}/${at}.c`);
const values = paths.map(() => 1 + random(1000));
const total = values.reduce((sum, value) => sum + value, 0);
const root = tree(paths, values);
const cells = layout(root, 800, 600);

test("a folder has the sum of its files, and chains of single folders are one", () => {
  same(root.value, total);
  holds(root.children.some(({ name }) => name === "e/f/g/h"), "e/f/g/h is one label");
});

test("nothing lies outside, and cells at the same depth do not overlap", () => {
  const near = 1e-6;
  const leaves = cells.filter(({ node }) => !node.children);
  for (const { x, y, width, height } of cells) holds(-near <= x && -near <= y && x + width <= 800 + near && y + height <= 600 + near && 0 <= width && 0 <= height, "a cell lies outside");
  leaves.forEach((one, at) => {
    for (const other of leaves.slice(at + 1)) {
      const width = Math.min(one.x + one.width, other.x + other.width) - Math.max(one.x, other.x);
      const height = Math.min(one.y + one.height, other.y + other.height) - Math.max(one.y, other.y);
      holds(width < near || height < near, `${one.node.path} and ${other.node.path} overlap`);
    }
  });
});

test("areas are in proportion, and none stays empty but for labels", () => {
  const labels = cells.filter(({ node, depth, width, height }) => node.children && depth > 0 && 60 < width && 34 < height).reduce((sum, { width }) => sum + 16 * width, 0);
  const drawn = cells.filter(({ node, width, height }) => !node.children || width * height < 24).reduce((sum, { width, height }) => sum + width * height, 0);
  holds(Math.abs(drawn + labels - 800 * 600) < 1, `${drawn} and ${labels} of ${800 * 600}`);
  for (const folder of root.children) {
    const cell = cells.find(({ node }) => node === folder);
    holds(Math.abs((cell.width * cell.height) / (800 * 600) - folder.value / total) < 1e-9, `${folder.path} has its share`);
  }
});

test("a project without tokens is one empty cell", () => same(layout(tree(["a.c"], [0]), 10, 10).length, 1));
