// The batch bar: sets how the selected files are shown.

/** Flags to unset except one, because the first matching rule decides. */
const FLAGS = ["force_full", "ast_signatures", "ast_definitions", "view_mode"];
const without = (kept) => FLAGS.filter((flag) => flag !== kept);

/** The buttons of the batch bar: the action, the label, what it does, and the edit of a selection. */
export const BATCH = [
  ["full", "Full", "the whole text", { to: { force_full: true, auto_aggregate: true }, unset: without("force_full") }],
  ["agg", "Agg", "the tier decides", { to: { auto_aggregate: true }, unset: FLAGS }],
  ["sig", "Sig", "signatures of all symbols", { to: { ast_signatures: true, auto_aggregate: true }, unset: without("ast_signatures") }],
  ["def", "Def", "definitions of all symbols", { to: { ast_definitions: true, auto_aggregate: true }, unset: without("ast_definitions") }],
  ["remove", "Remove", "out of the documents", { to: { auto_aggregate: false }, unset: [] }],
];
