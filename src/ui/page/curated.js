// Parts of the takes view: document defaults, presets, and screenshots.

import { ask, buttonOf, el, field, fill, refillList, section } from "./dom.js";
import { bytes, plural, spaced, visible } from "./format.js";

/** Returns the section with the keys of `[document]`: the defaults for what a request leaves open. */
export function defaults(page) {
  const list = el("ul.facts-list");
  const element = section("Defaults for documents", list);
  const refresh = () => {
    const row = ([key, value]) =>
      el(
        "li",
        el("span.faint", spaced(key)),
        ` ${visible(Array.isArray(value) ? value.join(", ") : String(value))} `,
        buttonOf(`unset-${key}`, "remove", key, () => page.edit(`${key} of documents removed`, [{ document: { unset: [key] } }])),
      );
    refillList(list, Object.entries(page.defaults), row, "slop.toml leaves it open. Choose a tier, a budget or a focus above, and press keep.");
  };
  return { element, refresh };
}

/** Returns the section with the presets of the project and of the user. */
export function presets(page) {
  const list = el("ul.facts-list");
  const save = () => name.value && savePreset(name.value, page);
  const name = field("input#preset-name", { size: 20, enter: save });
  const element = section("Presets", list, el("p.bar", el("label", "save what is here as ", name), el("button#preset-save", { onclick: save }, "save")));
  const refresh = () => refillList(list, page.curation?.presets ?? [], (one, at) => preset(one, at, page), "There are no presets yet.");
  return { element, refresh };
}

async function savePreset(name, page) {
  const overwrite = (page.curation?.presets ?? []).some((saved) => saved.preset.name === name);
  const question = { title: `Replace the preset ${name}?`, text: "Its files are replaced by the entries that are here now. The history keeps the preset as it was.", confirm: "Replace" };
  if (overwrite && !(await ask(question))) return;
  await page.edit(`preset ${name} saved`, [{ preset_save: { name, overwrite } }]);
}

function preset({ preset: { name, description, files }, origin }, at, page) {
  const button = (what, edit) => buttonOf(`${what}-preset-${at}`, what, name, () => page.edit(`preset ${name} ${edit}`, [{ [`preset_${what}`]: { name } }]));
  return el(
    "li",
    el("b", visible(name)),
    ` ${plural(files?.length ?? 0, "entry")}${description ? `, ${visible(description)}` : ""} `,
    el("span.faint", `${origin} `),
    button("apply", "applied"),
    button("delete", "deleted"),
  );
}

/** Returns the section with the images that every document has, in their order. */
export function screenshots(page) {
  const list = el("ol.shots");
  const change = (label, edit) => page.edit(label, [{ screenshots: edit }]);
  const add = async () => {
    const image = path.value.trim();
    if (image && (await change(`screenshot ${image} added`, { add: [image] }))) path.value = "";
  };
  const path = field("input#screenshot-path", { size: 24, enter: add });
  const element = section("Screenshots", list, el("p.bar", el("label", "path or pattern ", path), el("button#screenshot-add", { onclick: add }, "add")));
  const addresses = new Set();
  let shown = "";
  const row = (image, at, all) => {
    const order = (to) => all.toSpliced(at, 1).toSpliced(to, 0, image);
    const move = (what, sign, to) => el(`button#${what}-${at}`, { "aria-label": `move ${image} ${what}`, disabled: to < 0 || all.length <= to, onclick: () => change(`screenshot ${image} moved`, { order: order(to) }) }, sign);
    const thumbnail = el("span.thumbnail");
    const facts = el("span.faint");
    thumb(image, page, addresses).then(({ picture, fact, isMissing }) => {
      fill(thumbnail, picture);
      fill(facts, fact);
      facts.className = isMissing ? "error" : "faint";
    });
    return el("li", thumbnail, el("span", visible(image), " ", facts), el("span.acts", move("up", "↑", at - 1), move("down", "↓", at + 1), buttonOf(`unshot-${at}`, "remove", image, () => change(`screenshot ${image} removed`, { remove: [image] }))));
  };
  const unmount = () => {
    for (const address of addresses) URL.revokeObjectURL(address);
    addresses.clear();
  };
  const refresh = (isForced = false) => {
    const images = page.curation?.screenshots ?? [];
    const isChanged = images.some((image) => page.changedAt.has(image));
    if (!isForced && !isChanged && shown === JSON.stringify(images)) return;
    shown = JSON.stringify(images);
    unmount();
    fill(list, ...images.map(row));
    if (!images.length) fill(list, el("li.empty", "No document has images."));
  };
  return { element, refresh, unmount };
}

/** Returns the thumbnail of an image, or why there is none. */
async function thumb(image, page, addresses) {
  try {
    const { media_type: type, bytes: size, base64 } = await page.api.post("/v1/image", { path: image });
    const address = URL.createObjectURL(new Blob([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], { type }));
    addresses.add(address);
    return { picture: el("img", { src: address, alt: "" }), fact: bytes(size), isMissing: false };
  } catch (error) {
    return { picture: "✕", fact: error.message, isMissing: true };
  }
}
