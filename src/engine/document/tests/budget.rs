//! No document exceeds its limits, whatever the project: generated projects under generated limits.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::aggregate::{CuratedItems, DocumentLimits, TierOptions};
use crate::engine::document::request::{
    AggregationRequest, BeadsRequest, DiscussionSource, DiscussionText, ImageFile, SectionRequest,
};
use crate::engine::error::Error;
use crate::engine::index::Trust;
use crate::engine::testing::TestProject;
use crate::model::{
    AggregationStrategy as Views, DocsDetail, Document, DocumentPart, FileItem, FileOrder, MaskMode,
    Omission, ReceiptEntry, Slice, SliceAnchors, SummaryDetail, Tier, ViewMode,
};
use crate::render;
use crate::render::PrefixPiece;

/// The pieces that generated texts are made of.
const PIECES: &[&str] = &[
    "class Engine:\n    \"\"\"Runs.\"\"\"\n\n    def run(self, n=1):\n        return n\n\n",
    "def helper(a, b):\n    total = a + b\n    for x in range(total):\n        print(x)\n    return total\n\n",
    "async def main():\n    pass\n",
    "int add(int a, int b)\n{\n    return a + b;\n}\n\n",
    "struct point { int x; int y; };\n",
    "#include \"a.h\"\n",
    "import a, b\nfrom . import c\n",
    "````\n```\n~~~\n",
    "# Title\n\nSome *prose* of a kind.\n\n",
    "état 日本 🦀 e\u{301} \u{200d}\u{feff} \u{2028}",
    "key = \"value\"\n[table]\nlist = [1, 2, 3]\n",
    "\n\n\n",
    "        \t  ",
    "\r\n",
    "<|endoftext|>",
    "word ",
    "(((((((((([[[[[[[[[[{{{{{{{{{{",
];

const NAMES: &[&str] = &[
    "a", "b", "main", "test_a", "x/y/z", "tests/engine", "état 日本", "with space", "a#b", "`tick`",
    "src/new\nline",
];

const TASKS: &[&str] =
    &["Engine.run fails", "add two numbers in main0.c:3", "`helper` prints nothing\n\n    print(x)", "prose"];

const ENDINGS: &[&str] = &[".py", ".c", ".h", ".md", ".toml", ".json", ".txt", ".cpp", ""];

/// A project and a request.
#[derive(Debug, Clone)]
struct BudgetCase {
    files: BTreeMap<String, String>,
    items: Vec<FileItem>,
    request: AggregationRequest,
}

fn any_text() -> impl Strategy<Value = String> {
    let pieces = |most| {
        prop::collection::vec(prop::sample::select(PIECES), 0..most).prop_map(|pieces| pieces.concat())
    };
    prop_oneof![
        6 => pieces(12),
        2 => pieces(60),
        1 => Just(String::new()),
        1 => (1_usize..4000).prop_map(|length| "x".repeat(length)),
        1 => (1_usize..4000).prop_map(|length| " ".repeat(length) + "\n"),
        1 => ".{0,40}",
    ]
}

fn any_files() -> impl Strategy<Value = BTreeMap<String, String>> {
    let name =
        (prop::sample::select(NAMES), 0_usize..4, prop::sample::select(ENDINGS), prop::bool::weighted(0.05))
            .prop_map(|(name, number, ending, is_long)| {
                let long = if is_long { "long".repeat(50) } else { String::new() };
                format!("{name}{number}{long}{ending}")
            });
    prop_oneof![
        4 => prop::collection::btree_map(name, any_text(), 0..12),
        1 => (1_usize..60).prop_map(|count| (0..count).map(|at| (format!("many/{at}.py"), "x = 1\n".to_owned())).collect()),
    ]
}

fn any_item() -> impl Strategy<Value = FileItem> {
    let path = prop_oneof![
        prop::sample::select(NAMES).prop_map(|name| format!("{name}0.*")),
        Just("*.py".to_owned())
    ];
    let view = prop::option::weighted(0.3, prop::sample::select(ViewMode::ALL.as_slice()));
    let flags = prop::collection::vec(prop::bool::weighted(0.2), 5);
    (path, view, flags, 1_u32..20).prop_map(|(path, view, flags, line)| {
        let slice = Slice {
            start_line: line,
            end_line: line + 2,
            tag: "tag".to_owned(),
            comment: String::new(),
            anchors: SliceAnchors::default(),
        };
        FileItem {
            force_full: flags[0],
            auto_aggregate: !flags[1] || flags[0],
            tier: flags[2].then_some(Tier::Worker),
            custom_slices: if flags[3] { vec![slice] } else { Vec::new() },
            ast_mask: if flags[4] { vec![("Engine".to_owned(), MaskMode::Signature)] } else { Vec::new() },
            view_mode: view.filter(|view| *view != ViewMode::Diff),
            ..FileItem::plain(path)
        }
    })
}

fn any_tier() -> impl Strategy<Value = TierOptions> {
    let views = [ViewMode::Full, ViewMode::Skeleton, ViewMode::Outline, ViewMode::Summary];
    let details = SummaryDetail::ALL.as_slice();
    (
        prop::sample::select(Tier::ALL.as_slice()),
        prop::sample::select(views.to_vec()),
        prop::sample::select(details),
        any::<bool>(),
    )
        .prop_map(|(tier, view, summary_detail, tree)| TierOptions {
            stable_thousandths: if tree { 250 } else { 0 },
            tier,
            view,
            focus_view: if tier == Tier::Qa { ViewMode::Window } else { ViewMode::Full },
            summary_detail,
            by_model: false,
            tree,
            language_views: BTreeMap::new(),
        })
}

fn any_limits() -> impl Strategy<Value = DocumentLimits> {
    let limit = |most: u64| prop_oneof![4 => 0..most, 1 => 0..most / 20];
    prop_oneof![
        limit(4_000).prop_map(|tokens| DocumentLimits {
            tokens: Some(tokens),
            bytes: None,
            ..DocumentLimits::default()
        }),
        limit(12_000).prop_map(|bytes| DocumentLimits {
            tokens: None,
            bytes: Some(bytes),
            ..DocumentLimits::default()
        }),
        (limit(4_000), limit(12_000)).prop_map(|(tokens, bytes)| DocumentLimits {
            tokens: Some(tokens),
            bytes: Some(bytes),
            ..DocumentLimits::default()
        }),
    ]
}

fn any_sections() -> impl Strategy<Value = SectionRequest> {
    let part = prop_oneof![6 => Just(DocumentPart::Whole), 1 => Just(DocumentPart::Prefix), 1 => Just(DocumentPart::Suffix)];
    (part, prop::collection::vec(prop::bool::weighted(0.3), 5)).prop_map(|(part, flags)| {
        let path = PathBuf::from("talk.json");
        let discussion = DiscussionSource {
            text: DiscussionText::File { path, is_named: true },
            take: None,
            is_optional: false,
            is_vouched_for: true,
        };
        SectionRequest {
            part,
            screenshots: if flags[0] {
                vec![ImageFile::OfProject("shot.gif".to_owned())]
            } else {
                Vec::new()
            },
            inline: flags[1],
            images_apart: flags[2],
            refused_images: &[],
            beads: if flags[3] { BeadsRequest::Included } else { BeadsRequest::None },
            discussion: flags[4].then_some(discussion),
        }
    })
}

/// Returns the word for a file in focus, if there is such a file; otherwise it would be an error.
fn focus_words(name: Option<&str>, files: &BTreeMap<String, String>) -> Vec<String> {
    let word = name.map(|name| format!("{name}0"));
    word.into_iter().filter(|word| files.keys().any(|path| path.starts_with(word.as_str()))).collect()
}

fn any_case() -> impl Strategy<Value = BudgetCase> {
    let items = prop::collection::vec(any_item(), 0..4);
    let focus = prop::option::weighted(0.4, prop::sample::select(NAMES));
    let how = (prop::sample::select(Views::ALL.as_slice()), prop::sample::select(FileOrder::ALL.as_slice()));
    let task = prop::option::weighted(0.4, prop::sample::select(TASKS));
    let asked = (prop::option::weighted(0.8, any_tier()), any_limits(), any_sections(), task);
    (any_files(), items, focus, how, asked).prop_map(
        |(files, items, focus, (strategy, order), (tier, limits, sections, task))| {
            let request = AggregationRequest {
                hydrated: None,
                overview: false,
                tier,
                strategy,
                default_mode: ViewMode::Summary,
                docs: DocsDetail::Brief,
                order,
                focus: focus_words(focus, &files),
                task: task.map(str::to_owned),
                files: Vec::new(),
                include: Vec::new(),
                exclude: Vec::new(),
                base: None,
                history: None,
                overrides: Vec::new(),
                items: items.clone(),
                preset: None,
                limits,
                exact_tokens: false,
                counts_symbols: false,
                trust: Trust::Stamps,
                sections,
            };
            BudgetCase { files, items, request }
        },
    )
}

fn sandbox(case: &BudgetCase) -> TestProject {
    let files = case.files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    let beside = [
        ("talk.json", r#"["User: hello\n\nworld", {"role": "assistant", "content": "```\nhi"}]"#),
        ("shot.gif", "GIF89a of a kind that nobody looks at"),
        (
            ".beads/issues.jsonl",
            "{\"id\": \"b-1\", \"title\": \"One\", \"status\": \"open\", \"description\": \"x\\n\"}\n",
        ),
    ];
    TestProject::new(&files.chain(beside).collect::<Vec<_>>())
}

/// Counts the tokens of a text with the library itself, in one piece.
fn tokens(text: &str) -> u64 {
    tiktoken_rs::o200k_base_singleton().count_ordinary(text) as u64
}

fn read_by_the_model(document: &Document, images_apart: bool) -> String {
    if !images_apart {
        return render::render_markdown(document).text().into_owned();
    }
    let pieces = render::prefix_pieces(document).map(|piece| match piece {
        PrefixPiece::Text(text) => text,
        PrefixPiece::Image { caption, .. } => caption,
        PrefixPiece::StableEnd => String::new(),
    });
    pieces.collect::<String>() + &render::suffix_text(document)
}

/// Checks that a document keeps its limits, and that its receipt says so.
fn check_limits(document: &Document, request: &AggregationRequest) -> Result<(), TestCaseError> {
    let DocumentLimits { tokens: budget, bytes, .. } = request.limits;
    let text = render::render_markdown(document);
    prop_assert_eq!(document.receipt.bytes, text.len() as u64);
    let layout = render::document_layout(document, false);
    prop_assert_eq!((layout.bytes(), layout.tokens()), (text.len() as u64, document.receipt.tokens));
    prop_assert!(bytes.is_none_or(|limit| text.len() as u64 <= limit));
    if let Some(budget) = budget {
        let tokens = tokens(&read_by_the_model(document, request.sections.images_apart));
        prop_assert_eq!(document.receipt.tokens, tokens);
        prop_assert!(tokens <= budget, "{} tokens are over {}", tokens, budget);
    }
    Ok(())
}

/// Returns whether a file is only named, without a block.
fn is_listed(entry: &ReceiptEntry) -> bool {
    let is_path = entry.view == ViewMode::Path && entry.wanted != ViewMode::Path;
    is_path || entry.view == ViewMode::Names
}

/// Checks how each file is shown, compared with an unlimited document.
fn check_files(document: &Document, unlimited: &Document, case: &BudgetCase) -> Result<(), TestCaseError> {
    let full = CuratedItems::new(case.items.clone());
    let shown: BTreeMap<_, _> = document.receipt.files.iter().map(|entry| (&entry.path, entry)).collect();
    let left_out: BTreeMap<_, _> =
        document.receipt.omitted.iter().map(|file| (&file.path, file.reason)).collect();
    let known: BTreeSet<_> = shown.keys().chain(left_out.keys()).copied().collect();
    prop_assert_eq!(known.len(), shown.len() + left_out.len(), "no file is reported twice");
    prop_assert_eq!(known.len(), unlimited.receipt.files.len() + unlimited.receipt.omitted.len());
    for (block, wanted) in unlimited.blocks.iter().zip(&unlimited.receipt.files) {
        let Some(entry) = shown.get(&wanted.path) else {
            prop_assert!(!wanted.rule.is_binding(), "{} is left out", wanted.path);
            prop_assert_eq!(left_out[&wanted.path], Omission::Budget { wanted: wanted.wanted });
            continue;
        };
        let now = document.blocks.iter().find(|block| block.path == wanted.path);
        prop_assert_eq!(now.is_none(), is_listed(entry), "{} is shown once", wanted.path);
        prop_assert_eq!((entry.wanted, entry.rule), (wanted.wanted, wanted.rule));
        if now == Some(block) {
            // A text that equals its skeleton may be shown as the text, too.
            let is_whole = block.view == ViewMode::Full && wanted.wanted != ViewMode::Full;
            prop_assert!(is_whole || entry.reason == wanted.reason);
        } else if entry.view != wanted.view {
            prop_assert!(!wanted.rule.is_binding(), "{} is reduced", wanted.path);
            prop_assert!(entry.reason.as_ref().is_some_and(|why| why.contains("budget")));
        }
        let is_forced = full.find(&wanted.path).is_some_and(|item| item.force_full);
        prop_assert!(!is_forced || now == Some(block));
    }
    Ok(())
}

/// Checks that a refused document is really too large, and that it fits if the limit is raised by the excess that the
/// error reports.
fn check_refusal(error: &Error, case: &BudgetCase, sandbox: &TestProject) -> Result<(), TestCaseError> {
    let mut request = case.request.clone();
    match error {
        Error::OverBudget { tokens, budget } => {
            prop_assert!(budget < tokens && Some(*budget) == request.limits.tokens);
            request.limits = DocumentLimits { tokens: Some(*tokens), ..DocumentLimits::default() };
        }
        Error::OverSize { bytes, limit } => {
            prop_assert!(limit < bytes && Some(*limit) == request.limits.bytes);
            request.limits = DocumentLimits { bytes: Some(*bytes), ..DocumentLimits::default() };
        }
        other => return Err(TestCaseError::fail(other.to_string())),
    }
    let document = sandbox.project(false).aggregate(&request).unwrap();
    check_limits(&document, &request)?;
    let mut yields = document.receipt.files.iter().filter(|entry| !entry.rule.is_binding());
    // Optional files are reduced to paths at most, which may be shorter than the note that files are missing.
    prop_assert!(yields.all(|entry| entry.view == ViewMode::Path || entry.content.is_none()));
    Ok(())
}

fn check(case: &BudgetCase) -> Result<(), TestCaseError> {
    let sandbox = sandbox(case);
    match sandbox.project(false).aggregate(&case.request) {
        Ok(document) => {
            check_limits(&document, &case.request)?;
            let unlimited = AggregationRequest { limits: DocumentLimits::default(), ..case.request.clone() };
            check_files(&document, &sandbox.project(false).aggregate(&unlimited).unwrap(), case)
        }
        Err(error) => check_refusal(&error, case, &sandbox),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(11), ..ProptestConfig::with_cases(150) })]

    #[test]
    fn no_document_exceeds_its_limits(case in any_case()) {
        check(&case)?;
    }
}
