//! Runs one task: claim, prompt, reservation and calls, until there is a summary or no model left to call.
//!
//! [`RequestAttempt`] decides what follows each response; this file carries it out.

use std::collections::BTreeSet;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::mem;
use std::time::Duration;

use super::call;
use super::call::{CallResult, ModelCall, UsageCeiling};
use super::core::{AgentCore, RetryAt, retry_at};
use super::gate::{CallPermit, GateDecision, ProviderGate};
use super::ledger::{ClaimGuard, InFlightGuard, ReservationDenied};
use super::outcome::{RunEvent, StopReason, TaskOutcome};
use super::prompts::{question_row, summary_rows};
use super::run::{CachePrimer, PrimeGuard, PrimeState, SharedRun};
use crate::engine::summaries::{PreparedPrompt, SummaryTask, WithheldReason};
use crate::llm;
use crate::llm::{
    AttemptEffect, AttemptEvent, EncodedRequest, FailureClass, GiveUpReason, Model, RequestAttempt,
};
use crate::model::{ModelPrompt, Money};
use crate::store::agent::{CapExceeded, SpendId, SpendSettlement};

/// Runs tasks until none is left or the run ends. Each thread executes this.
pub(super) fn run_worker(run: &SharedRun<'_>) {
    while !run.is_over() {
        let Some(task) = run.next_task() else { return };
        run.observer.notify(&RunEvent::Started);
        let end = match RequestRun::new(run, &task).run() {
            Ok(end) => end,
            Err(reason) => {
                run.stop(reason);
                TaskOutcome::Unanswered
            }
        };
        run.observer.notify(&RunEvent::Finished);
        run.record_outcome(task, end);
    }
}

pub(super) struct RequestRun<'c> {
    run: &'c SharedRun<'c>,
    core: &'c AgentCore<'c>,
    task: &'c SummaryTask,
    /// The provider's last message that was not an answer.
    last_message: String,
    /// Whether the current model has not been called yet.
    is_first_call: bool,
    /// Providers that have been called.
    asked_providers: BTreeSet<&'c str>,
    /// Whether the last call failed because of an outage.
    was_outage: bool,
    /// The models that rejected the request as invalid.
    rejected_by: Vec<&'c Model>,
}

/// The outcome of trying to make a call.
enum CallAttempt<'c> {
    /// The call was made, and its cost is reserved under this id.
    Made {
        spend: SpendId,
        worst: Money,
        result: Box<CallResult>,
        settlement: SpendSettlement,
        in_flight: InFlightGuard<'c>,
    },
    /// It was not made: the model's provider must not be called now.
    Denied(GiveUpReason),
}

impl<'c> RequestRun<'c> {
    pub(super) fn new(run: &'c SharedRun<'c>, task: &'c SummaryTask) -> Self {
        Self {
            run,
            core: run.core,
            task,
            last_message: String::new(),
            is_first_call: true,
            asked_providers: BTreeSet::new(),
            was_outage: false,
            rejected_by: Vec::new(),
        }
    }

    /// Runs the task to its end. An error ends the whole run.
    pub(super) fn run(mut self) -> Result<TaskOutcome, StopReason> {
        let claim = match self.core.claim(self.task, self.run.prompts)? {
            Ok(claim) => claim,
            Err(outcome) => return Ok(outcome),
        };
        // Prepared only after the claim: reading and scanning a file that another process works on is wasted.
        let mut attempt = RequestAttempt::new(self.core.options.chain.len());
        let mut prepared = match self.run.prompts.prepare(self.task, 0) {
            Ok(prepared) => prepared,
            Err(withheld) => return self.withhold(claim, withheld),
        };
        loop {
            let model = &self.core.options.chain[attempt.model_index()];
            let call = self.call_model(model, &prepared)?;
            let (next, effect) = self.advance(attempt, model, &call)?;
            attempt = next;
            match effect {
                AttemptEffect::Accept => return self.accept(claim, model, &prepared, call),
                AttemptEffect::GiveUp(failure) => return self.give_up(claim, failure),
                AttemptEffect::Retry { after, .. } if self.run.wait(after) => continue,
                // The run ended during the wait.
                AttemptEffect::Retry { .. } => return Ok(TaskOutcome::Unanswered),
                AttemptEffect::Escalate => self.is_first_call = true,
                AttemptEffect::HalveMaterial => {}
            }
            prepared = match self.run.prompts.prepare(self.task, attempt.shrink()) {
                Ok(prepared) => prepared,
                Err(withheld) => return self.withhold(claim, withheld),
            };
        }
    }

    fn call_model(
        &mut self,
        model: &'c Model,
        prepared: &PreparedPrompt,
    ) -> Result<CallAttempt<'c>, StopReason> {
        let gate = self.core.gate(model);
        if !self.count_first_call(model, gate) {
            return Ok(CallAttempt::Denied(GiveUpReason::Outage));
        }
        let _warming = self.wait_for_cache(model, &prepared.prompt)?;
        let key = self.core.keys.get(&model.provider.name);
        let request = llm::encode(model, &prepared.prompt, key);
        // A token is about three bytes of code.
        let about = request.body().len() as u64 / 3 + u64::from(prepared.prompt.answer_tokens);
        // The gate comes before the reservation: money that is reserved while waiting counts against every other
        // call.
        if let Err(failure) = self.enter_gate(gate, &model.name, about)? {
            return Ok(CallAttempt::Denied(failure));
        }
        let worst = call::worst_cost(model, prepared, &request);
        let clock = self.core.world.clock;
        // Created before the reservation, so that the slot is returned if that is denied.
        let permit = CallPermit { gate, model: &model.name, clock, is_returned: false };
        let (spend, in_flight) = self.reserve(model, worst)?;
        let result = self.send(model, &request);
        permit.complete(&result);
        let output = call::max_output_tokens(model, prepared.prompt.answer_tokens);
        let ceiling = UsageCeiling::new(request.body().len() as u64, output);
        let settlement = result.settlement(model, ceiling, self.core.world.clock.now_ms());
        self.run.record_call(settlement.cost.unwrap_or(worst), result.is_implausible(ceiling));
        // An answer is settled later, in the transaction that stores its summaries: neither can be lost without the
        // other.
        if !matches!(result, CallResult::Answered { .. }) {
            self.core.claims.db().settle(spend, &settlement).map_err(StopReason::Store)?;
        }
        Ok(CallAttempt::Made { spend, worst, result: Box::new(result), settlement, in_flight })
    }

    /// Counts the first call to a model. A call to another model of a provider that has an outage counts as a retry:
    /// otherwise a chain of three models would call such a provider three times.
    fn count_first_call(&mut self, model: &'c Model, gate: &ProviderGate) -> bool {
        if !mem::take(&mut self.is_first_call) {
            return true;
        }
        let now = self.core.world.clock.monotonic();
        let is_new = self.asked_providers.insert(&model.provider.name);
        if !is_new && self.was_outage {
            return gate.try_retry(now, Duration::ZERO);
        }
        gate.count_first(now);
        true
    }

    /// Waits while another call brings the same instructions into the provider's cache.
    fn wait_for_cache(
        &self,
        model: &Model,
        prompt: &ModelPrompt,
    ) -> Result<Option<PrimeGuard<'c>>, StopReason> {
        let Some(beginning) = CachePrimer::prefix(model, prompt) else { return Ok(None) };
        loop {
            // Polled, because the wait must also end when the run does.
            match self.run.primer.enter(&beginning) {
                PrimeState::First(warming) => return Ok(Some(warming)),
                PrimeState::Primed => return Ok(None),
                PrimeState::Pending => {}
            }
            if !self.run.wait(Duration::from_millis(20)) {
                return Err(StopReason::Interrupted);
            }
        }
    }

    /// Waits until the provider may be called.
    fn enter_gate(
        &self,
        gate: &ProviderGate,
        model: &str,
        tokens: u64,
    ) -> Result<Result<(), GiveUpReason>, StopReason> {
        let mut is_reported = false;
        loop {
            match gate.try_enter(self.core.world.clock.monotonic(), model, tokens) {
                GateDecision::Admitted => return Ok(Ok(())),
                GateDecision::Denied(failure) => return Ok(Err(failure)),
                GateDecision::Wait(time) => {
                    if !is_reported && Duration::from_secs(1) < time {
                        let provider = gate.provider.as_str();
                        self.run.observer.notify(&RunEvent::Waiting { provider, retry_in: time });
                        is_reported = true;
                    }
                    // Another thread may have changed the gate meanwhile, so it is checked again soon.
                    if !self.run.wait(time.min(Duration::from_millis(200))) {
                        return Err(StopReason::Interrupted);
                    }
                }
            }
        }
    }

    /// Reserves the money for a call. Calls in flight hold their worst cost, most of which is released later: a call
    /// that does not fit now may fit once they return.
    fn reserve(&self, model: &Model, worst: Money) -> Result<(SpendId, InFlightGuard<'c>), StopReason> {
        let (claims, caps) = (&self.core.claims, self.core.options.caps);
        loop {
            let reservation = self.core.reservation(self.task, model, worst, false);
            match claims.reserve(&reservation, &caps, &self.core.in_flight).map_err(StopReason::Store)? {
                Ok(reserved) => return Ok(reserved),
                Err(ReservationDenied { cap, has_calls_in_flight: true }) if cap != CapExceeded::Calls => {}
                Err(ReservationDenied { cap, .. }) => {
                    let spent = claims.db().spend_totals(reservation.day).map_err(StopReason::Store)?;
                    return Err(StopReason::OverCap { cap, caps, spent, next: worst });
                }
            }
            if !self.run.wait(Duration::from_millis(50)) {
                // If the run ends for another reason, that reason was recorded first.
                return Err(StopReason::Interrupted);
            }
        }
    }

    fn send(&self, model: &Model, request: &EncodedRequest) -> CallResult {
        let timeout = self.core.options.timeout;
        let call = ModelCall { model, task: self.task, request, timeout };
        call::perform_call(&call, &self.core.world, self.run.prompts, self.run.is_stopped)
    }

    fn advance(
        &mut self,
        attempt: RequestAttempt,
        model: &'c Model,
        call: &CallAttempt<'_>,
    ) -> Result<(RequestAttempt, AttemptEffect), StopReason> {
        let result = match call {
            CallAttempt::Denied(failure) => return Ok(attempt.step(AttemptEvent::Denied(*failure), 0.0)),
            CallAttempt::Made { result, .. } => result,
        };
        let (next, effect) = match &**result {
            CallResult::Answered { .. } => attempt.step(AttemptEvent::Answered, 0.0),
            CallResult::Failed(failure) => {
                self.was_outage = GiveUpReason::from_class(failure.class) == GiveUpReason::Outage;
                self.last_message.clone_from(&failure.message);
                if failure.class == FailureClass::Request {
                    self.rejected_by.push(model);
                }
                attempt.step(AttemptEvent::Failed(failure), jitter())
            }
            CallResult::Lost { message, .. } => {
                self.was_outage = true;
                self.last_message.clone_from(message);
                attempt.step(AttemptEvent::Lost, jitter())
            }
            CallResult::Stopped => return Err(StopReason::Interrupted),
        };
        // A failing provider is retried only while retries are a small share of its calls.
        if let AttemptEffect::Retry { after, is_retry: true } = effect
            && !self.core.gate(model).try_retry(self.core.world.clock.monotonic(), after)
        {
            return Ok(next.step(AttemptEvent::Denied(GiveUpReason::Outage), 0.0));
        }
        Ok((next, effect))
    }

    fn accept(
        &self,
        claim: ClaimGuard<'c>,
        model: &Model,
        prepared: &PreparedPrompt,
        call: CallAttempt<'_>,
    ) -> Result<TaskOutcome, StopReason> {
        let CallAttempt::Made { spend, worst, result, settlement, in_flight } = call else {
            return Ok(TaskOutcome::Unanswered);
        };
        let CallResult::Answered { summaries, .. } = &*result else {
            return Ok(TaskOutcome::Unanswered);
        };
        let question = question_row(self.run.prompts, self.task, &model.full_name(), prepared);
        let cost = settlement.cost.unwrap_or(worst);
        let rows = summary_rows(&question, &model.full_name(), cost, summaries, &settlement);
        claim.accept(spend, &settlement, &rows, &question.paths).map_err(StopReason::Store)?;
        // The call is settled only now.
        drop(in_flight);
        Ok(TaskOutcome::Answered)
    }

    fn withhold(&self, claim: ClaimGuard<'c>, withheld: WithheldReason) -> Result<TaskOutcome, StopReason> {
        self.core.withhold(claim, &withheld)?;
        Ok(TaskOutcome::Withheld(withheld))
    }

    fn give_up(self, claim: ClaimGuard<'c>, failure: GiveUpReason) -> Result<TaskOutcome, StopReason> {
        let now_ms = self.core.world.clock.now_ms();
        let Some(RetryAt(until_ms)) = retry_at(failure, now_ms) else {
            // If no other model can be called either, the run ends.
            return self.core.unavailable_reason().map_or(Ok(TaskOutcome::Unanswered), Err);
        };
        let id = self.core.task_keys(self.task.id).refusal;
        let now = self.core.world.clock.monotonic();
        // If one of these models rejects everything, the task is not at fault and stays available.
        if !self.rejected_by.iter().all(|model| self.core.gate(model).record_refusal(now, &model.name, id)) {
            return self.core.unavailable_reason().map_or(Ok(TaskOutcome::Unanswered), Err);
        }
        claim.refuse(&self.last_message, until_ms, now_ms).map_err(StopReason::Store)?;
        Ok(TaskOutcome::Refused(self.last_message))
    }
}

/// Returns a random number from 0 to 1.
fn jitter() -> f64 {
    // Seeded by the system, which is all that a delay needs.
    let random = RandomState::new().build_hasher().finish();
    f64::from(u32::try_from(random >> 32).unwrap_or(0)) / f64::from(u32::MAX)
}
