//! Questions as JSON: parsing, rejection and serialization.

use serde_json::json;

use super::*;
use crate::api::choices::{DocsName, FormatName, MaskName, ModeName, OrderName, PartName, StrategyName};
use crate::api::inline_curation::HistorySource;
use crate::api::queries::{
    AttachmentOptions, CallDirectionName, ComparedDocument, FragmentAction, GivenDocumentName, LineRange,
    MaskEntry, NamedThing, ViewSelection, WarmthName,
};

fn full_selection() -> ViewSelection {
    ViewSelection {
        tier: Some(3),
        persona: Some("reviewer".to_owned().into()),
        preset: Some("core".to_owned().into()),
        items: serde_json::from_value(json!([{"path": "a.py", "ast_mask": {"A": "sig"}}])).unwrap(),
        strategy: Some(StrategyName::Summarize),
        focus: vec!["a.py:12".to_owned()],
        docs: Some(DocsName::None),
        task: Some("Fix it".to_owned()),
        base: Some("HEAD~1".to_owned()),
        budget: Some(1),
        default_budget: Some(2),
        max_bytes: Some(u64::MAX),
    }
}

fn slice_pin() -> EditFragmentsQuery {
    EditFragmentsQuery {
        action: FragmentAction::Pin,
        files: vec!["a.py".to_owned()],
        slice: Some("push".to_owned()),
        depth: Some(4),
    }
}

fn all_queries() -> Vec<AnyQuery> {
    let mask = vec![MaskEntry { symbol: "Engine.run".to_owned(), show: MaskName::Def }];
    let attachments = AttachmentOptions {
        history: Some(HistorySource::File("said.toml".to_owned())),
        part: PartName::Suffix,
        screenshots: vec!["\u{0}/../x.png".to_owned()],
        ..AttachmentOptions::default()
    };
    vec![
        AnyQuery::Index(IndexQuery { verify: true }),
        AnyQuery::Files(FilesQuery {}),
        AnyQuery::Outline(OutlineQuery::default()),
        AnyQuery::View(ViewQuery {
            files: vec!["src".to_owned()],
            mode: Some(ModeName::AstSignatures),
            mask,
            lines: vec![LineRange { start: 1, end: 2 }],
            ..ViewQuery::default()
        }),
        AnyQuery::Symbols(SymbolsQuery {
            name: "run".to_owned(),
            definition: true,
            ignore_case: true,
            kind: Some("class".to_owned()),
        }),
        AnyQuery::Image(ImageQuery { path: "ui/before.png".to_owned() }),
        AnyQuery::Refs(RefsQuery { symbol: Some("run".to_owned()) }),
        AnyQuery::Calls(CallsQuery {
            symbol: "Engine.run".to_owned(),
            direction: CallDirectionName::Callees,
            depth: Some(2),
        }),
        AnyQuery::Impact(ImpactQuery {
            base: Some("HEAD~1".to_owned()),
            tests: true,
            ..ImpactQuery::default()
        }),
        AnyQuery::Aggregate(Box::new(AggregateQuery {
            choice: full_selection(),
            order: Some(OrderName::Given),
            format: FormatName::Openai,
            attachments,
            ..AggregateQuery::default()
        })),
        AnyQuery::OpenDocument(Box::new(OpenDocumentQuery(AggregateQuery {
            choice: full_selection(),
            ..AggregateQuery::default()
        }))),
        AnyQuery::ReadDocument(ReadDocumentQuery { id: "a1".to_owned(), line: 3, lines: 2_000 }),
        AnyQuery::CompareDocuments(CompareDocumentsQuery {
            from: ComparedDocument::Given(GivenDocumentName {
                given: "worker".to_owned(),
                curation: Some("1a".to_owned()),
                back: 1,
            }),
            to: ComparedDocument::Opened("a1".to_owned()),
        }),
        AnyQuery::Given(GivenQuery { name: Some("worker".to_owned()), ..GivenQuery::default() }),
        AnyQuery::Hydrate(Box::new(HydrateQuery { choice: full_selection(), fragments: true })),
        AnyQuery::Simulate(Box::new(SimulateQuery(HydrateQuery {
            choice: full_selection(),
            fragments: true,
        }))),
        AnyQuery::Fragments(FragmentsQuery { tier: Some(WarmthName::Hot), text: true }),
        AnyQuery::EditFragments(slice_pin()),
        AnyQuery::Explain(Box::new(ExplainQuery { file: "a.py".to_owned(), choice: full_selection() })),
        AnyQuery::Search(SearchQuery {
            query: "parse header".to_owned(),
            limit: Some(3),
            kind: Some("file".to_owned()),
        }),
        AnyQuery::Table(Box::new(TableQuery {
            choice: full_selection(),
            since: Some("1:2".to_owned()),
            trust_events: true,
        })),
        AnyQuery::Find(FindQuery {
            query: "rb".to_owned(),
            of: vec![NamedThing::File, NamedThing::Symbol],
            limit: Some(3),
        }),
        AnyQuery::Curation(CurationQuery {}),
        AnyQuery::EditCuration(EditCurationQuery {
            revision: "00".to_owned(),
            label: "Full on a.py".to_owned(),
            edits: serde_json::from_value(json!([
                {"set": {"files": {"paths": ["a.py"]}, "to": {"force_full": true}, "unset": ["tier"]}},
                {"slice_change": {"path": "a.py", "index": 0, "tag": "new"}},
                {"mask": {"path": "a.py", "set": {"A.b": "sig"}}},
                {"screenshots": {"add": ["a.png"]}},
            ]))
            .unwrap(),
            dry_run: true,
        }),
        AnyQuery::CacheStatus(CacheStatusQuery {}),
        AnyQuery::CacheClear(CacheClearQuery { summaries: true, ..CacheClearQuery::default() }),
        AnyQuery::CacheExport(CacheExportQuery { limit: Some(5), ..CacheExportQuery::default() }),
        AnyQuery::CacheVerify(CacheVerifyQuery {}),
        AnyQuery::CacheGc(CacheGcQuery { days: 30 }),
        AnyQuery::Audit(AuditQuery {}),
    ]
}

fn take_queries() -> Vec<AnyQuery> {
    vec![
        AnyQuery::History(HistoryQuery { take: Some("main".to_owned()) }),
        AnyQuery::Undo(UndoQuery { revision: "00".to_owned() }),
        AnyQuery::Redo(RedoQuery { revision: "00".to_owned() }),
        AnyQuery::Jump(JumpQuery { revision: "00".to_owned(), to: 3 }),
        AnyQuery::Takes(TakesQuery {}),
        AnyQuery::EditTakes(EditTakesQuery {
            revision: "00".to_owned(),
            action: crate::api::TakeAction::Rename,
            name: "main".to_owned(),
            from: None,
            to: Some("other".to_owned()),
            force: false,
        }),
    ]
}

#[test]
fn a_question_round_trips() {
    for ask in all_queries().into_iter().chain(take_queries()) {
        let wire = serde_json::to_string(&ask).unwrap();
        assert_eq!(serde_json::from_str::<AnyQuery>(&wire).unwrap(), ask, "{wire}");
    }
}

#[test]
fn omitted_keys_are_left_to_the_settings() {
    assert_eq!(serde_json::from_value::<AggregateQuery>(json!({})).unwrap(), AggregateQuery::default());
    let short = json!({"ask": "explain", "file": "a.py"});
    let AnyQuery::Explain(ask) = serde_json::from_value(short).unwrap() else {
        panic!("not a question for an explanation")
    };
    assert_eq!(ask.choice, ViewSelection::default());
}

#[test]
fn keys_of_earlier_releases_are_still_read() {
    let old =
        json!({"ask": "aggregate", "choice": {"against": "v1"}, "beside": {"take": "2"}, "measured": true});
    let new = json!({"ask": "aggregate", "choice": {"base": "v1"}, "attachments": {"take": "2"}, "exact_tokens": true});
    let read = |value| serde_json::from_value::<AnyQuery>(value).unwrap();
    assert_eq!(read(old), read(new));
    assert_eq!(read(json!({"ask": "cache_collect", "days": 3})), read(json!({"ask": "cache_gc", "days": 3})));
}

#[test]
fn a_mask_is_a_list_of_entries_or_an_object() {
    let read =
        |mask| serde_json::from_value::<AnyQuery>(json!({"ask": "view", "files": ["a.py"], "mask": mask}));
    let entries = json!([{"symbol": "A.b", "show": "def"}, {"symbol": "c", "show": "hide"}]);
    assert_eq!(read(json!({"A.b": "full", "c": "hide"})).unwrap(), read(entries).unwrap());
    assert!(read(json!({"c": "hid"})).unwrap_err().to_string().contains("unknown variant `hid`"));
}

#[test]
fn an_unknown_key_is_in_the_error() {
    let wrong = [
        (json!({"ask": "outline", "fils": []}), "fils"),
        (json!({"ask": "aggregate", "choice": {"budgt": 3}}), "budgt"),
        (json!({"ask": "view", "files": ["a"], "mode": "windw"}), "windw"),
        (json!({"ask": "view", "lines": [{"start": 1}]}), "end"),
        (json!({"ask": "symbols"}), "name"),
        (json!({"ask": "erase"}), "erase"),
    ];
    for (ask, word) in wrong {
        let error = serde_json::from_value::<AnyQuery>(ask.clone()).unwrap_err().to_string();
        assert!(error.contains(word), "{ask}: {error}");
    }
}
