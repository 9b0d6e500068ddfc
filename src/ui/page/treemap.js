// The layout of a treemap: areas in proportion, by the squarified algorithm of Bruls, Huizing and van Wijk (2000).
// Does not use the DOM.

/**
 * @typedef {{name: string, path: string, value: number, children?: Node[], row?: number}} Node
 * @typedef {{node: Node, x: number, y: number, width: number, height: number, depth: number}} Cell
 */

/** Folders smaller than this are drawn as one cell. */
const MIN_AREA = 24;
/** The height of a folder's label, in a cell that is large enough for one. */
const LABEL_PX = 16;
const LABELED = { width: 60, height: 34 };

/** Returns the folders and files of a table as a tree, with their tokens. @returns {Node} */
export function tree(paths, values) {
  const root = { name: "", path: "", value: 0, children: [], folders: new Map() };
  paths.forEach((path, row) => {
    const value = values[row];
    if (!value) return;
    const parts = path.split("/");
    let node = root;
    node.value += value;
    for (const part of parts.slice(0, -1)) {
      let next = node.folders.get(part);
      if (!next) {
        next = { name: part, path: node.path ? `${node.path}/${part}` : part, value: 0, children: [], folders: new Map() };
        node.folders.set(part, next);
        node.children.push(next);
      }
      node = next;
      node.value += value;
    }
    node.children.push({ name: parts.at(-1), path, value, row });
  });
  return joined(root);
}

/** Joins chains of single folders into one node, and orders children by size. */
function joined(node) {
  if (!node.children) return node;
  while (node.path !== "" && node.children.length === 1 && node.children[0].children) {
    const only = node.children[0];
    node = { ...only, name: `${node.name}/${only.name}` };
  }
  const children = node.children.map(joined).sort((one, other) => other.value - one.value);
  return { name: node.name, path: node.path, value: node.value, children };
}

/**
 * Returns the cells of a tree within a rectangle, folders before their contents.
 * @param {Node} root
 * @returns {Cell[]}
 */
export function layout(root, width, height) {
  const cells = [];
  place(root, 0, 0, width, height, 0, cells);
  return cells;
}

function place(node, x, y, width, height, depth, cells) {
  cells.push({ node, x, y, width, height, depth });
  if (!node.children?.length || width * height < MIN_AREA) return;
  const isLabeled = depth > 0 && LABELED.width < width && LABELED.height < height;
  const top = isLabeled ? LABEL_PX : 0;
  const area = width * (height - top);
  const scale = area / node.value;
  // Nodes that are too small to see share one cell, so that no area stays empty.
  const large = node.children.filter((child) => MIN_AREA <= child.value * scale);
  const small = node.children.slice(large.length);
  const children = [...large];
  if (small.length) {
    const value = small.reduce((sum, child) => sum + child.value, 0);
    children.push({ name: `${small.length} smaller`, path: node.path, value });
  }
  squarify(children, { x, y: y + top, width, height: height - top }, scale, (child, box) => place(child, box.x, box.y, box.width, box.height, depth + 1, cells));
}

/** Fills a rectangle with rows of children, each as square as possible. */
function squarify(children, box, scale, give) {
  let rest = [...children];
  while (rest.length) {
    const side = Math.min(box.width, box.height);
    let row = [rest[0]];
    let sum = rest[0].value * scale;
    let worst = ratio(row, sum, side, scale);
    for (const child of rest.slice(1)) {
      const nextSum = sum + child.value * scale;
      const next = ratio([...row, child], nextSum, side, scale);
      if (worst < next) break;
      row = [...row, child];
      sum = nextSum;
      worst = next;
    }
    box = placeRow(row, sum, box, scale, rest.length === row.length, give);
    rest = rest.slice(row.length);
  }
}

function ratio(row, sum, side, scale) {
  const largest = row[0].value * scale;
  const smallest = row.at(-1).value * scale;
  const square = side * side;
  return Math.max((square * largest) / (sum * sum), (sum * sum) / (square * smallest));
}

function placeRow(row, sum, box, scale, isLast, give) {
  const isTall = box.height <= box.width;
  const side = isTall ? box.height : box.width;
  const thickness = isLast ? (isTall ? box.width : box.height) : sum / side;
  let at = isTall ? box.y : box.x;
  for (const child of row) {
    const length = (child.value * scale * side) / sum;
    give(child, isTall ? { x: box.x, y: at, width: thickness, height: length } : { x: at, y: box.y, width: length, height: thickness });
    at += length;
  }
  return isTall
    ? { x: box.x + thickness, y: box.y, width: box.width - thickness, height: box.height }
    : { x: box.x, y: box.y + thickness, width: box.width, height: box.height - thickness };
}
