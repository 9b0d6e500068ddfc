//! Measures how long a long-running process takes for one document, without the socket: `cargo run --release --example
//! answers -- FOLDER`. Use a copy of the folder: ten of its files are edited repeatedly, and restored. No test depends
//! on the result.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a program of its own, with no windows")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use slop::internals::api::{AnswerShape, DocumentFormat, DocumentRequest, ReceiptScope, compose_document};
use slop::internals::config::{ConfigInputs, Settings};
use slop::internals::engine::{
    AggregationRequest, CachedDocument, DocumentHistory, DocumentLimits, NoProgress, Project, SectionRequest,
    Trust, WorkspaceCache, World,
};
use slop::internals::model::{
    AggregationStrategy, BodyOptions, CacheLifetime, DocsDetail, FileOrder, PromptCaching, RelPath, Tier,
    ViewMode,
};
use slop::internals::sys::RealFiles;

/// The same allocator as in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ROUNDS: usize = 41;
const EDITED: usize = 10;

fn main() {
    let root = PathBuf::from(std::env::args_os().nth(1).expect("usage: answers FOLDER"));
    let root = root.canonicalize().expect("the folder exists");
    let inputs = ConfigInputs::default();
    let loaded = slop::internals::config::load(&inputs).expect("the defaults are sound");
    let files = RealFiles::open(&root).expect("the folder can be opened");
    let world = World::real(&files, &NoProgress);
    let mut project = Project::open(&root, loaded.engine_options(&root), world).expect("it opens");
    let tree = Arc::new(WorkspaceCache::new());
    tree.set_trusted(true);
    project.share_cache(Arc::clone(&tree));
    let request = aggregation(&loaded.settings);
    for _ in 0..3 {
        document(&mut project, &request);
        std::thread::sleep(Duration::from_millis(200));
    }
    let bytes = document(&mut project, &request).map_or(0, |document| document.text.len());
    let unchanged = (0..ROUNDS).map(|_| timed(|| document(&mut project, &request)));
    println!("{bytes} bytes; unchanged: {}", words(unchanged.collect()));
    let edited = python_files(&root);
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        for (path, text) in &edited {
            std::fs::write(root.join(path.as_path()), format!("{text}\n# {round}\ndef f{round}(): pass\n"))
                .expect("it can be written");
        }
        tree.touch(&edited.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>());
        times.push(timed(|| document(&mut project, &request)));
    }
    for (path, text) in &edited {
        std::fs::write(root.join(path.as_path()), text).expect("it can be put back");
    }
    println!("{EDITED} files edited: {}; {:?}", words(times), tree.counts());
}

fn aggregation(settings: &Settings) -> DocumentRequest {
    let request = AggregationRequest {
        tier: Some(settings.tier_options(Tier::Worker, None)),
        strategy: AggregationStrategy::Auto,
        default_mode: ViewMode::Summary,
        overview: false,
        docs: DocsDetail::Brief,
        order: FileOrder::Stable,
        task: None,
        focus: Vec::new(),
        files: Vec::new(),
        include: Vec::new(),
        exclude: Vec::new(),
        base: None,
        items: Vec::new(),
        preset: None,
        hydrated: None,
        overrides: Vec::new(),
        limits: DocumentLimits::default(),
        exact_tokens: false,
        counts_symbols: false,
        trust: Trust::Stamps,
        sections: SectionRequest::nothing(),
        history: Some(DocumentHistory { name: "bench".to_owned(), curation: None, since_last: false }),
    };
    let body = BodyOptions {
        model: String::new(),
        system: None,
        temperature: None,
        top_p: None,
        max_output_tokens: 0,
        caching: PromptCaching { marks: 0, lifetime: CacheLifetime::FiveMinutes, min_tokens: 0 },
    };
    DocumentRequest {
        request,
        format: DocumentFormat::Markdown,
        body,
        project_name: "bench".to_owned(),
        is_preview: false,
        shape: AnswerShape { scope: ReceiptScope::None, in_parts: false },
    }
}

fn document(project: &mut Project<'_>, request: &DocumentRequest) -> Option<Arc<CachedDocument>> {
    let document = compose_document(project, request).ok()?;
    project.confirm_delivery();
    Some(document)
}

fn python_files(root: &Path) -> Vec<(RelPath, String)> {
    let folder = root.join("Lib");
    let mut names: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    let names = names
        .iter()
        .filter_map(|name| name.to_str())
        .filter(|name| Path::new(name).extension().is_some_and(|end| end == "py"));
    let paths = names.map(|name| format!("Lib/{name}")).take(EDITED);
    paths
        .filter_map(|path| {
            let text = std::fs::read_to_string(root.join(&path)).ok()?;
            Some((RelPath::new(path.as_bytes()).ok()?, text))
        })
        .collect()
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let began = Instant::now();
    std::hint::black_box(work());
    began.elapsed()
}

fn words(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |part: usize| times[(times.len() - 1) * part / 100].as_secs_f64() * 1e3;
    format!("p50 {:.1} ms, p99 {:.1} ms", at(50), at(99))
}
