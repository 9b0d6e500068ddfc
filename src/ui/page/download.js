// Downloads a document, or the body of a request that has it.

import { el } from "./dom.js";

/** What a document can be downloaded as: the format, and the ending of the file's name. */
export const FORMATS = [["markdown", "Markdown", "md"], ["json", "JSON", "json"], ["anthropic", "Anthropic request", "json"], ["openai", "OpenAI request", "json"], ["gemini", "Gemini request", "json"]];

/** Downloads what a view of the document shows. @param {import("./document.js").DocumentView} view */
export async function download(view) {
  const { page, format } = view;
  const [name, , ending] = FORMATS.find(([name]) => name === format.value);
  const isMarkdown = name === "markdown";
  try {
    const text = isMarkdown ? await view.text() : await bodyOf(view, name);
    const blob = URL.createObjectURL(new Blob([text], { type: isMarkdown ? "text/markdown" : "application/json" }));
    el("a", { href: blob, download: `tier_${page.tier}${isMarkdown ? "" : `_${name}`}.${ending}` }).click();
    setTimeout(() => URL.revokeObjectURL(blob), 1000);
  } catch (error) {
    page.fail(error);
  }
}

/** Returns the document in another format. It is asked for with GET, so that nobody counts as having been given it. */
async function bodyOf(view, format) {
  const { choice, ...rest } = view.question();
  const parameters = Object.entries({ ...choice, ...rest, format, receipt: "none" });
  const query = new URLSearchParams(parameters.flatMap(([key, value]) => [value].flat().map((one) => [key, String(one)])));
  const { text } = await view.page.api.get(`/v1/aggregate?${query}`);
  return text;
}
