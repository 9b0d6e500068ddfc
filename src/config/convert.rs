//! Converts merged values to the typed [`Settings`]. The constraints on each value are defined only here.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use super::curation::named;
use super::error::{Error, SettingOrigin};
use super::layers::MergedSettings;
use super::settings::{
    AgentSettings, AggregationSettings, DiscoverSettings, ExecutionMode, FormatSettings, LimitSettings,
    OutputSettings, PageSettings, ProjectSettings, SecretSettings, Settings, SummarySource, TierSettings,
};
use super::share;
use super::user_only::parse_model_name;
use crate::aggregate::{ExclusionPatterns, HydrationLimits, TokenCounter};
use crate::model::{
    AggregationStrategy, CacheLifetime, DocsDetail, FileOrder, ModelName, Money, PromptCaching, RelPath,
    SummaryDetail, Tier, ViewMode, normalized_path,
};

const DEFAULT_MODES: [(&str, ViewMode); 3] =
    [("full", ViewMode::Full), ("summarize", ViewMode::Summary), ("outline", ViewMode::Outline)];

const EXECUTION_MODES: [(&str, ExecutionMode); 2] =
    [("native", ExecutionMode::Native), ("beads", ExecutionMode::Beads)];

const SUMMARY_SOURCES: [(&str, SummarySource); 2] =
    [("heuristic", SummarySource::Heuristic), ("agent", SummarySource::Agent)];

/// The largest limit, below the range of the parsers' 32-bit offsets.
const MAX_LIMIT_BYTES: u32 = 1 << 30;

/// The longest name of output files, which leaves room for a number within the 255 bytes of a file name.
const MAX_NAME_BYTES: usize = 200;

/// Checks each value and returns the settings.
pub(super) fn settings(merged: &MergedSettings) -> Result<Settings, Error> {
    // Destructured instead of collected, so that the compiler checks the number of tiers.
    let [one, two, three, four] = Tier::ALL.map(|tier| tier_settings(merged, tier));
    Ok(Settings {
        aggregation: aggregation(merged)?,
        project: project(merged)?,
        discover: discover(merged)?,
        output: OutputSettings { keep: merged.number("output.keep", 0..=1_000_000)? },
        limits: limits(merged)?,
        hydration: hydration(merged)?,
        ui: page(merged)?,
        formats: formats(merged)?,
        secrets: secrets(merged)?,
        agent: agent_settings(merged)?,
        share: share::share_settings(merged)?,
        trusted_projects: absolute_folders(merged, TRUSTED_PROJECTS)?,
        cache_clones: absolute_folders(merged, "trust.clones")?,
        tiers: [one?, two?, three?, four?],
    })
}

/// Checks combinations of values, and returns warnings.
pub(super) fn check_combinations(merged: &MergedSettings, settings: &Settings) -> Result<Vec<String>, Error> {
    let cache = &settings.aggregation.cache_dir;
    check_confinement(merged, settings)?;
    // The cache, and any documents in it, may be deleted at any time.
    if settings.project.output_dir.starts_with(cache.as_path()) {
        let origin = &merged.setting("aggregation.cache_dir").origin;
        let allowed = format!("a folder outside of aggregation.cache_dir ({cache}, {origin})");
        return Err(merged.invalid("project.output_dir", allowed));
    }
    let mut warnings = Vec::new();
    if settings.limits.structure_max_bytes < settings.limits.max_bytes {
        let origin = &merged.setting("limits.max_bytes").origin;
        warnings.push(format!(
            "limits.max_bytes ({origin}) is over limits.structure_max_bytes, above which no file is read"
        ));
    }
    if merged.boolean("project.summary_only")
        && merged.text("project.aggregation_strategy") == AggregationStrategy::Full.name()
    {
        let origin = &merged.setting("project.aggregation_strategy").origin;
        warnings.push(format!(
            "project.aggregation_strategy ({origin}) has no effect while project.summary_only is set"
        ));
    }
    if !settings.agent.models.is_empty() && settings.agent.persona.is_some() {
        let origin = &merged.setting("agent.persona").origin;
        warnings.push(format!("agent.persona ({origin}) has no effect while agent.models is set"));
    }
    if !settings.agent.models.is_empty() || settings.agent.persona.is_some() {
        warn_ineffective_secrets(merged, &settings.secrets, &mut warnings);
    }
    Ok(warnings)
}

/// Checks that the folders which a project names for writing are within it, unless the user trusts it.
fn check_confinement(merged: &MergedSettings, settings: &Settings) -> Result<(), Error> {
    let cache = settings.aggregation.cache_dir.as_path();
    for (key, folder) in
        [("aggregation.cache_dir", cache), ("project.output_dir", settings.project.output_dir.as_path())]
    {
        let SettingOrigin::ProjectFile { path, .. } = &merged.setting(key).origin else { continue };
        // Even for a trusted project, because git executes what files in there configure.
        if folder.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git")) {
            return Err(merged.invalid(key, "a folder outside of `.git`".to_owned()));
        }
        // On Windows, a path may also begin with a drive or its root.
        let is_below = !matches!(folder.components().next(), Some(Component::Prefix(_) | Component::RootDir));
        let is_outside = !is_below || folder.starts_with("..");
        if is_outside && !path.parent().is_some_and(|root| settings.trusts(root)) {
            let allowed = "a folder within the project: only your own settings and the environment may name \
                           another, or `trust.projects` allow it";
            return Err(merged.invalid(key, allowed.to_owned()));
        }
    }
    Ok(())
}

/// The key of the projects that the user trusts.
pub(super) const TRUSTED_PROJECTS: &str = "trust.projects";

fn absolute_folders(merged: &MergedSettings, key: &str) -> Result<Vec<PathBuf>, Error> {
    let folders = merged.strings(key)?;
    if folders.iter().any(|folder| !Path::new(folder).is_absolute()) {
        return Err(merged.invalid(key, "a list of absolute paths".to_owned()));
    }
    Ok(folders.iter().map(|folder| normalized(folder)).collect())
}

fn discover(merged: &MergedSettings) -> Result<DiscoverSettings, Error> {
    let key = "discover.skip";
    let skip = merged.strings(key)?;
    // A pattern or a path would match no folder name, and would silently have no effect.
    let is_name =
        |name: &String| ![".", ".."].contains(&name.as_str()) && !name.contains(['/', '*', '?', '[', '\0']);
    if !skip.iter().all(is_name) {
        return Err(
            merged.invalid(key, "a list of folder names, without `/` and without wildcards".to_owned())
        );
    }
    Ok(DiscoverSettings { skip, max_files: merged.number("discover.max_files", 1..=1_000_000_000)?.into() })
}

/// The values of `secrets.show`, and whether full views show secrets.
const SECRET_VIEWS: [(&str, bool); 2] = [("never", false), ("full-only", true)];

fn secrets(merged: &MergedSettings) -> Result<SecretSettings, Error> {
    let names = merged.strings("secrets.names")?;
    let mut never_sent = merged.user_list("secrets.names")?;
    // A project's patterns are added to the user's, so a project can only withhold more.
    never_sent.extend(names.iter().filter(|name| !never_sent.contains(name)).cloned().collect::<Vec<_>>());
    Ok(SecretSettings {
        in_full_views: merged.choice("secrets.show", &SECRET_VIEWS)?,
        never_sent,
        may_be_sent: merged.user_list("secrets.allow")?,
        names,
        allow: merged.strings("secrets.allow")?,
    })
}

/// Warns of a project's settings of secrets that have no effect on what is sent to a model.
fn warn_ineffective_secrets(merged: &MergedSettings, secrets: &SecretSettings, warnings: &mut Vec<String>) {
    let drops = secrets.never_sent.iter().any(|name| !secrets.names.contains(name));
    let allows = secrets.allow.iter().any(|name| !secrets.may_be_sent.contains(name));
    for (key, is_dropped) in [("secrets.names", drops), ("secrets.allow", allows)] {
        if is_dropped && merged.user_value(key).is_some() {
            let origin = &merged.setting(key).origin;
            warnings.push(format!(
                "{origin}: `{key}` in a project's file lets nothing more be sent to a model, that belongs in the \
                 user's own"
            ));
        }
    }
}

fn aggregation(merged: &MergedSettings) -> Result<AggregationSettings, Error> {
    Ok(AggregationSettings {
        default_mode: merged.choice("aggregation.default_mode", &DEFAULT_MODES)?,
        cache_enabled: merged.boolean("aggregation.cache_enabled"),
        cache_dir: folder_within(merged, "aggregation.cache_dir")?,
        order: merged.choice("aggregation.order", &FileOrder::ALL.map(|order| (order.name(), order)))?,
        overview: merged.boolean("aggregation.overview"),
        window_lines: merged.number("aggregation.window_lines", 0..=100_000)?,
        docs: merged.choice("aggregation.docs", &DocsDetail::ALL.map(|detail| (detail.name(), detail)))?,
        tokens: merged.choice(
            "aggregation.tokens",
            &TokenCounter::ALL.map(|counter| (counter.setting_name(), counter)),
        )?,
    })
}

fn project(merged: &MergedSettings) -> Result<ProjectSettings, Error> {
    let strategies = AggregationStrategy::ALL.map(|strategy| (strategy.name(), strategy));
    let strategy = merged.choice("project.aggregation_strategy", &strategies)?;
    Ok(ProjectSettings {
        name: file_name(merged, "project.name")?,
        output_dir: folder_outside_root(merged, "project.output_dir")?,
        aggregation_strategy: if merged.boolean("project.summary_only") {
            AggregationStrategy::Summarize
        } else {
            strategy
        },
        execution_mode: merged.choice("project.execution_mode", &EXECUTION_MODES)?,
    })
}

fn limits(merged: &MergedSettings) -> Result<LimitSettings, Error> {
    let parse_timeout_ms = merged.number("limits.parse_timeout_ms", 1..=600_000)?;
    Ok(LimitSettings {
        max_bytes: merged.number("limits.max_bytes", 1..=MAX_LIMIT_BYTES)?.into(),
        structure_max_bytes: merged.number("limits.structure_max_bytes", 1..=MAX_LIMIT_BYTES)?.into(),
        parse_timeout: Duration::from_millis(parse_timeout_ms.into()),
        screenshot_bytes: merged.number("limits.screenshot_bytes", 1..=MAX_LIMIT_BYTES)?.into(),
        section_bytes: merged.number("limits.section_bytes", 1..=MAX_LIMIT_BYTES)?.into(),
    })
}

fn hydration(merged: &MergedSettings) -> Result<HydrationLimits, Error> {
    let number =
        |key: &str, range| Ok::<u64, Error>(merged.number(&format!("hydration.{key}"), range)?.into());
    Ok(HydrationLimits {
        max_file_bytes: number("max_file_bytes", 1..=MAX_LIMIT_BYTES)?,
        max_project_bytes: number("max_project_bytes", 1..=MAX_LIMIT_BYTES)?,
        hot_tokens: number("hot_tokens", 0..=u32::MAX)?,
        warm_fragments: number("warm_fragments", 0..=1_000_000)?,
        cold_fragments: number("cold_fragments", 0..=1_000_000)?,
        cold_days: number("cold_days", 0..=36_500)?,
        hold_percent: number("hold", 0..=1_000)?,
    })
}

fn page(merged: &MergedSettings) -> Result<PageSettings, Error> {
    let address = merged.text("ui.listen").parse().ok();
    let listen = address.filter(|address: &SocketAddr| address.ip().is_loopback()).ok_or_else(|| {
        merged
            .invalid("ui.listen", "an address of this machine with a port, as in \"127.0.0.1:0\"".to_owned())
    })?;
    Ok(PageSettings { listen })
}

fn formats(merged: &MergedSettings) -> Result<FormatSettings, Error> {
    let model = |key: &str| match merged.text(key) {
        "" => Err(merged.invalid(key, "the name of a model".to_owned())),
        name => Ok(name.to_owned()),
    };
    Ok(FormatSettings {
        anthropic_model: model("formats.anthropic_model")?,
        openai_model: model("formats.openai_model")?,
        gemini_model: model("formats.gemini_model")?,
        max_output_tokens: merged.number("formats.max_output_tokens", 1..=1_000_000)?,
        cache_marks: u8::try_from(merged.number("formats.cache_marks", 0..=PromptCaching::MAX_MARKS.into())?)
            .expect("the range fits"),
        cache_lifetime: merged
            .choice("formats.cache_ttl", &CacheLifetime::ALL.map(|lifetime| (lifetime.name(), lifetime)))?,
    })
}

fn tier_settings(merged: &MergedSettings, tier: Tier) -> Result<TierSettings, Error> {
    let key = |name: &str| format!("tiers.{}.{name}", tier.number());
    let details = SummaryDetail::ALL.map(|detail| (detail.name(), detail));
    let views = named(&ViewMode::OF_TIERS);
    let focus_views = named(&ViewMode::OF_FOCUS);
    let languages = key("languages");
    let mut language_views = BTreeMap::new();
    for (view_key, _) in merged.settings_under(&languages) {
        let id =
            // The schema has no other key below `languages`, and any other was rejected when the layers were read.
            view_key[languages.len() + 1..].strip_suffix(".view").expect("a language has only a view");
        language_views.insert(id.to_owned(), merged.choice(view_key, &views)?);
    }
    Ok(TierSettings {
        role: merged.text(&key("role")).to_owned(),
        view: merged.choice(&key("view"), &views)?,
        focus_view: merged.choice(&key("focus_view"), &focus_views)?,
        summary: merged.choice(&key("summary"), &SUMMARY_SOURCES)?,
        summary_detail: merged.choice(&key("summary_detail"), &details)?,
        tree: merged.boolean(&key("tree")),
        budget_tokens: merged.number(&key("budget_tokens"), 0..=u32::MAX)?.into(),
        stable_thousandths: merged.thousandths(&key("stable_share"))?,
        history: merged.boolean(&key("history")),
        languages: language_views,
    })
}

/// Returns a name that file names can begin with.
fn file_name(merged: &MergedSettings, key: &str) -> Result<String, Error> {
    let name = merged.text(key);
    let is_odd = |c: char| c == '/' || c.is_control();
    if MAX_NAME_BYTES < name.len() || name.contains(is_odd) {
        let allowed = format!("a part of a file's name: at most {MAX_NAME_BYTES} bytes, no `/`, one line");
        return Err(merged.invalid(key, allowed));
    }
    Ok(name.to_owned())
}

/// Returns a folder within the project, but not the project's folder itself.
fn folder_within(merged: &MergedSettings, key: &str) -> Result<RelPath, Error> {
    let plain = normalized(merged.text(key));
    RelPath::new(plain.as_os_str().as_encoded_bytes())
        .map_err(|_| merged.invalid(key, "a folder within the project".to_owned()))
}

/// Returns a folder that is not the project's own.
fn folder_outside_root(merged: &MergedSettings, key: &str) -> Result<PathBuf, Error> {
    let text = merged.text(key);
    let plain = normalized(text);
    // The output folder is excluded from the project, so it must not be the project's own folder. A `..` below another
    // part could lead back there.
    let mut below = plain.components().skip_while(|part| *part == Component::ParentDir);
    let climbs_late = below.any(|part| part == Component::ParentDir);
    if plain.as_os_str().is_empty() || climbs_late || text.contains('\0') {
        let allowed = "a folder other than the project's own, with `..` only at its beginning";
        return Err(merged.invalid(key, allowed.to_owned()));
    }
    Ok(plain)
}

/// Returns the path without redundant parts: `./a//b/` becomes `a/b`.
fn normalized(path: &str) -> PathBuf {
    PathBuf::from(normalized_path(path))
}

/// The values of `agent.secrets`, and whether secrets are redacted.
const SECRET_POLICIES: [(&str, bool); 2] = [("withhold", false), ("redact", true)];

/// The largest budget, a million dollars: a larger number is more likely a typo.
const MAX_BUDGET: Money = Money::from_nanos(1_000_000_000_000_000);

fn agent_settings(merged: &MergedSettings) -> Result<AgentSettings, Error> {
    let seconds = |key: &str, range| Ok::<_, Error>(Duration::from_secs(merged.number(key, range)?.into()));
    let material_bytes = merged.number("agent.material_bytes", 1_000..=1_000_000)?;
    Ok(AgentSettings {
        models: models(merged)?,
        persona: Some(merged.text("agent.persona").to_owned()).filter(|name| !name.is_empty()),
        is_background: merged.boolean("agent.background"),
        tiers: tiers(merged)?,
        concurrency: merged.number("agent.concurrency", 1..=64)?,
        requests_per_minute: merged.number("agent.requests_per_minute", 1..=100_000)?,
        tokens_per_minute: merged.number("agent.tokens_per_minute", 1_000..=1_000_000_000)?,
        timeout: seconds("agent.timeout_seconds", 5..=3_600)?,
        quiet_period: seconds("agent.still_seconds", 0..=86_400)?,
        material_bytes: usize::try_from(material_bytes).expect("a number of 32 bits is a size"),
        answer_tokens: merged.number("agent.answer_tokens", 50..=100_000)?,
        min_bytes: merged.number("agent.least_bytes", 0..=1_000_000)?.into(),
        redacts: merged.choice("agent.secrets", &SECRET_POLICIES)?,
        exclude: exclude(merged)?,
        shows_outdated: merged.boolean("agent.earlier"),
        day_cap: dollars(merged, "agent.budget_day_usd")?,
        total_cap: dollars(merged, "agent.budget_total_usd")?,
        calls_per_day: merged.number("agent.calls_per_day", 0..=10_000_000)?.into(),
        ledger_moved: ledger_moved(merged),
        proxy: proxy(merged)?,
    })
}

fn models(merged: &MergedSettings) -> Result<Vec<ModelName>, Error> {
    let key = "agent.models";
    let names = merged.strings(key)?;
    let names = names.iter().map(|name| parse_model_name(name)).collect::<Option<_>>();
    names.ok_or_else(|| merged.invalid(key, "a list such as [\"provider/model\"]".to_owned()))
}

/// Checks that the patterns are valid, because a typo must not send what they are to withhold.
fn exclude(merged: &MergedSettings) -> Result<Vec<String>, Error> {
    let key = "agent.exclude";
    let patterns = merged.strings(key)?;
    match ExclusionPatterns::new(&patterns, Path::new("/")) {
        Ok(_) => Ok(patterns),
        Err(_) => Err(merged.invalid(key, "a list of patterns such as [\"private/\", \"*.sql\"]".to_owned())),
    }
}

fn tiers(merged: &MergedSettings) -> Result<Vec<Tier>, Error> {
    let key = "agent.tiers";
    // Strings instead of numbers, because lists in the settings only contain strings.
    let tier = |word: &String| match word.as_str() {
        "1" => Some(Tier::Orchestrator),
        "2" => Some(Tier::TechLead),
        _ => None,
    };
    let tiers = merged.strings(key)?.iter().map(tier).collect::<Option<Vec<Tier>>>();
    let tiers = tiers.filter(|tiers| !tiers.is_empty());
    let mut tiers = tiers.ok_or_else(|| merged.invalid(key, "a list of \"1\", \"2\" or both".to_owned()))?;
    tiers.sort_unstable();
    tiers.dedup();
    Ok(tiers)
}

fn dollars(merged: &MergedSettings, key: &str) -> Result<Money, Error> {
    // Parsed from text, because binary fractions cannot represent a tenth of a dollar.
    let money = Money::from_dollars(merged.text(key)).filter(|money| *money <= MAX_BUDGET);
    money.ok_or_else(|| merged.invalid(key, "US dollars as a decimal from \"0\" to \"1000000\"".to_owned()))
}

/// Returns where the project's file moves the cache, and with it the ledger, in which the caps would start at zero.
fn ledger_moved(merged: &MergedSettings) -> Option<String> {
    let key = "aggregation.cache_dir";
    let users = merged.user_value(key)?.as_str()?;
    // Compared as paths, so that `cache/` and `cache` are the same folder.
    let is_moved = Path::new(users) != Path::new(merged.text(key));
    is_moved.then(|| merged.setting(key).origin.to_string())
}

fn proxy(merged: &MergedSettings) -> Result<Option<String>, Error> {
    let key = "agent.proxy";
    match merged.text(key) {
        "" => Ok(None),
        text => {
            let address = reqwest::Url::parse(text).ok();
            let is_proxy = address.is_some_and(|url| {
                // A password would be printed by `slop config show`, like every setting.
                let is_secret = !url.username().is_empty() || url.password().is_some();
                ["http", "https"].contains(&url.scheme()) && url.has_host() && !is_secret
            });
            let allowed =
                || merged.invalid(key, "the address of a proxy, as \"http://host:port\"".to_owned());
            if is_proxy { Ok(Some(text.to_owned())) } else { Err(allowed()) }
        }
    }
}
