//! What the infos of calls say in SLOG2 beside the cargo: roots and bytes of collective calls, the numbers of requests, by which a call
//! that completes them finds the ones that began them, the numbers of files and windows, and who takes part where the communicator does not tell.

use super::calls::ProcessWalk;
use super::mpe_constants::{mpi_root, shown_root};
use super::number_text::push_numbers;
use super::state_info::StateInfo;
use blockfile::record::Record as Call;
use trace_formats::clog2::states::{CallDetails, CompletedNumbers, PreparedNumber};
use trace_model::requests::RequestCall;
use unify::lanes::StartedKind;
use unify::plan::FunctionPlan;
use unify::wildcards::ReceivedMessage;

/// Stands in place of a number that is not known.
const UNKNOWN: i32 = -1;

/// The bytes of a call that a detail tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Amount {
    /// What the rank passes to it, or what a one-sided operation moves.
    Own,
    /// What the rank gets, where it has counts for that.
    Received,
    /// What the root gives to each rank.
    Sent,
}

impl ProcessWalk<'_> {
    /// Appends the details of a call that has ended. `group` has the members of the group that it names, in MPI_COMM_WORLD.
    #[inline]
    pub(super) fn details(
        &mut self,
        details: &mut StateInfo,
        wanted: CallDetails,
        group: &[i32],
        plan: Option<&FunctionPlan<'_>>,
        call: &Call<'_>,
        by: RequestCall,
    ) {
        let int = |at| plan.and_then(|plan| plan.int(call.payload, at?));
        if wanted.root {
            let root = int(plan.and_then(|plan| plan.root));
            let of_root = || mpi_root(&self.library, self.scan.info.family);
            push_int(
                details,
                root.and_then(|root| shown_root(root, self.proc_null, of_root)),
            );
        }
        let amounts = [
            (wanted.bytes, Amount::Own),
            (wanted.received, Amount::Received),
            (wanted.sent, Amount::Sent),
        ];
        for (_, amount) in amounts.into_iter().filter(|(is_wanted, _)| *is_wanted) {
            let bytes = plan.and_then(|plan| self.amount(plan, call, amount));
            details.push(&bytes.unwrap_or(-1).to_be_bytes());
        }
        if wanted.request {
            // A call on parts of a persistent operation makes none.
            let request = || plan.and_then(|plan| plan.handle(call.payload, plan.request()?));
            let known =
                || Some(self.requests.get(request()?, by)?.number).filter(|&number| number > 0);
            push_int(details, self.numbers.made.or_else(known));
        }
        match wanted.completes {
            None => {}
            Some(CompletedNumbers::One) => {
                push_int(details, self.numbers.completed.first().copied());
            }
            Some(CompletedNumbers::List) => {
                push_text(details, self.numbers.completed_text());
            }
        }
        if wanted.asks_for {
            for number in self.asked_for(plan, call, by) {
                push_int(details, number.filter(|&number| number >= 0));
            }
        }
        if wanted.handle {
            let number = plan.and_then(|plan| match plan.remote_amount {
                Some(_) => self.shared_handles.known(plan, call),
                None if plan.shared_handle.is_none() => self.shared_handles.known(plan, call),
                None => self.shared_handles.of(plan, call),
            });
            push_int(details, number);
        }
        if wanted.name {
            let comm = plan.and_then(|plan| plan.handle(call.payload, plan.comm?));
            // Calls on a communicator without a timeline are on that of MPI_COMM_WORLD.
            let has_line = comm.is_none_or(|comm| {
                let id = self.handles.lookup(comm);
                id.is_some_and(|id| !self.places.get(id).folded)
            });
            let name = plan.and_then(|plan| plan.text(call.payload));
            push_text(details, name.filter(|_| has_line).unwrap_or_default());
        }
        if wanted.ranks {
            push_ranks(details, group);
        }
        if wanted.target {
            let target = int(plan.and_then(FunctionPlan::target));
            push_int(details, target.filter(|&target| target >= 0));
        }
        if wanted.exclusive {
            let lock = int(plan.and_then(FunctionPlan::lock_type));
            let exclusive = self.library.constant("MPI_LOCK_EXCLUSIVE");
            let is_exclusive = lock
                .zip(exclusive)
                .map(|(lock, exclusive)| i32::from(lock == exclusive));
            push_int(details, is_exclusive);
        }
        if let Some(which) = wanted.prepared {
            let started = || match self.numbers.started[..] {
                [started] => match started.kind {
                    StartedKind::Collective(prepared) => Some(prepared),
                    _ => None,
                },
                _ => None,
            };
            let number = match which {
                PreparedNumber::Made => self.numbers.prepared,
                PreparedNumber::Started => started(),
            };
            push_int(details, number);
        }
        if wanted.started {
            for kind in [StartedKind::Send, StartedKind::Receive] {
                push_text(details, self.numbers.started_text(kind));
            }
            push_text(details, self.numbers.started_collectives().as_bytes());
        }
        if wanted.atomic {
            let flag = int(plan.and_then(FunctionPlan::atomic_mode));
            push_int(details, flag.map(|flag| i32::from(flag != 0)));
        }
        if wanted.makes {
            self.push_communicator(details, plan, call);
        }
    }

    /// Rank of the sender and tag of the message that a call asks for, a receive by its request; the rank as the timeline of the message has ranks.
    /// Negative numbers are wildcards.
    fn asked_for(
        &self,
        plan: Option<&FunctionPlan<'_>>,
        call: &Call<'_>,
        by: RequestCall,
    ) -> [Option<i64>; 2] {
        let asked = plan.and_then(|plan| match plan.request() {
            Some(request) => {
                let operation = self.requests.get(plan.handle(call.payload, request)?, by)?;
                Some((operation.comm?, operation.recv?.wanted()))
            }
            None => {
                let comm = self
                    .handles
                    .lookup(plan.handle(call.payload, plan.comm?)?)?;
                let (source, tag) = plan.envelope?;
                let int = |at| plan.int(call.payload, at);
                let (source, tag) = (int(source)?, int(tag)?);
                Some((comm, ReceivedMessage { source, tag }))
            }
        });
        let Some((comm, ReceivedMessage { source, tag })) = asked else {
            return [None; 2];
        };
        [self.shown_partner(comm, source).map(i64::from), Some(tag)]
    }

    /// Bytes of a call; `None` where they are not known.
    fn amount(&self, plan: &FunctionPlan<'_>, call: &Call<'_>, amount: Amount) -> Option<i64> {
        let [given, got] = plan.amounts_by_rank;
        let own = plan.own_amount;
        let own = own.map(|(count, datatype)| (Some(count), datatype));
        match (amount, plan.remote_amount.or(own)) {
            (Amount::Own, Some((count, datatype))) => {
                // Of data that stays in place, nothing is known.
                if call.in_place && plan.means_nothing_in_place(datatype) {
                    return None;
                }
                let count = count.map_or(Some(1), |count| plan.int(call.payload, count))?;
                let size = self
                    .library
                    .type_size(plan.handle(call.payload, datatype)?)?;
                count.checked_mul(i64::try_from(size).ok()?)
            }
            // Data that stays in place has the counts of what comes.
            (Amount::Own, None) => {
                let given = given.filter(|_| !call.in_place);
                self.sum_by_rank(plan, call, given.or(got)?, None)
            }
            // Of what all ranks reduce each gets its part.
            (Amount::Received, None) if given.is_none() => {
                let comm = plan.handle(call.payload, plan.comm?)?;
                let comm = self.scan.comms.get(self.handles.lookup(comm)?)?;
                self.sum_by_rank(plan, call, got?, Some(usize::try_from(comm.rank).ok()?))
            }
            (Amount::Received, _) => self.sum_by_rank(plan, call, got?, None),
            (Amount::Sent, _) => self.sum_by_rank(plan, call, given?, None),
        }
    }

    /// Bytes that the counts and datatypes at these places tell, of all ranks or of `only`. `None` where the call does not tell them, as ranks that
    /// are not the root.
    fn sum_by_rank(
        &self,
        plan: &FunctionPlan<'_>,
        call: &Call<'_>,
        (counts, datatypes): (usize, usize),
        only: Option<usize>,
    ) -> Option<i64> {
        let arguments = plan.decode(call.payload)?;
        let counts = arguments.array(counts)?;
        let types = arguments.array(datatypes);
        let ranks = only.map_or(0..counts.len, |only| only..only.saturating_add(1));
        let mut sum = 0i64;
        for rank in ranks {
            let count = counts.get(rank)?;
            if count == 0 {
                continue;
            }
            let datatype = match &types {
                Some(types) => types.get(rank)? as u64,
                None => arguments.handle(datatypes)?,
            };
            let size = i64::try_from(self.library.type_size(datatype)?).ok()?;
            sum = sum.checked_add(count.checked_mul(size)?)?;
        }
        Some(sum)
    }

    /// Appends the communicator that a call has made.
    fn push_communicator(
        &self,
        details: &mut StateInfo,
        plan: Option<&FunctionPlan<'_>>,
        call: &Call<'_>,
    ) {
        let made = plan.and_then(|plan| plan.handle(call.payload, plan.new_comm?));
        let id = made.and_then(|handle| self.handles.lookup(handle));
        let comm = id.and_then(|id| Some((self.scan.comms.get(id)?, self.places.get(id))));
        let shown = comm.filter(|(_, place)| !place.folded);
        push_int(details, shown.map(|(_, place)| place.line));
        let remote = shown.filter(|(comm, _)| comm.is_inter());
        push_int(details, remote.map(|(_, place)| place.partner));
        let sources = shown.and_then(|(comm, _)| comm.sources.as_deref());
        push_ranks(details, sources.unwrap_or_default());
    }
}

/// Appends a number, or −1.
fn push_int(details: &mut StateInfo, number: Option<impl TryInto<i32>>) {
    let number = number.and_then(|number| number.try_into().ok());
    details.push(&number.unwrap_or(UNKNOWN).to_be_bytes());
}

/// Appends a text.
fn push_text(details: &mut StateInfo, text: &[u8]) {
    details.push(&(text.len() as u16).to_be_bytes());
    details.push(text);
}

/// Appends the ranks of a list as a text.
fn push_ranks(details: &mut StateInfo, ranks: &[i32]) {
    let mut ranks: Vec<u32> = ranks
        .iter()
        .filter_map(|&rank| rank.try_into().ok())
        .collect();
    ranks.sort_unstable();
    let mut text = Vec::new();
    push_numbers(&mut text, ranks.into_iter());
    push_text(details, &text);
}
