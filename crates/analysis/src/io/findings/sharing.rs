//! How the work is spread: over ranks, aggregators and servers; and bytes that several ranks write.

use super::{Evidence, IoFinding, LARGE, Sureness, counted};
use crate::io::pattern::Part;
use crate::io::{RankWaits, Waits};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use trace_model::units::{bytes, duration_ns as time};

/// Nineteen of twenty bytes: what is left are headers.
const NEARLY_ALL_PERCENT: u64 = 95;

/// Others waited for a tenth of what the one rank's I/O took: less is chance.
const WAITED_PART: u64 = 10;

/// The rank with the most bytes has half as much again as the mean.
const UNEQUAL_PERCENT: u64 = 150;

/// A rank that takes twice the mean for what all do.
const SLOW: u64 = 2;

/// A twentieth of the span: a slow rank that costs less is noise.
const SPAN_PART: u64 = 20;

/// The busiest data server has a quarter more than the mean.
const SERVERS: f64 = 1.25;

/// Load of ranks.
struct Load {
    rank: u32,
    /// Of the rank with the most bytes, or the most time.
    most: Part,
    all: Part,
}

impl Load {
    /// The rank with the most, by this measure; `None` without ranks.
    fn of(ranks: &BTreeMap<u32, Part>, measure: impl Fn(&Part) -> u64) -> Option<Load> {
        let (rank, most) = ranks
            .iter()
            .max_by_key(|(rank, part)| (measure(part), Reverse(**rank)))?;
        let (rank, most) = (*rank, *most);
        let mut all = Part::default();
        ranks.values().for_each(|part| all.join(part));
        Some(Load { rank, most, all })
    }
}

impl Evidence<'_> {
    pub(super) fn sharing(&self) -> Vec<IoFinding> {
        let mut found = Vec::new();
        if !self.facts.is_of_one_rank {
            for writes in [true, false] {
                match self.one_rank(writes) {
                    Some(one) => found.push(one),
                    None => found.extend(self.unequal(writes)),
                }
            }
            found.extend(self.slow_rank());
        }
        found.extend(self.overlaps());
        found.extend(self.aggregators());
        if let Some(most) = self
            .report
            .below
            .imbalance()
            .filter(|&most| most >= SERVERS)
        {
            let text = format!(
                "The busiest data server has {most:.2} times the mean of bytes: the stripe does not fit the accesses."
            );
            found.push(IoFinding::new("servers", Sureness::Likely, 0, text));
        }
        found
    }

    /// Accesses of each rank, all or those of one direction.
    fn by_rank(&self, writes: Option<bool>) -> BTreeMap<u32, Part> {
        let mut ranks = BTreeMap::<u32, Part>::new();
        let rows = self.report.accesses.ranks.iter();
        for ((rank, _), part) in rows.filter(|((_, w), _)| writes.is_none_or(|is| is == *w)) {
            ranks.entry(*rank).or_default().join(part);
        }
        ranks
    }

    fn one_rank(&self, writes: bool) -> Option<IoFinding> {
        let load = Load::of(&self.by_rank(Some(writes)), |part| part.bytes)?;
        let (most, all) = (load.most, load.all);
        let ranks = self.facts.ranks;
        if ranks < 2 || most.bytes < LARGE || most.bytes < all.bytes / 100 * NEARLY_ALL_PERCENT {
            return None;
        }
        let waits = self.facts.waited_for.get(&load.rank)?;
        let moving = if writes { waits.writes } else { waits.reads };
        let waited = moving.saturating_add(waits.others);
        if waited == 0 || waited < most.ns / WAITED_PART {
            return None;
        }
        let text = format!(
            "Rank {} {} {} of {} by itself in {}, and others of the {ranks} ranks wait for it, {} in all.",
            load.rank,
            if writes { "writes" } else { "reads" },
            bytes(most.bytes),
            bytes(all.bytes),
            time(most.ns),
            time(waited)
        );
        let name = if writes {
            "one_rank_writes"
        } else {
            "one_rank_reads"
        };
        let finding = IoFinding::new(name, Sureness::Sure, waited, text);
        Some(finding.with(&[
            ("rank", u64::from(load.rank)),
            ("bytes", most.bytes),
            ("of_bytes", all.bytes),
            ("io_ns", most.ns),
        ]))
    }

    fn unequal(&self, writes: bool) -> Option<IoFinding> {
        let load = Load::of(&self.by_rank(Some(writes)), |part| part.bytes)?;
        let ranks = self.facts.ranks.max(1);
        let mean = load.all.bytes / ranks;
        let is_unequal = load.most.bytes >= mean.saturating_mul(UNEQUAL_PERCENT) / 100;
        let extra = load.most.ns.saturating_sub(load.all.ns / ranks);
        let span = self.report.span.map_or(0, |(a, b)| b.abs_diff(a));
        if ranks < 2 || !is_unequal || load.all.bytes < LARGE || extra < span / SPAN_PART {
            return None;
        }
        let text = format!(
            "Rank {} {} {}, {:.1} times the mean of the ranks, and takes {} longer than the mean.",
            load.rank,
            if writes { "writes" } else { "reads" },
            bytes(load.most.bytes),
            load.most.bytes as f64 / mean.max(1) as f64,
            time(extra)
        );
        let name = if writes {
            "unequal_writes"
        } else {
            "unequal_reads"
        };
        let finding = IoFinding::new(name, Sureness::Likely, extra, text);
        Some(finding.with(&[
            ("rank", u64::from(load.rank)),
            ("bytes", load.most.bytes),
            ("mean_bytes", mean),
        ]))
    }

    /// A rank whose I/O takes long although it has no more to do than others. What it waits for others is not its own.
    fn slow_rank(&self) -> Option<IoFinding> {
        let mut parts = self.by_rank(None);
        for (rank, RankWaits { waits, .. }) in &self.report.collectives.ranks {
            if let Some(part) = parts.get_mut(rank) {
                part.ns = part
                    .ns
                    .saturating_sub(waits.all().saturating_sub(waits.own));
            }
        }
        let load = Load::of(&parts, |part| part.ns)?;
        let ranks = self.facts.ranks;
        if ranks < 3 {
            return None;
        }
        let (mean, mean_bytes) = (load.all.ns / ranks, load.all.bytes / ranks);
        let extra = load.most.ns.saturating_sub(mean);
        let span = self.report.span.map_or(0, |(a, b)| b.abs_diff(a));
        let is_slow = load.most.ns >= mean.saturating_mul(SLOW) && extra >= span / SPAN_PART;
        if !is_slow || load.most.bytes > mean_bytes.saturating_add(mean_bytes / 4) {
            return None;
        }
        let text = format!(
            "Rank {} takes {} for its I/O, {:.1} times the mean, with no more bytes than others: its host, its server or its disk.",
            load.rank,
            time(load.most.ns),
            load.most.ns as f64 / mean.max(1) as f64
        );
        let finding = IoFinding::new("slow_rank", Sureness::Possible, extra, text);
        Some(finding.with(&[("rank", u64::from(load.rank))]))
    }

    fn overlaps(&self) -> Vec<IoFinding> {
        let mut found = Vec::new();
        let collectives = &self.report.collectives;
        if collectives.overwriting > 0 {
            let text = format!(
                "In {} of {} ranks wrote the same bytes: which of them the file has then is not defined, unless the file is in atomic mode.",
                collectives.overwriting,
                counted(collectives.all_groups, "collective access")
            );
            let finding = IoFinding::new("overwriting", Sureness::Sure, 0, text);
            found.push(finding.with(&[
                ("groups", collectives.overwriting),
                ("of", collectives.all_groups),
            ]));
        }
        let mut shared = Part::default();
        let mut is_simultaneous = false;
        let files = self.report.accesses.sharing.iter();
        for (_, sharing) in files.filter(|((_, writes), _)| *writes) {
            shared.join(&sharing.shared);
            is_simultaneous |= sharing.is_simultaneous;
        }
        if shared.calls > 0 {
            let order = match is_simultaneous {
                true => "Which of them the file has then depends on the order.",
                false => {
                    "No two of them were at the same time, so in this run the file has what was written last. Where no calls between them order the \
                     ranks, another run may have the other; MPI guarantees the order only with MPI_File_sync by both ranks, or in atomic mode."
                }
            };
            let text = format!(
                "Ranks write the same bytes, each by itself: {} of {} in {}. {order}",
                bytes(shared.bytes),
                bytes(self.written_bytes()),
                counted(shared.calls, "access")
            );
            let finding = IoFinding::new("overlapping_writes", Sureness::Possible, shared.ns, text);
            found.push(finding.with(&[
                ("accesses", shared.calls),
                ("bytes", shared.bytes),
                ("at_the_same_time", u64::from(is_simultaneous)),
            ]));
        }
        found
    }

    /// Bytes that ranks wrote.
    fn written_bytes(&self) -> u64 {
        let ranks = self.report.accesses.ranks.iter();
        let written = ranks.filter(|((_, writes), _)| *writes);
        written
            .map(|(_, part)| part.bytes)
            .fold(0, u64::saturating_add)
    }

    /// One aggregator for all hosts. On one host there is nothing to choose.
    fn aggregators(&self) -> Option<IoFinding> {
        let collectives = &self.report.collectives;
        let (one, groups) = (collectives.with_one_worker, collectives.groups);
        if self.is_on_one_host() || one == 0 || one * 2 < groups {
            return None;
        }
        let others = |waits: &Waits| waits.others;
        let ns = collectives.sum(others);
        let text = format!(
            "In {one} of {} of {} one rank did all operations, and the others waited for it: one aggregator for all hosts.",
            counted(groups, "collective access"),
            counted(collectives.ranks.len() as u64, "rank")
        );
        let finding = IoFinding::new("one_aggregator", Sureness::Possible, ns, text);
        Some(finding.with(&[
            ("groups", one),
            ("of", groups),
            ("ranks", collectives.ranks.len() as u64),
        ]))
    }
}
