//! Ranks the symbols of the best files: the chunks whose bodies a document shows.
//!
//! Without a task, the terms are the rare ones of the files in focus.
//!
//! ```text
//! 1.0 text     BM25 of the task's terms in the chunk
//! 0.5 name     rarities of the task's terms in the symbol's name
//! 1.0 exact    the symbol's name, as the task mentions it
//! 1.5 frame    a stack trace, a diagnostic or a link leads to it
//! 1.0 quoted   lines and messages of it that the task has word for word
//!   + file     the parts of its file's score; 0.2 of the one for the text, 0.4 for its three best chunks, and
//!              0.25 of the one for a mention of its name without a folder
//! ```
//!
//! Each part is divided by its greatest value. The sum is multiplied by a factor for the file's class, or that of tests
//! inside it, and by one for lines that are only imports or ends of blocks. A short list of imports follows the second
//! best function of its file. Without the file's score, a tenth of the results are lost. The file's best chunks say
//! more than its whole text, in which many parts may each be slightly related to the task: on 133 issues, documents
//! contained 1 % more of the fixes' lines with them (−1 to +4 %).
//!
//! Only the chunks of the best files compete ([`FileRanking::files_for_symbols`]), and rarities are measured among
//! these chunks: measuring them in all files would require reading each.

use super::files::{FileRanking, RankedFile};
use super::path_class::PathClass;
use super::run_content::{RunContent, run_content};
use super::symbol_parts::{
    FileWithSymbols, SymbolParts, SymbolScore, add_frame_scores, add_name_scores, add_quoted_scores,
    best_chunks, certainty, exact_score, text_scores,
};
use crate::search::chunks::ChunkKind;
use crate::search::query::RankingQuery;
use crate::search::terms::{greatest, normalized};

/// The weights of the text of a symbol's file, and of the file's best chunks.
const FILE_TEXT_SHARE: f64 = 0.2;
const FILE_BEST_SHARE: f64 = 0.4;
/// The weight of a mention of the symbol's file if the task names it without a folder, as in `#include <zstd.h>`: such
/// a task is not about every function in the file.
const BARE_MENTION_SHARE: f64 = 0.25;
/// The maximum size of an import list that is shown with the functions of its file.
const MAX_IMPORT_BYTES: usize = 800;
/// The factor that places an item just after a function.
const BEHIND: f64 = 0.99;
/// A name that more files contain, such as `__init__`, does not identify a symbol, even if it is the only name in the
/// task.
const COMMON_NAME_FILES: usize = 30;
/// The weight of verbatim lines and messages in the task.
const QUOTED_WEIGHT: f64 = 1.0;

/// Ranks the chunks of some files, best first. Chunks with equal scores are ordered by file, then by line.
pub fn rank_symbols(
    query: &RankingQuery,
    ranked: &[RankedFile<'_>],
    ranking: &FileRanking,
    files: &[FileWithSymbols<'_>],
) -> Vec<SymbolScore> {
    let mut scores = text_scores(query, files);
    let best = best_chunks(&scores, files.len());
    add_name_scores(query, files, &mut scores);
    for score in &mut scores {
        let chunk = &files[score.file].chunks.chunks[score.chunk];
        score.parts.exact = exact_score(query, ranking, chunk);
    }
    add_frame_scores(ranking, files, &mut scores);
    add_quoted_scores(files, &mut scores);
    let greatest_of = |part: fn(&SymbolParts) -> f64| greatest(scores.iter().map(|score| part(&score.parts)));
    let (text, name) = (greatest_of(|parts| parts.text), greatest_of(|parts| parts.name));
    let (exact, frame) = (greatest_of(|parts| parts.exact), greatest_of(|parts| parts.frame));
    let exact = exact.max(certainty(ranking.scores.len(), COMMON_NAME_FILES));
    // A piece that several chunks contain does not identify any of them.
    let quoted = greatest_of(|parts| parts.quoted).max(1.0);
    let mention_share = |file: &FileWithSymbols<'_>| {
        if ranking.mention(file.file) < 1.0 { BARE_MENTION_SHARE } else { 1.0 }
    };
    let mention_shares: Vec<f64> = files.iter().map(mention_share).collect();
    for score in &mut scores {
        let file = files[score.file].file;
        let file_parts = &ranking.scores[file].parts;
        score.parts = SymbolParts {
            text: normalized(score.parts.text, text),
            name: 0.5 * normalized(score.parts.name, name),
            exact: normalized(score.parts.exact, exact),
            frame: 1.5 * normalized(score.parts.frame, frame),
            quoted: QUOTED_WEIGHT * normalized(score.parts.quoted, quoted),
            file: file_parts.sum()
                - (1.0 - FILE_TEXT_SHARE) * file_parts.text
                - (1.0 - mention_shares[score.file]) * file_parts.mention
                + FILE_BEST_SHARE * best[score.file],
        };
        // What the task points to is meant, regardless of its folder.
        let is_pointed_to = 0.0 < score.parts.frame;
        score.factor = if is_pointed_to {
            1.0
        } else {
            class_of(ranked[file].class, &files[score.file], score.chunk).symbol_factor()
                * content_of(&files[score.file], score.chunk).factor()
        };
        score.total = score.factor * score.parts.sum();
    }
    raise_imports(files, &mut scores);
    scores
        .sort_by(|a, b| b.total.total_cmp(&a.total).then_with(|| (a.file, a.chunk).cmp(&(b.file, b.chunk))));
    scores
}

/// Returns the class of a chunk: that of its file, except for tests inside a source, as in Rust.
fn class_of(class: PathClass, file: &FileWithSymbols<'_>, chunk: usize) -> PathClass {
    let chunk = &file.chunks.chunks[chunk];
    let around = file.chunks.enclosing(chunk).map(|container| container.symbol);
    let is_test =
        || chunk.symbol.into_iter().chain(around).any(|symbol| symbol.has_test_attribute(file.text));
    if class == PathClass::Source && is_test() { PathClass::Test } else { class }
}

/// Moves a short list of imports after the second best function of its file: an edit of several functions requires
/// knowing the imports of their file.
fn raise_imports(files: &[FileWithSymbols<'_>], scores: &mut [SymbolScore]) {
    let mut best = vec![[0.0_f64; 2]; files.len()];
    for score in scores.iter() {
        let [first, second] = &mut best[score.file];
        if files[score.file].chunks.chunks[score.chunk].kind == ChunkKind::Function && *second < score.total {
            (*first, *second) = (first.max(score.total), first.min(score.total));
        }
    }
    for score in scores.iter_mut() {
        let file = &files[score.file];
        let chunk = &file.chunks.chunks[score.chunk];
        let is_list = chunk.kind == ChunkKind::Loose && chunk.bytes.len() <= MAX_IMPORT_BYTES;
        if is_list && content_of(file, score.chunk) == RunContent::Imports {
            let sum = score.parts.sum();
            score.total = score.total.max(best[score.file][1] * BEHIND);
            score.factor = if 0.0 < sum { score.total / sum } else { score.factor };
        }
    }
}

/// Returns the content kind of a chunk's lines.
fn content_of(file: &FileWithSymbols<'_>, chunk: usize) -> RunContent {
    let chunk = &file.chunks.chunks[chunk];
    let text = file.text.get(chunk.bytes.clone()).filter(|_| chunk.kind != ChunkKind::Function);
    text.map_or(RunContent::Code, run_content)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "sums and quotients of equal numbers are equal")]
pub(in crate::search) mod tests {
    use super::super::files::{FileSignals, rank_files};
    use super::super::path_class::PathClass;
    use super::super::symbol_parts::match_chunks;
    use super::*;
    use crate::model::{Outline, ParseHealth, RelPath, SymbolKind};
    use crate::search::chunks::chunk_file;
    use crate::search::chunks::tests::symbol;
    use crate::search::query::{LineMention, NameMention, WeightedTerm};
    use crate::search::terms::terms;
    use crate::search::terms::{TermVector, VectorBuilder};
    use crate::search::traces::ProjectNames;

    /// Returns the outline of a text in which each function is a paragraph that begins with `def`.
    pub(in crate::search) fn outline(text: &str) -> Outline {
        let mut symbols = Vec::new();
        let mut line = 1;
        for paragraph in text.split("\n\n") {
            let last = line + u32::try_from(paragraph.lines().count()).unwrap() - 1;
            if let Some(rest) = paragraph.strip_prefix("def ") {
                let name = rest.split('(').next().unwrap();
                symbols.push(symbol(SymbolKind::Function, name, (line, last), Vec::new()));
            }
            line = last + 2;
        }
        Outline { health: ParseHealth::perfect(0), doc: None, imports: Vec::new(), symbols }
    }

    fn query(text: &str, names: &[&str], lines: Vec<LineMention>) -> RankingQuery {
        let weighted = terms(text.as_bytes()).map(|term| WeightedTerm { term, weight: 1.0, in_title: false });
        let name = |name: &&str| NameMention {
            name: name.trim_matches('`').to_owned(),
            is_marked: name.starts_with('`'),
            in_title: false,
        };
        RankingQuery::new(weighted.collect(), names.iter().map(name).collect(), Vec::new(), lines)
    }

    fn frame(path: &str, line: u32, function: Option<&str>) -> LineMention {
        LineMention {
            path: path.to_owned(),
            first_line: line,
            last_line: line,
            function: function.map(str::to_owned),
            strength: 1.0,
        }
    }

    /// Returns the scores with the names of their symbols; loose lines as `path:line`.
    fn ranked(query: &RankingQuery, files: &[(&str, &str)]) -> Vec<(String, SymbolScore)> {
        let mut builder = VectorBuilder::default();
        let vectors: Vec<Vec<u8>> = files.iter().map(|file| builder.build(file.1.as_bytes())).collect();
        let paths: Vec<RelPath> = files.iter().map(|file| RelPath::new(file.0.as_bytes()).unwrap()).collect();
        let inputs = paths.iter().zip(&vectors).map(|(path, vector)| RankedFile {
            path,
            class: PathClass::from_path(path, crate::model::FileRole::Code, false),
            vector: TermVector::from_bytes(vector).ok(),
            in_focus: false,
            signals: FileSignals::default(),
        });
        let inputs: Vec<_> = inputs.collect();
        let ranking = rank_files(query, &RankingQuery::empty(), &inputs);
        let outlines: Vec<Outline> = files.iter().map(|file| outline(file.1)).collect();
        let chunks: Vec<_> =
            files.iter().zip(&outlines).map(|(file, outline)| chunk_file(file.1, Some(outline))).collect();
        let matches: Vec<_> =
            files.iter().zip(&chunks).map(|(file, chunks)| match_chunks(query, file.1, chunks)).collect();
        let with_symbols = chunks
            .iter()
            .zip(&matches)
            .enumerate()
            .map(|(at, (chunks, matches))| FileWithSymbols { file: at, text: files[at].1, chunks, matches });
        let with_symbols: Vec<_> = with_symbols.collect();
        let scores = rank_symbols(query, &inputs, &ranking, &with_symbols);
        let named = scores.into_iter().map(|score| {
            let chunk = &chunks[score.file].chunks[score.chunk];
            let loose = || format!("{}:{}", files[score.file].0, chunk.start_line);
            let name = if chunk.symbol.is_some() { chunk.name().to_owned() } else { loose() };
            (name, score)
        });
        named.collect()
    }

    #[track_caller]
    fn check(query: &RankingQuery, files: &[(&str, &str)], expected: &[&str]) {
        let names: Vec<String> = ranked(query, files).into_iter().map(|scored| scored.0).collect();
        assert_eq!(names[..expected.len()], *expected);
    }

    const ENGINE: &str = "\
import header

def parse(text):
    split the proxy header

def send(text):
    write everything

def parse_header(text):
    pass";

    #[test]
    fn symbols_are_ranked_by_their_texts_and_names() {
        let query = query("the proxy header", &[], Vec::new());
        check(&query, &[("engine.py", ENGINE)], &["parse", "parse_header", "engine.py:1", "send"]);
    }

    #[test]
    fn a_mentioned_name_counts_if_it_is_long_or_marked() {
        let query_of = |name| query("it fails in send and run", &[name], Vec::new());
        check(&query_of("send"), &[("engine.py", ENGINE)], &["send"]);
        let text = "def run(text):\n    pass\n\ndef other(text):\n    pass";
        let exact = |name| ranked(&query_of(name), &[("a.py", text)])[0].1.parts.exact;
        assert_eq!(exact("run"), 0.0);
        assert_eq!(exact("`run"), 1.0);
    }

    #[test]
    fn a_function_whose_line_the_task_quotes_comes_before_one_with_more_of_its_words() {
        let text = "def parse(a):\n    header = find_header(text, limit)\n\n\
                    def send(a):\n    header = find(text)\n    limit header text find limit";
        let task = "limit of the header\n\n```\nheader = find_header(text, limit)\n```\n";
        let query = RankingQuery::of_task(
            task,
            &crate::search::task::read_task(task, &ProjectNames::default()).unwrap(),
        );
        check(&query, &[("a.py", text)], &["parse", "send"]);
        let quoted = |files: &[(&str, &str)]| ranked(&query, files)[0].1.parts.quoted;
        assert_eq!(quoted(&[("a.py", text)]), QUOTED_WEIGHT);
        // A line that another function contains too does not identify either.
        assert!(quoted(&[("a.py", text), ("b.py", text)]) < QUOTED_WEIGHT);
    }

    #[test]
    fn tests_within_a_source_count_as_tests() {
        let text = "def parse(a):\n    header\n\n#[test]\ndef parses_header(a):\n    header header";
        let mut outline = outline(text);
        let start = text.find("#[test]").unwrap();
        let mut marked = symbol(SymbolKind::Function, "parses_header", (4, 6), Vec::new());
        marked.span.start_byte = start;
        outline.symbols.push(marked);
        let chunks = chunk_file(text, Some(&outline));
        let file = FileWithSymbols { file: 0, text, chunks: &chunks, matches: &[] };
        let classes = [0, 1].map(|chunk| class_of(PathClass::Source, &file, chunk));
        assert_eq!(classes, [PathClass::Source, PathClass::Test]);
        assert_eq!(class_of(PathClass::Vendored, &file, 1), PathClass::Vendored);
    }

    #[test]
    fn a_short_list_of_imports_follows_the_second_function_of_its_file() {
        let text = "import header\n\ndef parse(a):\n    proxy header\n\ndef send(a):\n    header\n\ndef other(a):\n    pass";
        let query = query("the proxy header", &[], Vec::new());
        check(&query, &[("a.py", text)], &["parse", "send", "a.py:1", "other"]);
        let long = format!("{}{text}", "import other\n".repeat(80));
        let order: Vec<String> =
            ranked(&query, &[("a.py", &long)]).into_iter().map(|scored| scored.0).collect();
        assert_eq!(order[..2], ["parse", "send"]);
        assert_ne!(order[2], "a.py:81", "a long one has no room beside functions");
    }

    #[test]
    fn a_name_that_many_files_use_counts_less_than_one_that_few_use() {
        let common = "def send_all(text):\n    pass";
        let rare = "def send_one(text):\n    pass";
        let users = "send_all()";
        let files = [("a.py", common), ("b.py", rare), ("c.py", users), ("d.py", users), ("e.py", users)];
        let query = query("send_all send_one", &["send_all", "send_one"], Vec::new());
        let scores = ranked(&query, &files);
        let exact = |name: &str| scores.iter().find(|scored| scored.0 == name).unwrap().1.parts.exact;
        assert!(exact("send_all") < exact("send_one"));
    }

    #[test]
    fn a_name_that_most_files_use_counts_little_even_if_it_is_the_only_one() {
        let paths: Vec<String> = (0..100).map(|number| format!("f{number}.py")).collect();
        let files: Vec<(&str, &str)> =
            paths.iter().map(|path| (path.as_str(), "def prepare():\n    return 1\n")).collect();
        let query = query("it fails in prepare", &["`prepare"], Vec::new());
        let exact = |files| ranked(&query, files)[0].1.parts.exact;
        assert!(exact(&files) < 0.6, "{}", exact(&files));
        assert_eq!(exact(&files[..1]), 1.0);
    }

    #[test]
    fn a_frame_leads_to_its_function_or_else_to_its_line() {
        let named = query("it fails", &[], vec![frame("lib/engine.py", 999, Some("send"))]);
        check(&named, &[("engine.py", ENGINE)], &["send"]);
        let by_line = query("it fails", &[], vec![frame("engine.py", 10, None)]);
        check(&by_line, &[("engine.py", ENGINE)], &["parse_header"]);
        let gone = query("it fails", &[], vec![frame("engine.py", 10, Some("gone"))]);
        check(&gone, &[("engine.py", ENGINE)], &["parse_header"]);
        let elsewhere = query("it fails", &[], vec![frame("src/other.py", 10, None)]);
        assert!(
            ranked(&elsewhere, &[("engine.py", ENGINE)]).iter().all(|scored| scored.1.parts.frame == 0.0)
        );
    }

    #[test]
    fn the_best_symbols_of_a_file_raise_the_others_more_than_many_weak_ones() {
        let focused = "def parse(text):\n    the proxy header\n\ndef close(text):\n    \
             write what is left to the end";
        let scattered = "\
def one(text):
    a proxy is opened

def two(text):
    a proxy is closed

def three(text):
    a header is read

def four(text):
    a header is written

def shut(text):
    pass";
        let query = query("proxy header", &[], Vec::new());
        let scores = ranked(&query, &[("a.py", focused), ("b.py", scattered)]);
        let file_part = |name: &str| scores.iter().find(|scored| scored.0 == name).unwrap().1.parts.file;
        assert!(file_part("shut") < file_part("close"), "{} {}", file_part("shut"), file_part("close"));
    }

    #[test]
    fn symbols_of_tests_count_less_and_the_parts_add_up() {
        let query = query("proxy header", &["parse_header"], Vec::new());
        let scores = ranked(&query, &[("tests/engine.py", ENGINE), ("engine.py", ENGINE)]);
        assert_eq!((scores[0].1.file, scores[0].1.factor), (1, 1.0));
        for (_, score) in &scores {
            let sum: f64 = score.parts.named().iter().map(|part| part.1).sum();
            assert_eq!(score.total, sum * score.factor);
        }
    }

    #[test]
    fn without_files_nothing_is_ranked() {
        assert!(ranked(&query("proxy", &["proxy"], vec![frame("a.py", 1, None)]), &[]).is_empty());
    }
}
