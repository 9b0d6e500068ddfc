//! One way to ask and one way to answer, whoever asks: today the command line, later sockets and MCP.
//!
//! Knows: what can be asked ([`Request`]), what comes back ([`Response`]), how both look as JSON, and what to advise
//! when an answer cannot be had. Does not know: how a terminal looks, where settings come from.
//!
//! Start with [`Session::answer`].

mod ask;
mod curation;
mod extra;
mod fault;
mod mcp;
mod providers;
mod request;
mod response;
mod service;
mod session;
mod slice;
mod wire;
mod written;

pub use crate::engine::AggregationRequest;
pub use crate::engine::Discussion;
pub use crate::engine::Explanation;
pub use crate::engine::FileStatus;
pub use crate::engine::Freshness;
pub use crate::engine::ImageFile;
pub use crate::engine::IndexReport;
pub use crate::engine::Limits;
pub use crate::engine::Memory;
pub use crate::engine::Progress;
pub use crate::engine::SectionRequest;
pub use crate::engine::Silent;
pub use crate::engine::Trust;
pub use crate::engine::UnderLimits;
pub use crate::engine::ViewAnswer;
pub use crate::engine::ViewRequest;
pub use crate::engine::World;
pub use crate::engine::nearest_symbols;
pub use crate::engine::select_symbols;
pub use ask::AggregateAsk;
pub use ask::Ask;
pub use ask::BesideAsk;
pub use ask::CacheClearAsk;
pub use ask::CacheCollectAsk;
pub use ask::ChoiceAsk;
pub use ask::ExplainAsk;
pub use ask::FormatName;
pub use ask::IndexAsk;
pub use ask::LineRange;
pub use ask::MaskEntry;
pub use ask::MaskName;
pub use ask::ModeName;
pub use ask::OrderName;
pub use ask::OutlineAsk;
pub use ask::PartName;
pub use ask::StrategyName;
pub use ask::SymbolsAsk;
pub use ask::ViewAsk;
pub use curation::mask_to_json;
pub use curation::persona_to_json;
pub use curation::preset_to_json;
pub use fault::Fault;
pub use fault::Kind;
pub use mcp::Info as McpInfo;
pub use mcp::serve as serve_mcp;
pub use request::Aggregation;
pub use request::CacheRequest;
pub use request::DocumentFormat;
pub use request::Request;
pub use request::Target;
pub use response::Aggregated;
pub use response::Response;
pub use service::Answered;
pub use service::Call;
pub use service::FreshnessNote;
pub use service::FreshnessState;
pub use service::Job;
pub use service::PROTOCOL;
pub use service::Service;
pub use session::Session;
pub use slice::from_json as slice_from_json;
pub use slice::to_json as slice_to_json;
pub use wire::SCHEMA_VERSION;
pub use wire::bare;
pub use wire::envelope;
pub use wire::envelope_of;
pub use wire::envelope_of_error;
pub use wire::lines;
