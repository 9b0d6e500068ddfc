//! A project that answers agents in this process, opened anew for each question.
//!
//! Nothing is opened before the first question, and settings count as they are when one is asked.

use bytes::Bytes;
use serde_json::Value;
use serde_json::json;

use super::run::load;
use crate::api::Aggregation;
use crate::api::AggregationRequest;
use crate::api::Answered;
use crate::api::Ask;
use crate::api::Call;
use crate::api::ChoiceAsk;
use crate::api::DocumentFormat;
use crate::api::Fault;
use crate::api::FreshnessNote;
use crate::api::FreshnessState;
use crate::api::Job;
use crate::api::Kind;
use crate::api::Limits;
use crate::api::MaskName;
use crate::api::Memory;
use crate::api::Progress;
use crate::api::Request;
use crate::api::Response;
use crate::api::SectionRequest;
use crate::api::Service;
use crate::api::Session;
use crate::api::Target;
use crate::api::Trust;
use crate::api::ViewRequest;
use crate::api::World;
use crate::api::bare;
use crate::cli::environment::Environment;
use crate::cli::failure::Failure;
use crate::cli::place::Place;
use crate::config::Loaded;
use crate::model::BodyOptions;
use crate::model::MaskMode;
use crate::model::Tier;
use crate::model::ViewMode;
use crate::sys::Clock;
use crate::sys::RealDisk;
use crate::sys::RealFiles;
use crate::sys::RealProcesses;
use crate::sys::WallClock;

/// Answers by a session of its own for each question.
pub(super) struct InProcess {
    place: Place,
    environment: Environment,
}

impl Service for InProcess {
    fn ask(&self, ask: Ask, call: &Call) -> Result<Answered, Fault> {
        let loaded = load(&self.place, &self.environment).map_err(fault)?;
        let root = &self.place.root;
        let files = RealFiles::open(root).map_err(|error| Fault::no_project(root, &error))?;
        let world = World {
            clock: &WallClock,
            disk: &RealDisk,
            files: &files,
            processes: &RealProcesses,
            progress: &Told(&call.job),
        };
        let mut session = Session::open(root, loaded.settings.engine_options(root), world)?;
        let since_epoch = WallClock.now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let response = session.answer(self.request(ask, &loaded)?)?;
        session.delivered();
        Ok(Answered {
            freshness: FreshnessNote {
                freshness: FreshnessState::Fresh,
                reason: None,
                clock: None,
                as_of_ms: i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX),
                pending: 0,
            },
            notes: session.take_notes(),
            data: data(response),
        })
    }
}

impl InProcess {
    fn request(&self, ask: Ask, loaded: &Loaded) -> Result<Request, Fault> {
        let items = || loaded.curation.files.clone();
        Ok(match ask {
            Ask::Files => Request::Status,
            Ask::Outline(ask) => Request::Outline { files: ask.files, trust: Trust::Stamps },
            Ask::Symbols(ask) => {
                Request::Symbol { name: ask.name, with_text: ask.definition, trust: Trust::Stamps }
            }
            Ask::View(ask) => Request::View(ViewRequest {
                files: ask.files,
                mode: ask.mode.and_then(|mode| ViewMode::from_name(json!(mode).as_str()?)),
                mask: ask.mask.into_iter().map(|entry| (entry.symbol, mask(entry.show))).collect(),
                lines: ask.lines.iter().map(|lines| (lines.start, lines.end)).collect(),
                against: ask.against,
                items: items(),
                trust: Trust::Stamps,
            }),
            Ask::Aggregate(ask) => Request::Aggregate(Aggregation {
                request: aggregation(ask.files, ask.choice, ask.name, loaded)?,
                format: DocumentFormat::Markdown,
                body: BodyOptions {
                    model: String::new(),
                    system: None,
                    temperature: None,
                    top_p: None,
                    max_output_tokens: 1,
                },
                project_name: self.place.project_name(&loaded.settings.project.name),
                target: Target::Answer,
                receipt: None,
            }),
            Ask::Index(_)
            | Ask::Explain(_)
            | Ask::CacheStatus
            | Ask::CacheClear(_)
            | Ask::CacheVerify
            | Ask::CacheCollect(_)
            | Ask::Audit => return Err(refused("bad_ask", "answer what no tool asks".to_owned())),
        })
    }
}

const fn mask(name: MaskName) -> MaskMode {
    match name {
        MaskName::Def => MaskMode::Definition,
        MaskName::Sig => MaskMode::Signature,
        MaskName::Hide => MaskMode::Hide,
    }
}

fn aggregation(
    files: Vec<String>,
    choice: ChoiceAsk,
    name: Option<String>,
    loaded: &Loaded,
) -> Result<AggregationRequest, Fault> {
    let (settings, curation) = (&loaded.settings, &loaded.curation);
    let persona = choice.persona.as_deref().map(|name| {
        curation.persona(name).ok_or_else(|| refused("no_such_persona", format!("find the persona `{name}`")))
    });
    let persona = persona.transpose()?.map(|persona| &persona.value);
    let preset = choice.preset.as_deref().or(persona.and_then(|persona| persona.context_preset.as_deref()));
    let preset = preset.map(|name| {
        curation.preset(name).ok_or_else(|| refused("no_such_preset", format!("find the preset `{name}`")))
    });
    let preset = preset.transpose()?.map(|preset| preset.value.files.clone());
    let tier = choice.tier.and_then(Tier::from_number).or(persona.and_then(|persona| persona.tier));
    let tier_budget = tier.map(|tier| settings.tier(tier).budget_tokens).filter(|tokens| 0 < *tokens);
    let strategy = persona.and_then(|persona| persona.aggregation_strategy);
    Ok(AggregationRequest {
        tier: tier.map(|tier| settings.tier_options(tier)),
        strategy: strategy.unwrap_or(settings.project.aggregation_strategy),
        default_mode: settings.aggregation.default_mode,
        order: settings.aggregation.order,
        focus: choice.focus,
        files,
        against: choice.against,
        items: curation.files.clone(),
        preset,
        limits: Limits { tokens: choice.budget.or(tier_budget).or(choice.default_budget), bytes: None },
        is_measured: true,
        trust: Trust::Stamps,
        sections: SectionRequest::nothing(),
        memory: name.map(|name| Memory { name, since_last: false }),
    })
}

fn data(response: Response) -> Bytes {
    if let Response::Aggregated(aggregated) = response {
        let text = aggregated.text.clone();
        let data: Value = serde_json::from_str(&bare(&Response::Aggregated(aggregated))).unwrap_or_default();
        return Bytes::from(json!({"text": text, "receipt": data["receipt"]}).to_string());
    }
    Bytes::from(bare(&response))
}

fn fault(failure: Failure) -> Fault {
    match failure {
        Failure::Fault(fault) => fault,
        Failure::Usage { .. } | Failure::Output(_) => refused("bad_settings", failure.message()),
    }
}

fn refused(code: &'static str, message: String) -> Fault {
    Fault { code, message, hint: "see the project's slop.toml", kind: Kind::User }
}

/// Hands on how far the work is.
struct Told<'a>(&'a Job);

impl Progress for Told<'_> {
    fn begins(&self, files: usize) {
        self.0.begins(files);
    }

    fn advances(&self) {
        self.0.advances();
    }
}

/// Returns who answers in a project.
pub(super) fn service(place: Place, environment: Environment) -> InProcess {
    InProcess { place, environment }
}
