//! Findings: the parts of a report that deserve attention.

use super::kinds::{Doing, KindKey, OperationOwner};
use super::{AccessTotals, IoReport};

/// Accesses below this size are small.
pub const SMALL: u64 = 4096;

/// Fewer calls or transfers than this are not worth a word.
const FEW: u64 = 50;

/// Something that costs time and could perhaps be done in another way.
#[derive(Clone, Debug, PartialEq)]
pub enum IoFinding {
    /// Many calls ask for less than [`SMALL`] bytes.
    SmallCalls {
        /// Calls below that size.
        small: u64,
        /// All data accesses.
        calls: u64,
    },
    /// Many transfers move less than [`SMALL`] bytes.
    SmallTransfers {
        /// Transfers below that size.
        small: u64,
        /// All transfers.
        transfers: u64,
        /// Calls that asked for that.
        calls: u64,
    },
    /// Many bytes of sieving holes were moved: no call had asked for them.
    SievingHoles {
        /// Whether by writing calls.
        writes: bool,
        /// Bytes asked for.
        asked: u64,
        /// Bytes moved.
        moved: u64,
    },
    /// Writing calls read what they then wrote back.
    ReadModifyWrite {
        /// Writing calls that did so.
        calls: u64,
        /// All writing calls.
        of: u64,
        /// Bytes read for it.
        bytes: u64,
    },
    /// Locks take much of the time of the calls.
    Locks {
        /// Time in locks, ns.
        ns: u64,
        /// Time in all calls, ns.
        of: u64,
    },
    /// Waiting for the device takes long, compared with the accesses themselves.
    Sync {
        /// Time in waiting for the device, ns.
        ns: u64,
        /// Time in data accesses, ns.
        accesses: u64,
    },
    /// In collective accesses one rank did the work of all.
    OneWorker {
        /// Groups in which one rank did all the work.
        groups: u64,
        /// All groups.
        of: u64,
        /// Ranks that took part in collective accesses.
        ranks: u64,
    },
    /// Ranks wrote the same bytes in one collective access.
    Overwriting {
        /// Groups in which bytes were written more than once.
        groups: u64,
        /// All groups.
        of: u64,
    },
    /// Much of the time in collective accesses is spent waiting.
    CollectiveWait {
        /// Time in waiting for operations of other ranks, ns.
        others: u64,
        /// Time in waiting for ranks that had not come, ns.
        late: u64,
        /// Time in all collective accesses, ns.
        of: u64,
    },
    /// Most of the time in collective accesses no operation runs, though all ranks are there.
    Exchange {
        /// Time in which all ranks are there and no operation runs, ns.
        rest: u64,
        /// Time in all collective accesses, ns.
        of: u64,
    },
    /// Nonblocking calls that had done everything when they returned.
    NotDeferred {
        /// Name of the function.
        function: String,
        /// Number of such calls.
        calls: u64,
    },
    /// Data servers have unequal loads.
    Imbalance {
        /// Bytes of the busiest data server, divided by the mean.
        most: f64,
    },
    /// Operations failed, others than looking for names.
    Failed {
        /// Number of failed operations, by kind.
        operations: Vec<(KindKey, u64)>,
    },
    /// Writes moved less than they were asked to.
    ShortWrites {
        /// Number of such writes.
        operations: u64,
    },
}

impl IoReport {
    /// Findings that deserve attention, in the order of the report.
    pub fn findings(&self) -> Vec<IoFinding> {
        let mut found = Vec::new();
        let access = [&self.reads, &self.writes];
        let calls = self.reads.calls + self.writes.calls;
        let small: u64 = access.iter().map(|a| a.sizes.below(SMALL).count).sum();
        if small >= FEW && small * 5 >= calls {
            found.push(IoFinding::SmallCalls { small, calls });
        }
        let sizes = [&self.read_sizes, &self.write_sizes];
        let small: u64 = sizes.iter().map(|sizes| sizes.below(SMALL).count).sum();
        let transfers: u64 = sizes.iter().map(|sizes| sizes.all().count).sum();
        if small >= FEW && small * 5 >= transfers && transfers > 2 * calls {
            found.push(IoFinding::SmallTransfers {
                small,
                transfers,
                calls,
            });
        }
        found.extend(access.into_iter().filter_map(sieving_holes));
        if self.writes.modifying > 0 {
            found.push(IoFinding::ReadModifyWrite {
                calls: self.writes.modifying,
                of: self.writes.calls,
                bytes: self.writes.hole_bytes_read,
            });
        }
        let ns = self.reads.ns.saturating_add(self.writes.ns);
        let locks = self.reads.times.lock.saturating_add(self.writes.times.lock);
        if locks > 0 && locks >= ns / 10 {
            found.push(IoFinding::Locks { ns: locks, of: ns });
        }
        let sync = self
            .kinds
            .iter()
            .filter(|(key, _)| key.who == OperationOwner::Rank);
        let sync = sync.filter(|(key, _)| Doing::of(key.kind) == Doing::Sync);
        let sync: u64 = sync.map(|(_, row)| row.ns).sum();
        if sync > ns / 5 && sync > 0 {
            found.push(IoFinding::Sync {
                ns: sync,
                accesses: ns,
            });
        }
        self.in_collectives(&mut found);
        self.nonblocking(&mut found);
        if let Some(most) = self.below.imbalance().filter(|&most| most >= 1.25) {
            found.push(IoFinding::Imbalance { most });
        }
        // To open or remove what is not there is how libraries find out about it.
        let serious = |key: &KindKey| !matches!(key.doing(), Doing::Open | Doing::Other);
        let failed = self
            .kinds
            .iter()
            .filter(|(key, row)| row.failed > 0 && serious(key));
        let failed: Vec<_> = failed.map(|(&key, row)| (key, row.failed)).collect();
        if !failed.is_empty() {
            found.push(IoFinding::Failed { operations: failed });
        }
        let writes = self.kinds.iter().filter(|(key, _)| key.is_of_rank());
        let writes = writes.filter(|(key, _)| key.doing() == Doing::Write);
        let short = writes.map(|(_, row)| row.short).sum();
        if short > 0 {
            found.push(IoFinding::ShortWrites { operations: short });
        }
        found
    }

    fn in_collectives(&self, found: &mut Vec<IoFinding>) {
        let collectives = &self.collectives;
        let ranks = collectives.ranks.len() as u64;
        let (one, groups) = (collectives.with_one_worker, collectives.groups);
        if collectives.overwriting > 0 {
            found.push(IoFinding::Overwriting {
                groups: collectives.overwriting,
                of: collectives.all_groups,
            });
        }
        if one > 0 && one * 2 >= groups {
            found.push(IoFinding::OneWorker {
                groups: one,
                of: groups,
                ranks,
            });
        }
        let sum = |part: fn(&super::Waits) -> u64| {
            let parts = collectives.ranks.values().map(|rank| part(&rank.waits));
            parts.fold(0, u64::saturating_add)
        };
        let (others, late, of) = (sum(|w| w.others), sum(|w| w.late), sum(super::Waits::all));
        if of > 0 && others.saturating_add(late) >= of / 3 {
            found.push(IoFinding::CollectiveWait { others, late, of });
        }
        let rest = sum(|w| w.rest);
        if rest > of / 2 {
            found.push(IoFinding::Exchange { rest, of });
        }
    }

    fn nonblocking(&self, found: &mut Vec<IoFinding>) {
        for (name, access) in &self.functions {
            let begins = name.starts_with("MPI_File_i");
            let done = access.kinds.keys().any(|key| key.is_of_rank())
                && access.times.outstanding == 0
                && access.times.transfer > 0;
            if begins && done {
                found.push(IoFinding::NotDeferred {
                    function: name.clone(),
                    calls: access.calls,
                });
            }
        }
    }
}

fn sieving_holes(access: &AccessTotals) -> Option<IoFinding> {
    let sieving_holes = access
        .hole_bytes_read
        .saturating_add(access.hole_bytes_written);
    (sieving_holes > 0 && sieving_holes >= access.asked / 4).then(|| IoFinding::SievingHoles {
        writes: access.writes,
        asked: access.asked,
        moved: access.moved(),
    })
}
