// The view of history: every state that slop.toml had, and the way back to it; presets.

import { ask, el, fill } from "./dom.js";
import { clock } from "./format.js";

export const history = {
  id: "history",
  title: "History",
  mount(pane, page) {
    const states = el("ol", { class: "states" });
    const presets = el("div");
    const name = el("input", { type: "text", id: "preset-name", size: 20 });
    const save = el("button", { id: "preset-save", text: "Save", onclick: () => name.value && savePreset(name.value, page) });
    pane.append(
      el("div", { class: "sheet columns" }, el("section", {}, el("h1", { text: "History" }), states), el("section", {}, el("h1", { text: "Presets" }), presets, el("p", { class: "bar" }, el("label", {}, "save what is here as ", name), save))),
    );
    const refresh = async () => {
      try {
        const past = await page.api.get("/v1/history");
        fill(states, ...rows(past, page));
        if (!past.entries.length) fill(states, el("li", { class: "empty", text: "Nothing was edited yet." }));
        fill(presets, ...(page.curation?.presets ?? []).map((saved) => preset(saved, page)));
        if (!presets.children.length) fill(presets, el("p", { class: "empty", text: "There are no presets yet." }));
      } catch (error) {
        fill(states, el("li", { class: "error", text: `${error.message}. ${error.hint ?? ""}` }));
      }
    };
    return { show: refresh, refresh, unmount() {} };
  },
};

async function savePreset(name, page) {
  const overwrite = (page.curation?.presets ?? []).some((saved) => saved.preset.name === name);
  const question = { title: `Replace the preset ${name}?`, text: "Its files are replaced by the entries that are here now. The history keeps the preset as it was.", confirm: "Replace" };
  if (overwrite && !(await ask(question))) return;
  await page.edit(`preset ${name} saved`, [{ preset_save: { name, overwrite } }]);
}

function rows({ entries, current }, page) {
  return [...entries].reverse().map((entry) => {
    const isNow = entry.id === current;
    return el(
      "li",
      { class: isNow ? "now" : "", "aria-current": isNow ? "step" : null },
      el("span", { class: "faint", text: clock(entry.at_ms) }),
      ` ${entry.by_hand ? "edited by hand" : entry.label} `,
      !isNow && el("button", { class: "jump", "aria-label": `jump to ${entry.label}, ${clock(entry.at_ms)}`, onclick: () => page.travel("jump", entry.id), text: "jump" }),
    );
  });
}

function preset({ preset: { name, description, files }, origin }, page) {
  return el(
    "p",
    {},
    el("b", { text: name }),
    ` ${files?.length ?? 0} entries${description ? `, ${description}` : ""} `,
    el("span", { class: "faint", text: origin }),
    " ",
    el("button", { "aria-label": `apply ${name}`, onclick: () => page.edit(`preset ${name} applied`, [{ preset_apply: { name } }]), text: "apply" }),
    el("button", { "aria-label": `delete ${name}`, onclick: () => page.edit(`preset ${name} deleted`, [{ preset_delete: { name } }]), text: "delete" }),
  );
}
