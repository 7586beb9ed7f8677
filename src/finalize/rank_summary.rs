//! What the ranks must agree on before anything is merged: one numbering of communicators, the functions used, the zero of
//! time. Each rank's part goes up the tree and is joined with its children's; rank 0's answer comes down again.

use crate::exchange::failure::ExchangeFailure;
use crate::exchange::line::Exchange;
use crate::exchange::spread::{UP_TAG, spread};
use crate::exchange::tree::{children, parent};
use blockfile::args::ByteCursor;
use blockfile::define::ClockReading;
use std::collections::{BTreeSet, HashSet};
use trace_formats::clog2::{Clog2CommKind, Gid};
use unify::categories::UserCategories;
use unify::counters;
use unify::function_set::FunctionSet;

/// A text of one rank, of which the whole run needs one: that of the lowest rank that has one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextOfRank {
    rank: u32,
    /// Empty: there is none.
    text: String,
}

impl TextOfRank {
    /// The text of this rank; none if it is empty.
    pub fn new(rank: u32, text: String) -> TextOfRank {
        TextOfRank { rank, text }
    }

    /// The text, empty if there is none.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Takes the text of another rank, if that is the lower one or there is none yet.
    pub fn join(&mut self, other: TextOfRank) {
        let is_better = self.text.is_empty() || other.rank < self.rank;
        if is_better && !other.text.is_empty() {
            *self = other;
        }
    }

    fn put(&self, out: &mut Vec<u8>) {
        put_u64(out, u64::from(self.rank));
        put_text(out, &self.text);
    }

    fn take(b: &mut ByteCursor<'_>) -> Option<TextOfRank> {
        Some(TextOfRank::new(b.u64()? as u32, text(b)?))
    }
}

/// Summary of a rank, then of a part of the tree, then of the whole run.
#[derive(Clone, Debug, Default)]
pub struct RankSummary {
    /// Start of the first call, ns on rank 0's clock; `i64::MAX` without calls.
    pub first_ns: i64,
    /// First reading of a process's own clocks, ns on rank 0's clock; `i64::MAX` if there is none.
    pub began_ns: i64,
    /// Largest number of threads of a rank.
    pub threads: u32,
    /// Members of the largest communicator.
    pub width: u32,
    /// Recorded calls.
    pub calls: u64,
    /// Recorded operations below MPI.
    pub operations: u64,
    /// Calls that were counted and not recorded.
    pub ignored: u64,
    /// Recorded polls that `polling sample` would have counted instead.
    pub repeated: u64,
    /// Records that could not be kept.
    pub lost: u64,
    /// Calls given up for newer ones.
    pub dropped: u64,
    /// Ranks on which calls are missing that messages hang on.
    pub cut: u64,
    /// Why, of the lowest rank that has a reason.
    pub lost_reason: TextOfRank,
    /// Ranks whose DUMPI file could not be written.
    pub dumpi_failures: u64,
    /// Bytes of DUMPI files.
    pub dumpi_bytes: u64,
    /// Why, of the lowest rank that has a reason.
    pub dumpi_reason: TextOfRank,
    /// Ranks whose settings differ from rank 0's.
    pub differing: u64,
    /// Who and in what, of the lowest such rank.
    pub difference: TextOfRank,
    /// Ranks that have no memory for the merge.
    pub starved: u64,
    /// Ranks whose limits leave MPI little memory for messages.
    pub limited: u64,
    /// Ranks that could not record anything.
    pub silent: u64,
    /// Why, of the lowest rank that has a reason.
    pub reason: TextOfRank,
    /// Functions that were called.
    pub functions: FunctionSet,
    /// Communicators: own ones first, then those that only other ranks know.
    pub comms: Vec<(Gid, Clog2CommKind)>,
    /// States and events that the programs define.
    pub categories: UserCategories,
    /// Host of each rank.
    pub hosts: Vec<(u32, String)>,
    /// Program of each rank.
    pub programs: Vec<(u32, String)>,
    /// Names of the program's functions.
    pub named: BTreeSet<String>,
    /// Names of performance counters.
    pub counters: Vec<String>,
}

fn put_u64(out: &mut Vec<u8>, v: u64) {
    out.extend_from_slice(&v.to_ne_bytes());
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&(text.len() as u32).to_ne_bytes());
    out.extend_from_slice(text.as_bytes());
}

fn text(b: &mut ByteCursor<'_>) -> Option<String> {
    Some(String::from_utf8_lossy(b.string()??).into_owned())
}

impl RankSummary {
    /// Time zero of the trace, ns on rank 0's clock: the start of the first call, and of a run without calls the time at which its first process began.
    pub fn zero_ns(&self) -> i64 {
        match (self.first_ns, self.began_ns) {
            (i64::MAX, i64::MAX) => 0,
            (i64::MAX, began) => began,
            (first, _) => first,
        }
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let numbers = [
            self.first_ns as u64,
            self.began_ns as u64,
            self.threads.into(),
            self.width.into(),
            self.calls,
            self.operations,
            self.ignored,
            self.repeated,
            self.lost,
            self.dropped,
            self.cut,
            self.dumpi_failures,
            self.dumpi_bytes,
            self.silent,
            self.differing,
            self.starved,
            self.limited,
        ];
        for n in numbers.iter().chain(&self.functions.0) {
            put_u64(&mut out, *n);
        }
        for text in [
            &self.reason,
            &self.difference,
            &self.dumpi_reason,
            &self.lost_reason,
        ] {
            text.put(&mut out);
        }
        put_u64(&mut out, self.comms.len() as u64);
        for (gid, kind) in &self.comms {
            out.extend_from_slice(&gid.0);
            out.extend_from_slice(&kind.number().to_ne_bytes());
        }
        out.extend(self.categories.encode());
        for names in [&self.hosts, &self.programs] {
            put_u64(&mut out, names.len() as u64);
            for (rank, name) in names {
                put_u64(&mut out, u64::from(*rank));
                put_text(&mut out, name);
            }
        }
        put_u64(&mut out, self.named.len() as u64);
        for name in &self.named {
            put_text(&mut out, name);
        }
        put_u64(&mut out, self.counters.len() as u64);
        for name in &self.counters {
            put_text(&mut out, name);
        }
        out
    }

    fn decode(bytes: &[u8]) -> Option<RankSummary> {
        let b = &mut ByteCursor::new(bytes);
        let mut part = RankSummary {
            first_ns: b.i64()?,
            began_ns: b.i64()?,
            threads: b.u64()? as u32,
            width: b.u64()? as u32,
            calls: b.u64()?,
            operations: b.u64()?,
            ignored: b.u64()?,
            repeated: b.u64()?,
            lost: b.u64()?,
            dropped: b.u64()?,
            cut: b.u64()?,
            dumpi_failures: b.u64()?,
            dumpi_bytes: b.u64()?,
            silent: b.u64()?,
            differing: b.u64()?,
            starved: b.u64()?,
            limited: b.u64()?,
            ..RankSummary::default()
        };
        for word in &mut part.functions.0 {
            *word = b.u64()?;
        }
        for text in [
            &mut part.reason,
            &mut part.difference,
            &mut part.dumpi_reason,
            &mut part.lost_reason,
        ] {
            *text = TextOfRank::take(b)?;
        }
        for _ in 0..b.u64()? {
            let gid = Gid(b.take(32)?.try_into().ok()?);
            part.comms.push((
                gid,
                Clog2CommKind::from_number(b.i32()?).unwrap_or(Clog2CommKind::Unknown),
            ));
        }
        part.categories = UserCategories::decode(b)?;
        for names in [&mut part.hosts, &mut part.programs] {
            for _ in 0..b.u64()? {
                names.push((b.u64()? as u32, text(b)?));
            }
        }
        for _ in 0..b.u64()? {
            part.named.insert(text(b)?);
        }
        for _ in 0..b.u64()? {
            part.counters.push(text(b)?);
        }
        Some(part)
    }

    /// Joins what a child knows.
    fn join(&mut self, child: RankSummary) {
        self.first_ns = self.first_ns.min(child.first_ns);
        self.began_ns = self.began_ns.min(child.began_ns);
        self.threads = self.threads.max(child.threads);
        self.width = self.width.max(child.width);
        self.calls += child.calls;
        self.operations += child.operations;
        self.ignored += child.ignored;
        self.repeated += child.repeated;
        self.lost += child.lost;
        self.dropped += child.dropped;
        self.cut += child.cut;
        self.dumpi_failures += child.dumpi_failures;
        self.dumpi_bytes += child.dumpi_bytes;
        self.silent += child.silent;
        self.differing += child.differing;
        self.starved += child.starved;
        self.limited += child.limited;
        self.reason.join(child.reason);
        self.difference.join(child.difference);
        self.dumpi_reason.join(child.dumpi_reason);
        self.lost_reason.join(child.lost_reason);
        for (word, other) in self.functions.0.iter_mut().zip(child.functions.0) {
            *word |= other;
        }
        let known: HashSet<[u8; 32]> = self.comms.iter().map(|(gid, _)| gid.0).collect();
        // Of a communicator that rank 0 is no member of, its table does not tell the kind.
        let new = child
            .comms
            .into_iter()
            .filter(|(gid, _)| !known.contains(&gid.0));
        let mut seen = HashSet::new();
        self.comms.extend(
            new.filter(|(gid, _)| seen.insert(gid.0))
                .map(|(gid, _)| (gid, Clog2CommKind::Unknown)),
        );
        self.categories.join(child.categories);
        self.hosts.extend(child.hosts);
        self.programs.extend(child.programs);
        self.named.extend(child.named);
        counters::join(&mut self.counters, &child.counters);
    }
}

/// Joins all ranks' parts; every rank gets the whole. Collective.
pub fn reduce(
    line: &Exchange,
    rank: i32,
    size: i32,
    mut part: RankSummary,
) -> Result<RankSummary, ExchangeFailure> {
    for child in children(rank, size) {
        let bytes = line.receive_all(child, UP_TAG)?;
        part.join(RankSummary::decode(&bytes).ok_or(ExchangeFailure::Nonsense(child))?);
    }
    if let Some(up) = parent(rank) {
        line.send_all(up, UP_TAG, &part.encode())?;
    }
    let whole = spread(line, rank, size, part.encode())?;
    RankSummary::decode(&whole).ok_or(ExchangeFailure::Nonsense(0))
}

/// Rank 0's clock readings, so that ranks that read the same clock turn it into time by the same rate.
#[derive(Clone, Debug, Default)]
pub struct ZeroClock {
    /// Kernel that rank 0 runs under.
    pub boot: String,
    /// First and last clock reading of rank 0. Empty if its times are not ticks of a counter.
    pub readings: Vec<ClockReading>,
}

impl ZeroClock {
    /// For [`spread`].
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_text(&mut out, &self.boot);
        for r in &self.readings {
            for v in [r.ticks, r.monotonic, r.realtime, r.cpu] {
                put_u64(&mut out, v);
            }
        }
        out
    }

    /// From what [`spread`] gave.
    pub fn decode(bytes: &[u8]) -> Option<ZeroClock> {
        let b = &mut ByteCursor::new(bytes);
        let boot = text(b)?;
        let mut readings = Vec::new();
        while let Some(ticks) = b.u64() {
            readings.push(ClockReading {
                ticks,
                monotonic: b.u64()?,
                realtime: b.u64()?,
                cpu: b.u64()?,
            });
        }
        Some(ZeroClock { boot, readings })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blockfile::user::{UserCategory, UserCategoryKind};

    /// What a rank tells: a reason and a name of state 600 that it alone has.
    fn part(rank: u32) -> RankSummary {
        let mut part = RankSummary {
            reason: TextOfRank::new(rank, format!("reason of rank {rank}")),
            ..RankSummary::default()
        };
        part.categories.define(UserCategory {
            kind: UserCategoryKind::State,
            number: 600,
            end: 601,
            name: format!("state of rank {rank}"),
            ..UserCategory::default()
        });
        part.categories.set_rank(rank);
        part
    }

    /// Joins the parts of the ranks below `rank` in the tree as MPI_Finalize does; only the `telling` ones have anything to tell.
    fn joined(rank: u32, size: u32, telling: &[u32]) -> RankSummary {
        let mut own = match telling.contains(&rank) {
            true => part(rank),
            false => RankSummary::default(),
        };
        for child in children(rank as i32, size as i32) {
            let bytes = joined(child as u32, size, telling).encode();
            own.join(RankSummary::decode(&bytes).unwrap());
        }
        own
    }

    #[test]
    fn a_run_without_calls_begins_with_its_first_process() {
        const NONE: i64 = i64::MAX;
        for (ranks, zero) in [
            ([(NONE, 50), (NONE, 40), (NONE, NONE)], 40),
            ([(NONE, 50), (90, 60), (70, 40)], 70),
            ([(NONE, NONE), (NONE, NONE), (NONE, NONE)], 0),
        ] {
            let parts = ranks.map(|(first_ns, began_ns)| RankSummary {
                first_ns,
                began_ns,
                ..RankSummary::default()
            });
            let [mut whole, one, two] = parts;
            for part in [one, two] {
                whole.join(RankSummary::decode(&part.encode()).unwrap());
            }
            assert_eq!(whole.zero_ns(), zero, "{ranks:?}");
        }
    }

    #[test]
    fn the_text_of_the_lowest_rank_wins() {
        // In the tree rank 3 is joined before rank 2, and 7 before 4.
        for telling in [&[2, 3][..], &[4, 7, 8], &[1, 2], &[0, 5], &[5, 6, 9], &[9]] {
            let whole = joined(0, 10, telling);
            let lowest = telling[0];
            assert_eq!(whole.reason.as_str(), format!("reason of rank {lowest}"));
            let schema = unify::categories::NumberedCategories::new(&whole.categories, 10, false);
            let names: Vec<_> = schema.states().iter().map(|s| s.name.to_str()).collect();
            assert_eq!(names, [format!("state of rank {lowest}")]);
        }
        assert_eq!(joined(0, 10, &[]).reason.as_str(), "");
    }
}
