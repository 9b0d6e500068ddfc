//! Flags and settings become what an aggregation is asked for.

use super::desk::Desk;
use super::profile::Profile;
use crate::api::AggregationRequest;
use crate::api::Limits;
use crate::api::SectionRequest;
use crate::api::Trust;
use crate::cli::document_args::Choice;
use crate::model::Order;

impl Desk<'_> {
    /// Returns what is asked for: the flags where they are given, else the settings.
    pub(super) fn aggregation(
        &self,
        choice: &Choice,
        profile: &Profile,
        files: Vec<String>,
        order: Option<Order>,
        trust: Trust,
    ) -> AggregationRequest {
        let settings = &self.loaded.settings;
        let tier = profile.tier;
        let persona_strategy = profile.persona.as_ref().and_then(|persona| persona.aggregation_strategy);
        let tier_budget = tier.map(|tier| settings.tier(tier).budget_tokens).filter(|tokens| 0 < *tokens);
        AggregationRequest {
            tier: tier.map(|tier| settings.tier_options(tier)),
            strategy: choice.strategy.or(persona_strategy).unwrap_or(settings.project.aggregation_strategy),
            default_mode: settings.aggregation.default_mode,
            order: order.unwrap_or(settings.aggregation.order),
            focus: self.place.focus_words(&choice.focus),
            files,
            against: choice.against.clone(),
            items: self.loaded.curation.files.clone(),
            preset: profile.preset.as_ref().map(|preset| preset.value.files.clone()),
            limits: Limits { tokens: choice.budget.or(tier_budget), bytes: choice.max_bytes },
            is_measured: true,
            trust,
            sections: SectionRequest::nothing(),
            memory: None,
        }
    }
}
