// Downloads a document, or a request body that contains it.

import { el } from "./dom.js";

/** The formats for downloads: id, title, and file extension. */
export const FORMATS = [["markdown", "Markdown", "md"], ["json", "JSON", "json"], ["anthropic", "Anthropic request", "json"], ["openai", "OpenAI request", "json"], ["gemini", "Gemini request", "json"]];

/** Downloads the document of a view. @param {import("./document.js").DocumentView} view */
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

/** Returns the document in another format. Requested with GET, so that it does not count as a delivery. */
async function bodyOf(view, format) {
  const { choice, ...rest } = view.question();
  const parameters = Object.entries({ ...choice, ...rest, format, receipt: "none" });
  const query = new URLSearchParams(parameters.flatMap(([key, value]) => [value].flat().map((one) => [key, String(one)])));
  const { text } = await view.page.api.get(`/v1/aggregate?${query}`);
  return text;
}
