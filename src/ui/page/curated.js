// Parts of the view of takes: what documents are made for, presets, and screenshots.

import { ask, el, fill, refill } from "./dom.js";
import { bytes, plural, visible } from "./format.js";

/** Returns the section with the keys of `[document]`: what documents are made for where a request leaves it open. */
export function defaults(page) {
  const list = el("ul", { class: "facts-list" });
  const element = el("section", {}, el("h2", { text: "What documents are made for" }), list);
  const refresh = () => {
    const keys = Object.entries(page.defaults);
    const row = ([key, value]) =>
      el(
        "li",
        {},
        el("span", { class: "faint", text: key.replaceAll("_", " ") }),
        ` ${visible(Array.isArray(value) ? value.join(", ") : String(value))} `,
        el("button", { id: `unset-${key}`, "aria-label": `remove ${key}`, text: "remove", onclick: () => page.edit(`${key} of documents removed`, [{ document: { unset: [key] } }]) }),
      );
    const none = () => el("li", { class: "empty", text: "slop.toml leaves it open. Choose a tier, a budget or a focus above, and press keep." });
    refill(list, keys, () => (keys.length ? keys.map(row) : [none()]));
  };
  return { element, refresh };
}

/** Returns the section with the presets of the project and of the user. */
export function presets(page) {
  const list = el("ul", { class: "facts-list" });
  const name = el("input", { type: "text", id: "preset-name", size: 20, autocomplete: "off" });
  const save = () => name.value && savePreset(name.value, page);
  name.addEventListener("keydown", (event) => event.key === "Enter" && save());
  const element = el("section", {}, el("h2", { text: "Presets" }), list, el("p", { class: "bar" }, el("label", {}, "save what is here as ", name), el("button", { id: "preset-save", text: "save", onclick: save })));
  const refresh = () => {
    const saved = page.curation?.presets ?? [];
    const none = () => el("li", { class: "empty", text: "There are no presets yet." });
    refill(list, saved, () => (saved.length ? saved.map((one, at) => preset(one, at, page)) : [none()]));
  };
  return { element, refresh };
}

async function savePreset(name, page) {
  const overwrite = (page.curation?.presets ?? []).some((saved) => saved.preset.name === name);
  const question = { title: `Replace the preset ${name}?`, text: "Its files are replaced by the entries that are here now. The history keeps the preset as it was.", confirm: "Replace" };
  if (overwrite && !(await ask(question))) return;
  await page.edit(`preset ${name} saved`, [{ preset_save: { name, overwrite } }]);
}

function preset({ preset: { name, description, files }, origin }, at, page) {
  const button = (what, edit) => el("button", { id: `${what}-preset-${at}`, "aria-label": `${what} ${name}`, text: what, onclick: () => page.edit(`preset ${name} ${edit}`, [{ [`preset_${what}`]: { name } }]) });
  return el(
    "li",
    {},
    el("b", { text: visible(name) }),
    ` ${plural(files?.length ?? 0, "entry")}${description ? `, ${visible(description)}` : ""} `,
    el("span", { class: "faint", text: `${origin} ` }),
    button("apply", "applied"),
    button("delete", "deleted"),
  );
}

/** Returns the section with the images that every document has, in their order. */
export function screenshots(page) {
  const list = el("ol", { class: "shots" });
  const path = el("input", { type: "text", id: "screenshot-path", size: 24, autocomplete: "off", spellcheck: "false" });
  const change = (label, edit) => page.edit(label, [{ screenshots: edit }]);
  const add = async () => {
    const image = path.value.trim();
    if (image && (await change(`screenshot ${image} added`, { add: [image] }))) path.value = "";
  };
  path.addEventListener("keydown", (event) => event.key === "Enter" && add());
  const element = el("section", {}, el("h2", { text: "Screenshots" }), list, el("p", { class: "bar" }, el("label", {}, "path or pattern ", path), el("button", { id: "screenshot-add", text: "add", onclick: add })));
  const addresses = new Set();
  let shown = "";
  const row = (image, at, all) => {
    const order = (to) => all.toSpliced(at, 1).toSpliced(to, 0, image);
    const move = (what, sign, to) => el("button", { id: `${what}-${at}`, "aria-label": `move ${image} ${what}`, disabled: to < 0 || all.length <= to, text: sign, onclick: () => change(`screenshot ${image} moved`, { order: order(to) }) });
    const thumbnail = el("span", { class: "thumbnail" });
    const facts = el("span", { class: "faint" });
    thumb(image, page, addresses).then(({ picture, fact, isMissing }) => {
      fill(thumbnail, picture);
      fill(facts, fact);
      facts.className = isMissing ? "error" : "faint";
    });
    return el("li", {}, thumbnail, el("span", {}, visible(image), " ", facts), el("span", { class: "acts" }, move("up", "↑", at - 1), move("down", "↓", at + 1), el("button", { id: `unshot-${at}`, "aria-label": `remove ${image}`, text: "remove", onclick: () => change(`screenshot ${image} removed`, { remove: [image] }) })));
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
    if (!images.length) fill(list, el("li", { class: "empty", text: "No document has images." }));
  };
  return { element, refresh, unmount };
}

/** Returns the picture of an image, or why there is none. */
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
