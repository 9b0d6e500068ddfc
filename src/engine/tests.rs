//! What the engine does, and what it does not do a second time: real files, a real store, and a count of the readings.

use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;

use super::options::{Options, SummaryLookupOptions, World};
use super::project::Project;
use super::report::NoProgress;
use crate::aggregate::DocumentLimits;
use crate::aggregate::Importance;
use crate::aggregate::TierOptions;
use crate::aggregate::TokenCounter;
use crate::discover;
use crate::engine::artifacts::{
    ContentRef, ImportanceInputs, SkeletonPrefetch, checked_skeleton, importance,
};
use crate::engine::document::{
    AggregationRequest, DocumentHistory, ImageFile, SectionRequest, ViewRequest, sections,
};
use crate::engine::index::{ScanRequest, Trust, scan, select_named};
use crate::model::AggregationStrategy;
use crate::model::FileOrder;
use crate::model::RelPath;
use crate::model::ScreenshotImage;
use crate::model::SummaryDetail;
use crate::model::Tier;
use crate::model::ViewMode;
use crate::sys::Disk;
use crate::sys::FileContent;
use crate::sys::FileKind;
use crate::sys::FileStat;
use crate::sys::Files;
use crate::sys::ReadError;
use crate::sys::RealDisk;
use crate::sys::RealFiles;
use crate::sys::RealProcesses;
use crate::sys::WallClock;

/// Real files, with a count of how often each was read.
struct CountingFiles {
    files: RealFiles,
    reads: Mutex<BTreeMap<String, usize>>,
    /// So many readings more are disturbed by a change.
    disturbances: AtomicUsize,
}

impl Files for CountingFiles {
    fn stat(&self, path: &RelPath) -> io::Result<FileStat> {
        self.files.stat(path)
    }

    fn read(&self, path: &RelPath, limit: u64) -> Result<FileContent, ReadError> {
        *self.reads.lock().unwrap().entry(path.to_string()).or_default() += 1;
        let disturbed =
            self.disturbances.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if disturbed.is_ok() { Err(ReadError::Changing) } else { self.files.read(path, limit) }
    }

    fn entry_names(&self, folder: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        self.files.entry_names(folder)
    }

    fn entries(&self, folder: &[u8]) -> io::Result<Vec<(Vec<u8>, FileKind)>> {
        self.files.entries(folder)
    }
}

/// A project in a folder of its own.
pub(in crate::engine) struct TestProject {
    folder: tempfile::TempDir,
    files: CountingFiles,
}

impl TestProject {
    pub(in crate::engine) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            RealDisk.create_new(&folder.path().join(path), text.as_bytes()).unwrap();
        }
        let files = RealFiles::open(folder.path()).unwrap();
        let files = CountingFiles { files, reads: Mutex::default(), disturbances: AtomicUsize::new(0) };
        Self { folder, files }
    }

    fn write(&self, path: &str, text: &str) {
        RealDisk.replace(&self.folder.path().join(path), text.as_bytes()).unwrap();
    }

    pub(in crate::engine) fn project(&self, cache_enabled: bool) -> Project<'_> {
        let options = Options { cache_enabled, ..options() };
        let world = World {
            clock: &WallClock,
            disk: &RealDisk,
            files: &self.files,
            processes: &RealProcesses,
            progress: &NoProgress,
        };
        Project::open(self.folder.path(), options, world).unwrap()
    }

    /// Returns how often each file was read since this was last asked.
    fn reads(&self) -> Vec<(String, usize)> {
        std::mem::take(&mut *self.files.reads.lock().unwrap()).into_iter().collect()
    }
}

pub(in crate::engine) fn options() -> Options {
    Options {
        cache_enabled: true,
        cache_dir: RelPath::new(b".slop_cache").unwrap(),
        names: discover::Options {
            apart: vec![b".slop_cache".to_vec()],
            secret_names: vec![],
            secrets_allowed: vec![],
        },
        max_bytes: 1 << 20,
        structure_max_bytes: 8 << 20,
        parse_timeout: std::time::Duration::from_mins(1),
        window_lines: 1,
        counter: TokenCounter::O200kBase,
        screenshot_bytes: 1 << 10,
        section_bytes: 1 << 10,
        summary_lookup: SummaryLookupOptions { uses_earlier: true, ..SummaryLookupOptions::default() },
    }
}

pub(in crate::engine) fn request(
    strategy: AggregationStrategy,
    view: ViewMode,
    focus: &[&str],
) -> AggregationRequest {
    let tier = TierOptions {
        tier: Tier::Worker,
        view,
        focus_view: ViewMode::Full,
        summary_detail: SummaryDetail::Words,
        by_model: false,
        tree: false,
        language_views: BTreeMap::new(),
    };
    AggregationRequest {
        base: None,
        items: Vec::new(),
        preset: None,
        limits: DocumentLimits::default(),
        exact_tokens: false,
        tier: Some(tier),
        strategy,
        default_mode: ViewMode::Summary,
        order: FileOrder::Path,
        focus: focus.iter().map(|word| (*word).to_owned()).collect(),
        files: vec![],
        trust: Trust::Stamps,
        sections: SectionRequest::nothing(),
        history: None,
    }
}

fn once(paths: &[&str]) -> Vec<(String, usize)> {
    paths.iter().map(|path| ((*path).to_owned(), 1)).collect()
}

const FILES: &[(&str, &str)] = &[("a.py", "def a():\n    return 1\n"), ("b.py", "def b():\n    return 2\n")];

#[test]
fn a_file_is_read_once_in_a_run_even_where_its_text_is_shown() {
    let bench = TestProject::new(FILES);
    let document =
        bench.project(true).aggregate(&request(AggregationStrategy::Full, ViewMode::Full, &[])).unwrap();
    assert_eq!(document.blocks[0].body, FILES[0].1);
    assert_eq!(bench.reads(), once(&["a.py", "b.py"]));
}

#[test]
fn what_has_not_changed_is_read_only_where_its_text_is_shown() {
    let bench = TestProject::new(FILES);
    bench.project(true).index(Trust::Stamps).unwrap();
    bench.reads();
    let document = bench
        .project(true)
        .aggregate(&request(AggregationStrategy::Auto, ViewMode::Skeleton, &["b.py"]))
        .unwrap();
    assert_eq!(bench.reads(), once(&["b.py"]));
    let views: Vec<_> = document.blocks.iter().map(|block| block.view).collect();
    assert_eq!(views, [ViewMode::Skeleton, ViewMode::Full]);
}

#[test]
fn a_file_that_changes_while_it_is_read_is_read_again() {
    let bench = TestProject::new(&FILES[..1]);
    bench.files.disturbances.store(2, Ordering::SeqCst);
    let report = bench.project(true).index(Trust::Stamps).unwrap();
    assert_eq!((report.files, report.hashed, report.parsed), (1, 1, 1));
}

#[test]
fn a_file_that_never_holds_still_is_left_out_and_said_so() {
    let bench = TestProject::new(&FILES[..1]);
    bench.files.disturbances.store(100, Ordering::SeqCst);
    let report = bench.project(true).index(Trust::Stamps).unwrap();
    assert_eq!(report.left_out, BTreeMap::from([(crate::model::SkipReason::Unstable, 1)]));
    assert!(report.has_errors());
}

#[test]
fn one_content_under_many_names_is_derived_from_once() {
    let text = FILES[0].1;
    let bench = TestProject::new(&[("a.py", text), ("b.py", text), ("c/d.py", text)]);
    let report = bench.project(true).index(Trust::Stamps).unwrap();
    assert_eq!((report.files, report.hashed, report.parsed, report.reused), (3, 3, 1, 2));
}

#[test]
fn without_a_cache_every_answer_is_the_same_and_nothing_is_written() {
    let bench = TestProject::new(FILES);
    let ask = request(AggregationStrategy::Auto, ViewMode::Skeleton, &["a.py"]);
    let without = bench.project(false).aggregate(&ask).unwrap();
    assert!(!bench.folder.path().join(".slop_cache").exists());
    assert_eq!(bench.project(true).aggregate(&ask).unwrap(), without);
}

#[test]
fn a_header_is_read_anew_when_its_neighbors_tell_another_language() {
    let bench = TestProject::new(&[("x.h", "int f(int class_);\n")]);
    let language = |bench: &TestProject| {
        let mut project = bench.project(true);
        let outlines = project.outlines(&[], Trust::Stamps).unwrap();
        outlines.iter().find(|answer| answer.path.as_bytes() == b"x.h").unwrap().file_type.id
    };
    assert_eq!(language(&bench), "c");
    bench.write("x.cpp", "int f(int) { return 0; }\n");
    assert_eq!(language(&bench), "cpp");
}

#[test]
fn a_text_that_is_too_much_for_a_parser_is_shown_in_words() {
    let deep = "(".repeat(100_000);
    let bench = TestProject::new(&[("deep.c", &deep)]);
    let document =
        bench.project(true).aggregate(&request(AggregationStrategy::Auto, ViewMode::Skeleton, &[])).unwrap();
    let entry = &document.receipt.files[0];
    assert_eq!((entry.wanted, entry.view), (ViewMode::Skeleton, ViewMode::Summary));
    assert_eq!(entry.reason.as_deref(), Some("no skeleton: it is nested too deeply to be parsed"));
    assert!(entry.bytes < 1000);
}

/// A body that stands in for a macro's argument: what the grammar makes of it is a guess.
const GUESSED: &str =
    "FROB(int) run(int a)\n{\n  return a + 1;\n}\n\nBEGIN(x\nint f(int a)\n{\n  return a;\n}\n";

fn view_request(mode: ViewMode, files: &[&str]) -> ViewRequest {
    ViewRequest {
        items: Vec::new(),
        files: files.iter().map(|&file| file.to_owned()).collect(),
        mode: Some(mode),
        mask: Vec::new(),
        lines: Vec::new(),
        base: None,
        trust: Trust::Stamps,
    }
}

fn stored_skeleton(bench: &TestProject, path: &str) -> crate::model::Skeleton {
    let mut project = bench.project(true);
    let selection = select_named(&mut project.cache, &[path.to_owned()], Trust::Stamps, &|_| false).unwrap();
    let subject = ContentRef::from_file(&selection.files[0]).unwrap();
    project.cache.cached_skeleton(&subject).unwrap()
}

#[test]
fn a_skeleton_is_checked_when_it_is_first_shown_and_not_again() {
    let bench = TestProject::new(&[("a.cpp", GUESSED), ("b.cpp", "int f() {\n  return 1;\n}\n")]);
    bench.project(true).index(Trust::Stamps).unwrap();
    assert!(!stored_skeleton(&bench, "a.cpp").is_checked);
    assert!(stored_skeleton(&bench, "b.cpp").is_checked, "nothing was guessed");
    bench.reads();
    let ask = view_request(ViewMode::Skeleton, &["a.cpp", "b.cpp"]);
    let first = bench.project(true).views(&ask).unwrap();
    assert_eq!(bench.reads(), [("a.cpp".to_owned(), 1)]);
    assert_eq!(bench.project(true).views(&ask).unwrap()[0].block, first[0].block);
    assert_eq!(bench.project(true).index(Trust::Stamps).unwrap().parsed, 0);
    assert_eq!(bench.reads(), []);
    let shown = &first[0].block.body;
    assert!(stored_skeleton(&bench, "a.cpp").is_checked);
    let errors = |text: &str| crate::syntax::count_errors("cpp", text, &mut || false).unwrap();
    assert!(errors(shown) <= errors(GUESSED) && 0 < errors(GUESSED), "{shown}");
}

#[test]
fn a_document_checks_all_that_it_shows_and_keeps_it() {
    let files: Vec<(String, String)> =
        (0..20).map(|n| (format!("f{n}.cpp"), format!("{GUESSED}int g{n};\n"))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let bench = TestProject::new(&files);
    bench.project(true).index(Trust::Stamps).unwrap();
    bench.reads();
    let ask = request(AggregationStrategy::Auto, ViewMode::Skeleton, &["f7.cpp"]);
    let first = bench.project(true).aggregate(&ask).unwrap();
    let mut reads = bench.reads();
    assert!(reads.iter().all(|(_, times)| *times == 1), "{reads:?}");
    reads.retain(|(path, _)| path != "f7.cpp");
    assert_eq!(reads.len(), 19);
    assert!(!stored_skeleton(&bench, "f7.cpp").is_checked, "nobody saw it");
    assert!(stored_skeleton(&bench, "f8.cpp").is_checked);
    assert_eq!(bench.project(true).aggregate(&ask).unwrap(), first);
    assert_eq!(bench.reads(), [("f7.cpp".to_owned(), 1)]);
}

#[test]
fn a_file_that_has_changed_since_is_not_shown_unchecked() {
    let bench = TestProject::new(&[("a.cpp", GUESSED)]);
    let mut project = bench.project(false);
    let selection =
        select_named(&mut project.cache, &["a.cpp".to_owned()], Trust::Stamps, &|_| false).unwrap();
    let subject = ContentRef::from_file(&selection.files[0]).unwrap();
    bench.write("a.cpp", "int x;\n");
    assert!(project.cache.cached_skeleton(&subject).is_some());
    assert_eq!(checked_skeleton(&mut project.cache, &mut SkeletonPrefetch::default(), &subject), None);
}

#[test]
fn twenty_edits_of_one_size_are_all_seen() {
    let bench = TestProject::new(&[("a.py", "x = 00\n")]);
    let request = view_request(ViewMode::Summary, &["a.py"]);
    for number in 0..20 {
        // In place, so that neither the inode nor the size tells.
        let text = format!("x = {number:02}\n");
        let path = bench.folder.path().join("a.py");
        let mut file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        let views = bench.project(true).views(&request).unwrap();
        let shown = views[0].block.content.unwrap();
        assert_eq!(shown, crate::model::ContentHash::digest(text.as_bytes()));
    }
}

#[test]
fn tokens_of_a_text_are_counted_once() {
    let bench = TestProject::new(&[]);
    let texts = ["def run(self):\n", "", "def run(self):\n", "x"];
    let counted = bench.project(true).count_tokens(&texts);
    assert_eq!(counted, texts.map(|text| TokenCounter::O200kBase.count(text)));
    let mut project = bench.project(true);
    let hashes = texts.map(|text| crate::model::ContentHash::digest(text.as_bytes()));
    let key = TokenCounter::O200kBase.key().unwrap();
    let stored =
        |project: &Project<'_>| project.cache.store.as_ref().unwrap().get_token_counts(key, &hashes).unwrap();
    assert_eq!(stored(&project), counted.iter().copied().map(Some).collect::<Vec<_>>());
    // A count that cannot have been counted shows that it was looked up.
    project.cache.store.as_mut().unwrap().save_token_counts(key, &[(hashes[3], 77)], 1).unwrap();
    assert_eq!(project.count_tokens(&["x", "y"]), [77, TokenCounter::O200kBase.count("y")]);
}

#[test]
fn tokens_are_counted_without_a_cache_too() {
    let bench = TestProject::new(&[]);
    let mut project = bench.project(false);
    assert_eq!(project.count_tokens(&["a b", "a b"]), [TokenCounter::O200kBase.count("a b"); 2]);
    project.cache.workspace.options.counter = TokenCounter::Estimate;
    assert_eq!(project.count_tokens(&["four"]), [2]);
}

/// Returns the importance of all files, by path.
fn rate_all(project: &mut Project<'_>, focus: &str) -> BTreeMap<String, Importance> {
    let request = ScanRequest {
        trust: Trust::Stamps,
        scope: &[],
        keeps_text: &|_| false,
        keeps_known: true,
        settles: true,
    };
    let files = scan(&mut project.cache, &request).unwrap().files;
    let in_focus = |path: &RelPath| path.as_bytes() == focus.as_bytes();
    let standing = ImportanceInputs {
        in_focus: &in_focus,
        is_curated: &|_| false,
        changes: &std::collections::HashMap::new(),
    };
    let rated = importance(&mut project.cache, &files.iter().collect::<Vec<_>>(), &standing);
    files.iter().map(|file| file.path.to_string()).zip(rated).collect()
}

/// A module that two others use, in different words.
const USED: &[(&str, &str)] = &[
    ("engine.py", "class Engine:\n    def run_all(self):\n        pass\n"),
    ("a.py", "import engine\nengine.Engine().run_all()\n"),
    ("b.py", "# Engine.run_all\n"),
    ("notes.md", "Engine run_all\n"),
];

#[test]
fn a_file_is_as_important_as_others_refer_to_it() {
    let bench = TestProject::new(USED);
    let rated = rate_all(&mut bench.project(true), "a.py");
    let told = |path: &str| (rated[path].in_focus, rated[path].referred_by, rated[path].shared_with_focus);
    assert_eq!(told("engine.py"), (false, 2, 3));
    assert_eq!((told("a.py"), told("b.py")), ((true, 0, 0), (false, 0, 0)));
    // Prose is not searched: what it speaks of is not used by it.
    assert_eq!(told("notes.md"), (false, 0, 0));
    assert!(rated["b.py"].score < rated["engine.py"].score && rated["engine.py"] < rated["a.py"]);
}

#[test]
fn names_are_looked_for_once_for_each_content() {
    let bench = TestProject::new(USED);
    let index_and_forget_reads = || {
        bench.project(true).index(Trust::Stamps).unwrap();
        bench.reads();
    };
    index_and_forget_reads();
    let first = rate_all(&mut bench.project(true), "");
    assert_eq!(bench.reads(), ["a.py", "b.py", "engine.py"].map(|path| (path.to_owned(), 1)));
    assert_eq!(rate_all(&mut bench.project(true), ""), first);
    assert_eq!(bench.reads(), []);
    bench.write("b.py", "pass\n");
    index_and_forget_reads();
    assert_eq!(rate_all(&mut bench.project(true), "")["engine.py"].referred_by, 1);
    assert_eq!(bench.reads(), [("b.py".to_owned(), 1)]);
    bench.project(true).collect_garbage(1).unwrap();
    assert_eq!(rate_all(&mut bench.project(true), "").len(), USED.len());
    assert_eq!(bench.reads(), []);
}

#[test]
fn importance_is_the_same_without_a_cache() {
    let bench = TestProject::new(USED);
    let with = rate_all(&mut bench.project(true), "a.py");
    let mut project = bench.project(false);
    assert_eq!(rate_all(&mut project, "a.py"), with);
    assert_eq!(rate_all(&mut project, "a.py"), with);
    // What was kept in memory for the names is not in the way of what was there before.
    let ask = request(AggregationStrategy::Auto, ViewMode::Skeleton, &[]);
    assert_eq!(project.aggregate(&ask).unwrap(), bench.project(true).aggregate(&ask).unwrap());
}

#[test]
fn a_run_deletes_no_output_that_another_wrote_meanwhile() {
    let bench = TestProject::new(FILES);
    let (mut one, mut other) = (bench.project(true), bench.project(true));
    let folder = std::path::Path::new("out");
    let old = one.write_numbered(folder, "p", "md", "old").unwrap();
    let before = one.prior_outputs(folder, "p");
    let newest = other.write_numbered(folder, "p", "md", "of the other").unwrap();
    let own = one.write_numbered(folder, "p", "md", "own").unwrap();
    one.prune_outputs(folder, before, 1);
    assert_eq!([old.exists(), newest.exists(), own.exists()], [false, true, true]);
    let before = other.prior_outputs(folder, "p");
    other.prune_outputs(folder, before, 1);
    assert_eq!([newest.exists(), own.exists()], [false, false], "none was written in this run");
}

#[test]
fn a_screenshot_that_the_project_itself_names_must_lie_in_it() {
    let bench = TestProject::new(&[("a.gif", "GIF89a"), ("sub/b.gif", "GIF89a")]);
    let outside = tempfile::NamedTempFile::new().unwrap();
    RealDisk.replace(outside.path(), b"GIF89a").unwrap();
    std::os::unix::fs::symlink(outside.path(), bench.folder.path().join("link.gif")).unwrap();
    let outside = outside.path().to_str().unwrap();
    let named = ["a.gif", "./sub/b.gif", "gone.gif", "sub/../a.gif", "../a.gif", outside, "link.gif"];
    let screenshots: Vec<_> = named.map(|path| ImageFile::OfProject(path.to_owned())).into();
    for inline in [false, true] {
        let request =
            SectionRequest { screenshots: screenshots.clone(), inline, ..SectionRequest::nothing() };
        let sections = sections(&bench.project(false).cache.workspace, &request).unwrap();
        let shown: Vec<bool> = sections
            .screenshots
            .iter()
            .map(|shot| !matches!(shot.image, ScreenshotImage::Failed(_)))
            .collect();
        assert_eq!(shown, [true, true, false, false, false, false, false], "inline: {inline}");
        assert_eq!(sections.problems.len(), 5);
    }
}

#[test]
fn what_was_composed_is_remembered_when_it_has_been_delivered() {
    let bench = TestProject::new(FILES);
    let asked = |since_last| AggregationRequest {
        history: Some(DocumentHistory { name: "x".to_owned(), since_last }),
        ..request(AggregationStrategy::Auto, ViewMode::Skeleton, &[])
    };
    let shown = |project: &mut Project<'_>| project.aggregate(&asked(true)).unwrap().blocks.len();
    let mut project = bench.project(true);
    project.index(Trust::Stamps).unwrap();
    project.aggregate(&asked(false)).unwrap();
    project.discard_delivery();
    project.confirm_delivery();
    assert_eq!(shown(&mut project), 2);
    project.confirm_delivery();
    bench.reads();
    assert_eq!(shown(&mut bench.project(true)), 0);
    // Nothing but the cache was asked.
    assert_eq!(bench.reads(), once(&[]));
}

#[test]
fn a_document_is_made_to_fit_into_many_limits_with_one_reading_of_each_file() {
    let files: Vec<(String, String)> = (0..9)
        .map(|at| (format!("f{at}.py"), format!("def f{at}(x):\n    return x + {at}\n").repeat(20)))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let bench = TestProject::new(&files);
    let mut project = bench.project(true);
    let mut request = request(AggregationStrategy::Auto, ViewMode::Full, &[]);
    request.limits.bytes = Some(4000);
    let mut prepared = project.prepare(&request).unwrap();
    for bytes in [4000, 1500, 3000, 700] {
        let limits = DocumentLimits { bytes: Some(bytes), ..DocumentLimits::default() };
        let composed = project.compose(&mut prepared, limits).unwrap();
        assert!(composed.receipt.bytes <= bytes);
        request.limits = limits;
        assert_eq!(composed.blocks, bench.project(false).aggregate(&request).unwrap().blocks);
        assert_eq!(composed.receipt.max_bytes, Some(bytes));
    }
    drop(project);
    let _ = bench.reads();
    request.limits.bytes = Some(4000);
    let mut project = bench.project(true);
    let mut prepared = project.prepare(&request).unwrap();
    for bytes in [4000, 1500, 3000, 700] {
        project
            .compose(&mut prepared, DocumentLimits { bytes: Some(bytes), ..DocumentLimits::default() })
            .unwrap();
    }
    let reads = bench.reads();
    assert!(reads.iter().all(|(_, count)| *count == 1), "{reads:?}");
}

#[test]
fn the_slices_of_a_file_are_resolved_with_one_reading() {
    let bench = TestProject::new(&[("a.py", "one\ntwo\nthree\n")]);
    let project = bench.project(true);
    let slices = [1, 2, 3].map(|line| project.make_slice("a.py", line, line).unwrap());
    let _ = bench.reads();
    let resolved = project.resolve_slices("a.py", &slices).unwrap();
    assert_eq!(resolved.iter().map(|found| found.start_line).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(bench.reads(), [("a.py".to_owned(), 1)]);
}
