//! Settings of the merge that all ranks have agreed on.

use unify::endpoints::DrawnEndpoints;
use unify::function_set::FunctionSet;

/// Settings of the merge that are equal on all ranks.
#[derive(Clone, Copy, Debug)]
pub struct MergeSettings<'s> {
    /// Members of the largest communicator: the largest [`unify::scan::Scan::width`] of all ranks.
    pub ranks: u32,
    /// Largest number of threads of any rank ([`unify::scan::Scan::threads`]).
    pub threads: u32,
    /// Time zero on rank 0's clock, ns: the smallest [`unify::scan::Scan::first_ns`] of all ranks.
    pub zero_ns: i64,
    /// End of a run that was killed: its latest known time, ns on rank 0's clock. Calls that were running then end there.
    /// `None` leaves running calls out.
    pub open_until_ns: Option<i64>,
    /// Messages that are left out, where not all calls of all ranks were kept.
    pub drawn_endpoints: Option<&'s DrawnEndpoints>,
    /// On the one rank that describes the states: the functions that any rank has called.
    pub describe: Option<&'s FunctionSet>,
    /// Names of the program's functions on all ranks, sorted: the places of their states.
    pub functions: &'s [String],
    /// Names of performance counters: those of all ranks. Without, their values are left out.
    pub counters: &'s [String],
    /// Whether the beginnings of states are given, too ([`super::MergedBody::Enter`]): who writes no CLOG2 and corrects no times
    /// does without.
    pub enters: bool,
}
