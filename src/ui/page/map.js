// The worker that lays out the treemap, away from the page's thread.

import { layout, tree } from "./treemap.js";

onmessage = ({ data: { paths, values, zoom, width, height } }) => {
  let root = tree(paths, values);
  for (let node = root; zoom && node; ) {
    node = node.children?.find((child) => child.children && (child.path === zoom || zoom.startsWith(`${child.path}/`)));
    if (node) root = node;
  }
  const cells = layout(root, width, height).map(({ node, depth, ...box }) => ({ ...box, depth, name: node.name, path: node.path, value: node.value, row: node.row ?? -1, isFolder: Boolean(node.children) }));
  postMessage({ cells, path: root.path, value: root.value });
};
