//! Findings, made of what is left when all calls have been looked at.

use super::call::{CallPlace, CommKey, ExchangedBytes, FunctionKey, ObjectKind};
use super::collective::{Arrival, Difference, Mismatch, Missing};
use super::deadlock::{self, Deadlock, MessageState, OutsideCalls, RankEnd, WaitsFor};
use super::failed::FailedCalls;
use super::left::LeftObjects;
use super::pass::{Check, CorrectnessPass, UnseenCalls};
use super::report::{
    CorrectnessReport, Finding, FindingKind, FoundCall, RankSet, rank_list, ranks_in_words,
};
use super::role::meets_other_side;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use wrappers::is_called_by_group;

/// Findings of one kind that are reported; the rest is counted.
const MAX_FINDINGS: usize = 100;
/// Kinds of objects that are named of those that callbacks may free in MPI_Finalize.
const MAX_LEFT: usize = 5;

impl CorrectnessPass {
    /// Ends the checks.
    pub fn finish(mut self) -> CorrectnessReport {
        let mut findings = Vec::new();
        let missing = self.collectives.finish();
        let mut waits = Vec::new();
        if !self.unchecked.contains_key(&Check::Deadlock) {
            let (deadlocks, met) = self.deadlocks();
            // Those that are stuck are told with what they wait for.
            if deadlocks.is_empty() {
                waits = self.waits_in_words(&met);
            }
            findings.extend(deadlocks);
        }
        if !self.unchecked.contains_key(&Check::Collectives) {
            let mismatches = std::mem::take(&mut self.collectives.mismatches);
            findings.extend(mismatches.iter().map(|mismatch| self.mismatch(mismatch)));
            findings.extend(missing.iter().filter_map(|missing| self.missing(missing)));
        }
        self.note_ended_receives();
        if !self.unchecked.contains_key(&Check::Messages) {
            self.messages.take_posted(&self.posted);
            self.add_messages(&mut findings);
        }
        if !self.unchecked.contains_key(&Check::Failures) {
            self.add_failures(&mut findings);
            self.add_failed_writes(&mut findings);
        }
        if !self.unchecked.contains_key(&Check::Leaks) {
            findings.append(&mut self.leaks(&self.left));
            self.note_left_to_callbacks();
        }
        // Most severe first, and of one kind in order of time.
        let time = |finding: &Finding| finding.calls.first().map_or(0.0, |call| call.time);
        findings.sort_by(|a, b| a.kind.cmp(&b.kind).then(time(a).total_cmp(&time(b))));
        self.note_what_is_missing();
        self.note_unseen_waits();
        self.note_unknown_waits();
        self.bound(&mut findings);
        let mut not_checked: Vec<String> = (self.unchecked.iter())
            .map(|(check, why)| format!("{}: {why}", check.name()))
            .collect();
        not_checked.append(&mut self.not_checked);
        CorrectnessReport {
            ranks: self.ranks,
            calls: self.counts.calls,
            operations: self.collectives.compared,
            messages: self.messages.matched,
            findings,
            ends: Vec::new(),
            waits,
            not_checked,
        }
    }

    /// Says which ranks are in calls of which is not known whom they wait for: those of one-sided communication, and those that make communicators
    /// with processes that the trace does not tell.
    fn note_unknown_waits(&mut self) {
        let mut by_function: BTreeMap<String, RankSet> = BTreeMap::new();
        for (&rank, end) in &self.ends {
            let RankEnd::In(place, waits) = end else {
                continue;
            };
            let name = self.name(place.function);
            let is_unknown = match waits {
                WaitsFor::Unknown => {
                    waits_one_sided(name) || is_called_by_group(name) || meets_other_side(name)
                }
                WaitsFor::All(parts) => parts.contains(&WaitsFor::OtherSide),
                _ => false,
            };
            if is_unknown {
                by_function.entry(name.to_owned()).or_default().insert(rank);
            }
        }
        let why = self.unseen.get(&UnseenCalls::OneSided);
        let why = why.map_or(String::new(), |why| format!(", as {why}"));
        for (function, ranks) in by_function {
            let ranks = ranks_in_words(&ranks.to_string());
            let (why, missed) = match waits_one_sided(&function) {
                true => (why.as_str(), "a deadlock of one-sided communication"),
                false => ("", "a deadlock by that call"),
            };
            self.note_unchecked(format!(
                "whom {ranks} waited for in {function}{why}: taken for able to go on, so {missed} is not found"
            ));
        }
    }

    /// Says of which waits of ranks in calls is not known whether they will end, as calls of others have no record.
    fn note_unseen_waits(&mut self) {
        let is_waiting = |end: &RankEnd| matches!(end, RankEnd::In(..));
        if !self.ends.values().any(is_waiting) {
            return;
        }
        for (calls, why) in self.unseen.clone() {
            if calls == UnseenCalls::OneSided {
                // Those are told by function.
                continue;
            }
            self.note_unchecked(format!(
                "deadlock by {}: ranks that wait for them are taken for able to go on, as {why}",
                calls.name()
            ));
        }
    }

    /// Keeps so many findings of each kind.
    fn bound(&mut self, findings: &mut Vec<Finding>) {
        let mut counts: HashMap<FindingKind, usize> = HashMap::new();
        findings.retain(|finding| {
            let count = counts.entry(finding.kind).or_default();
            *count += 1;
            *count <= MAX_FINDINGS
        });
        for kind in FindingKind::ALL {
            let count = counts.get(&kind).copied().unwrap_or(0);
            if count > MAX_FINDINGS {
                let more = count - MAX_FINDINGS;
                self.note_unchecked(format!(
                    "{more} more findings of the kind {} are not listed",
                    kind.name()
                ));
            }
        }
    }

    /// Notes parts of the checks that could not be made.
    fn note_what_is_missing(&mut self) {
        let forgotten = self.collectives.forgotten;
        if forgotten > 0 {
            self.note_unchecked(format!(
                "{forgotten} collective operations, as some ranks came to them long before others"
            ));
        }
        let forgotten = self.messages.forgotten;
        if forgotten > 0 && !self.unchecked.contains_key(&Check::Messages) {
            self.note_unchecked(format!(
                "{forgotten} ends of messages, as too many were under way"
            ));
        }
        let unknown = self.messages.unknown_receives();
        if unknown > 0 && !self.unchecked.contains_key(&Check::Messages) {
            self.note_unchecked(format!(
                "messages to ranks with receives whose sender or tag the trace does not tell ({unknown} receives)"
            ));
        }
        if !self.unchecked.contains_key(&Check::Leaks) {
            for (kind, why) in std::mem::take(&mut self.unchecked_objects) {
                self.note_unchecked(format!("{}s never freed: {why}", kind.name()));
            }
            let ranks = self.ranks;
            for (others, why) in [
                (
                    self.processes.saturating_sub(self.finalized),
                    "which did not come to MPI_Finalize",
                ),
                (
                    ranks.saturating_sub(self.processes),
                    "of which there is no file",
                ),
            ] {
                if others > 0 {
                    self.note_unchecked(format!(
                        "objects never freed by {others} of {ranks} ranks, {why}"
                    ));
                }
            }
        }
        if self.finalized < self.ranks && !self.unchecked.contains_key(&Check::Messages) {
            self.note_unchecked(
                "messages never received, as not all ranks came to MPI_Finalize".to_owned(),
            );
        }
    }

    pub(super) fn name(&self, function: FunctionKey) -> &str {
        self.functions
            .get(function.0 as usize)
            .map_or("a function", String::as_str)
    }

    pub(super) fn comm_name(&self, comm: CommKey) -> &str {
        self.comms
            .get(comm.0 as usize)
            .map_or("a communicator", |comm| comm.name.as_str())
    }

    fn found_call(&self, place: CallPlace) -> FoundCall {
        FoundCall {
            ranks: place.rank.to_string(),
            rank: place.rank,
            thread: place.thread,
            function: self.name(place.function).to_owned(),
            time: place.start,
            ..FoundCall::default()
        }
    }

    fn arrival(&self, arrival: &Arrival) -> FoundCall {
        let signature = arrival.signature;
        FoundCall {
            root: signature.root,
            operation: signature.operation.map(|name| self.name(name).to_owned()),
            bytes: signature.bytes,
            ..self.found_call(arrival.place)
        }
    }

    /// Who waits for whom, and the ranks whose calls need nobody any more.
    fn deadlocks(&self) -> (Vec<Finding>, BTreeSet<u32>) {
        let are_all_seen = |calls| !self.unseen.contains_key(&calls);
        let messages = MessageState {
            are_all_seen: are_all_seen(UnseenCalls::Messages),
            under_way: self.messages.under_way(),
            posted: &self.posted,
            is_received: &|comm, from, to, tag| self.messages.is_received(comm, from, to, tag),
        };
        let are_collectives_seen = are_all_seen(UnseenCalls::Collectives);
        let (found, mut met) =
            deadlock::find(
                &self.ends,
                messages,
                |operation| match are_collectives_seen {
                    true => self.missing_ranks(operation),
                    false => Vec::new(),
                },
            );
        if self
            .unseen
            .keys()
            .any(|&calls| calls != UnseenCalls::OneSided)
        {
            // Nobody knows whether what these wait for has come.
            met.clear();
        }
        let findings = found.iter().map(|found| self.deadlock(found));
        (findings.collect(), met)
    }

    fn deadlock(&self, found: &Deadlock) -> Finding {
        let Deadlock {
            circle,
            is_circle,
            stuck,
        } = found;
        let calls: Vec<FoundCall> = circle
            .iter()
            .map(|rank| FoundCall {
                waits_for: Some(rank_list(rank.waits_for.iter().copied())),
                awaited: self.awaited(rank.rank),
                running: self.now.map(|now| (now - rank.place.start).max(0.0)),
                ..self.found_call(rank.place)
            })
            .collect();
        let mut steps: Vec<String> = calls
            .iter()
            .map(|call| {
                format!(
                    "rank {} is in {} and waits for {}",
                    call.rank,
                    call.function,
                    match call.waits_for.as_deref() {
                        Some("") | None => "nobody that is known".to_owned(),
                        Some(ranks) => ranks_in_words(ranks),
                    }
                )
            })
            .collect();
        if !is_circle {
            for (outside, did) in [
                (OutsideCalls::Finalized, "come to MPI_Finalize"),
                (OutsideCalls::Exited, "exited without MPI_Finalize"),
            ] {
                let has = |rank: &&u32| self.ends.get(rank) == Some(&RankEnd::Outside(outside));
                let last = circle.last().map_or(&[][..], |last| &last.waits_for);
                let list = rank_list(last.iter().filter(has).copied());
                if !list.is_empty() {
                    let verb = match list.contains([',', '-']) {
                        true => "have",
                        false => "has",
                    };
                    steps.push(format!("{} {verb} {did}", ranks_in_words(&list)));
                }
            }
        }
        let head = match (is_circle, circle.len()) {
            (true, 1) => "a rank waits for itself".to_owned(),
            (true, number) => format!("{number} ranks wait for each other in a circle"),
            (false, _) => "ranks wait for what will not come".to_owned(),
        };
        let others = stuck - circle.len();
        let tail = match others {
            0 => String::new(),
            1 => "; 1 more rank waits for them".to_owned(),
            _ => format!("; {others} more ranks wait for them"),
        };
        Finding {
            kind: FindingKind::Deadlock,
            message: format!("{head}: {}{tail}", steps.join(", ")),
            communicator: None,
            number: None,
            object: None,
            tag: None,
            error: None,
            count: *stuck as u64,
            calls,
        }
    }

    /// Calls of one operation that do not fit.
    fn mismatch(&self, mismatch: &Mismatch) -> Finding {
        let (kind, word) = match mismatch.difference {
            Difference::Function => (FindingKind::CollectiveOrder, "different calls"),
            Difference::Root => (FindingKind::CollectiveRoot, "different roots"),
            Difference::Operation => (FindingKind::CollectiveOperation, "different operations"),
            Difference::Size => (FindingKind::CollectiveSize, "data of different sizes"),
            Difference::Exchange(_) => (
                FindingKind::CollectiveSize,
                "more or less data sent than expected",
            ),
        };
        // Calls that are alike stand together.
        let mut groups: Vec<(FoundCall, RankSet)> = Vec::new();
        for arrival in &mismatch.calls {
            let call = self.arrival(arrival);
            let is_alike = |(other, _): &&mut (FoundCall, RankSet)| {
                other.function == call.function
                    && (mismatch.difference == Difference::Function
                        || (&other.root, &other.operation, &other.bytes)
                            == (&call.root, &call.operation, &call.bytes))
            };
            match groups.iter_mut().find(is_alike) {
                Some((_, ranks)) => ranks.insert(call.rank),
                None => {
                    let mut ranks = RankSet::default();
                    ranks.insert(call.rank);
                    groups.push((call, ranks));
                }
            }
        }
        // All ranks that are not among the others did what the first one did, as far as that is known.
        if let Some(unknown) = &mismatch.unknown
            && let Some(comm) = self.comms.get(mismatch.comm.0 as usize)
            && mismatch.came as usize == comm.members.len()
            && mismatch.different as usize == mismatch.calls.len() - 1
        {
            let different: Vec<u32> = mismatch.calls[1..].iter().map(|it| it.place.rank).collect();
            let alike = comm
                .members
                .iter()
                .filter_map(|&rank| u32::try_from(rank).ok());
            let is_other = |rank: &u32| different.contains(rank) || unknown.contains(rank);
            for rank in alike.filter(|rank| !is_other(rank)) {
                groups[0].1.insert(rank);
            }
        }
        let exchanged = match mismatch.difference {
            Difference::Exchange(all) => Some(all),
            _ => None,
        };
        let calls: Vec<FoundCall> = groups
            .into_iter()
            .map(|(call, ranks)| FoundCall {
                ranks: ranks.to_string(),
                sent: exchanged.map(|all| all.sent),
                expected: exchanged.map(|all| all.expected),
                ..call
            })
            .collect();
        let did: Vec<String> = calls
            .iter()
            .map(|call| {
                let mut text = format!("{}: {}", ranks_in_words(&call.ranks), call.function);
                match mismatch.difference {
                    Difference::Function => {}
                    Difference::Root => {
                        text += &format!(" with root {}", call.root.unwrap_or(-1));
                    }
                    Difference::Operation => {
                        text +=
                            &format!(" with {}", call.operation.as_deref().unwrap_or("another"));
                    }
                    Difference::Size => {
                        text += &format!(" with {} bytes", call.bytes.unwrap_or(0));
                    }
                    Difference::Exchange(all) => {
                        let ExchangedBytes { sent, expected } = all;
                        text += &format!(", {sent} bytes sent and {expected} expected");
                    }
                }
                text
            })
            .collect();
        let times = match mismatch.count {
            1 => String::new(),
            count => format!("; {count} such calls"),
        };
        Finding {
            kind,
            message: format!(
                "{word} in collective call {} on {}: {}{times}",
                mismatch.number + 1,
                self.comm_name(mismatch.comm),
                did.join("; ")
            ),
            communicator: Some(self.comm_name(mismatch.comm).to_owned()),
            number: Some(mismatch.number + 1),
            object: None,
            tag: None,
            error: None,
            count: mismatch.count,
            calls,
        }
    }

    /// An operation to which not all ranks came. Ranks that were still on their way do not count.
    fn missing(&self, missing: &Missing) -> Option<Finding> {
        let members = &self.comms.get(missing.comm.0 as usize)?.members;
        let never: Vec<u32> = missing
            .ranks
            .iter()
            .filter_map(|&rank| u32::try_from(*members.get(rank as usize)?).ok())
            .filter(|rank| self.ends.get(rank).is_some_and(RankEnd::is_finished))
            .collect();
        if never.is_empty() {
            return None;
        }
        let list = rank_list(never.iter().copied());
        Some(Finding {
            kind: FindingKind::CollectiveMissing,
            message: format!(
                "{} never came to collective call {} on {}, which is {} on rank {}",
                ranks_in_words(&list),
                missing.number + 1,
                self.comm_name(missing.comm),
                self.name(missing.first.place.function),
                missing.first.place.rank
            ),
            communicator: Some(self.comm_name(missing.comm).to_owned()),
            number: Some(missing.number + 1),
            object: None,
            tag: None,
            error: None,
            count: never.len() as u64,
            calls: vec![FoundCall {
                waits_for: Some(list),
                ..self.arrival(&missing.first)
            }],
        })
    }

    fn add_messages(&self, findings: &mut Vec<Finding>) {
        for found in &self.messages.truncations {
            let call = |end: &super::message::MessageEnd| FoundCall {
                bytes: end.bytes,
                ..self.found_call(end.place)
            };
            let (send, receive) = (call(&found.send), call(&found.receive));
            findings.push(Finding {
                kind: FindingKind::Truncation,
                message: format!(
                    "rank {} sends {} bytes with {}, rank {} has room for {} in {} (tag {})",
                    send.rank,
                    send.bytes.unwrap_or(0),
                    send.function,
                    receive.rank,
                    receive.bytes.unwrap_or(0),
                    receive.function,
                    found.channel.tag
                ),
                communicator: Some(self.comm_name(found.channel.comm).to_owned()),
                number: None,
                object: None,
                tag: Some(found.channel.tag),
                error: None,
                count: found.count,
                calls: vec![receive, send],
            });
        }
        // Until all ranks are through, what is sent is under way.
        if self.finalized < self.ranks {
            return;
        }
        for (channel, first, count) in self.messages.unreceived() {
            let call = FoundCall {
                bytes: first.bytes,
                ..self.found_call(first.place)
            };
            let messages = match count {
                1 => "a message".to_owned(),
                _ => format!("{count} messages"),
            };
            findings.push(Finding {
                kind: FindingKind::UnreceivedMessage,
                message: format!(
                    "{messages} from rank {} to rank {} with tag {} on {}; the first of {} bytes with {}",
                    channel.from,
                    channel.to,
                    channel.tag,
                    self.comm_name(channel.comm),
                    first.bytes.unwrap_or(0),
                    call.function
                ),
                communicator: Some(self.comm_name(channel.comm).to_owned()),
                number: None,
                object: None,
                tag: Some(channel.tag),
                error: None,
                count,
                calls: vec![FoundCall {
                    waits_for: Some(channel.to.to_string()),
                    ..call
                }],
            });
        }
    }

    fn add_failures(&self, findings: &mut Vec<Finding>) {
        for (&(function, _), failed) in &self.failures.by_cause {
            let code = failed.code;
            let name = match self.error_names.get(&code) {
                Some((_, name)) => format!("{name} (code {code})"),
                None => format!("error code {code}"),
            };
            let what = format!("{} returned {name}", self.name(function));
            findings.push(self.failed(FindingKind::FailedCall, &what, Some(code), failed));
        }
    }

    fn add_failed_writes(&self, findings: &mut Vec<Finding>) {
        for (&(function, error), failed) in &self.failed_writes.by_cause {
            let name = self.name(function);
            let what =
                format!("{name} returned success, and a write to the file failed with {error}");
            findings.push(self.failed(FindingKind::FailedWrite, &what, None, failed));
        }
    }

    /// Calls in which the same failed.
    fn failed(
        &self,
        kind: FindingKind,
        what: &str,
        error: Option<i64>,
        failed: &FailedCalls,
    ) -> Finding {
        let ranks = failed.ranks.to_string();
        let times = match failed.count {
            1 => String::new(),
            count => format!(", {count} times"),
        };
        Finding {
            kind,
            message: format!("{what} on {}{times}", ranks_in_words(&ranks)),
            communicator: None,
            number: None,
            object: None,
            tag: None,
            error,
            count: failed.count,
            calls: vec![FoundCall {
                ranks,
                ..self.found_call(failed.first)
            }],
        }
    }

    /// Says what callbacks of attributes may free in MPI_Finalize, where they are no longer recorded.
    fn note_left_to_callbacks(&mut self) {
        let left = self.leaks(&self.left_to_callbacks);
        if left.is_empty() {
            return;
        }
        let mut named: Vec<String> = left.into_iter().map(|leak| leak.message).collect();
        if named.len() > MAX_LEFT {
            let more = named.len() - MAX_LEFT;
            named.truncate(MAX_LEFT);
            named.push(format!("{more} more kinds"));
        }
        self.note_unchecked(format!(
            "whether what is left at MPI_Finalize is freed there, as attributes of MPI_COMM_SELF and MPI_COMM_WORLD may have callbacks that do so: {}",
            named.join(", ")
        ));
    }

    fn leaks(&self, left: &[LeftObjects]) -> Vec<Finding> {
        let mut groups: BTreeMap<(ObjectKind, FunctionKey), (CallPlace, u64, RankSet)> =
            BTreeMap::new();
        let is_known = |left: &&LeftObjects| !self.unchecked_objects.contains_key(&left.kind);
        for left in left.iter().filter(is_known) {
            let known = groups
                .entry((left.kind, left.first.function))
                .or_insert_with(|| (left.first, 0, RankSet::default()));
            known.1 += left.count;
            known.2.insert(left.first.rank);
            if left.first.start < known.0.start {
                known.0 = left.first;
            }
        }
        let leak = |((kind, function), (first, count, ranks)): (_, (_, u64, RankSet))| {
            let (kind, ranks): (ObjectKind, String) = (kind, ranks.to_string());
            let name = kind.name();
            let what = match count {
                1 => format!("1 {name}"),
                _ => format!("{count} {name}s"),
            };
            Finding {
                kind: FindingKind::Leak,
                message: format!(
                    "{what} made by {} on {}",
                    self.name(function),
                    ranks_in_words(&ranks)
                ),
                communicator: None,
                number: None,
                object: Some(name),
                tag: None,
                error: None,
                count,
                calls: vec![FoundCall {
                    ranks,
                    ..self.found_call(first)
                }],
            }
        };
        groups.into_iter().map(leak).collect()
    }
}

/// Whether a function of one-sided communication waits for other ranks, and is no collective call.
fn waits_one_sided(name: &str) -> bool {
    const NAMES: [&str; 6] = [
        "MPI_Win_start",
        "MPI_Win_complete",
        "MPI_Win_wait",
        "MPI_Win_lock",
        "MPI_Win_unlock",
        "MPI_Win_flush",
    ];
    NAMES.iter().any(|known| name.starts_with(known))
}
