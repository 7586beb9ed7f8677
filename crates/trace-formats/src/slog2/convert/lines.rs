//! Lines and the views that name them (`spec/slog2.md` section 7.2).

use super::super::types::LineIdMap;
use super::super::views::process_and_comm_views;
use super::warnings::{Warning, Warnings};
use crate::clog2::{Clog2CommEvent, Clog2RecordHeader, Preamble};
use trace_model::hash::Map as HashMap;

/// How lines are numbered, and which world rank each process line belongs to.
#[derive(Debug)]
pub(in crate::slog2) struct LineNumbering {
    /// Ranks of the largest MPI_COMM_WORLD.
    ranks: i32,
    /// Threads per rank.
    threads: i32,
    processes: HashMap<i32, CommRank>,
}

/// A rank in a communicator, as a COMM record announces it.
#[derive(Clone, Copy, Debug)]
struct CommRank {
    world_rank: i32,
    comm: i32,
    rank: i32,
}

/// Communicator, rank and thread of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineOwner {
    pub world_rank: i32,
    pub comm: i32,
    /// Rank in the communicator.
    pub rank: i32,
    pub thread: i32,
    /// Whether a COMM record tells so.
    pub is_announced: bool,
}

impl LineNumbering {
    pub(in crate::slog2) fn new(preamble: &Preamble) -> Self {
        // The original computes with 32-bit numbers that wrap; a damaged preamble must not make a division fail here.
        LineNumbering {
            ranks: (preamble.max_comm_world_size as i32).max(1),
            threads: (preamble.max_thread_count as i32).max(1),
            processes: HashMap::default(),
        }
    }

    /// The line of a record, which its vertex gets.
    #[inline]
    pub(in crate::slog2) fn line(&self, header: &Clog2RecordHeader) -> i32 {
        self.process(header.icomm, header.rank)
            .wrapping_mul(self.threads)
            .wrapping_add(header.thread)
    }

    /// The process line of a rank in a communicator, by which messages are matched.
    #[inline]
    pub(super) fn process(&self, comm: i32, rank: i32) -> i32 {
        comm.wrapping_mul(self.ranks).wrapping_add(rank)
    }

    /// Takes a COMM record.
    ///
    /// The first one of a line counts, as in the converter of 2015 (that of 2009 forgets then that the line is in use).
    /// The bodies of freed, null and remote communicators have a negative rank: they are about no line at all.
    pub(super) fn announce(&mut self, event: &Clog2CommEvent) {
        if event.rank < 0 {
            return;
        }
        let process = self.process(event.icomm, event.rank);
        self.processes.entry(process).or_insert(CommRank {
            world_rank: event.wrank,
            comm: event.icomm,
            rank: event.rank,
        });
    }

    /// What a line is about; as its number alone tells, if no COMM record announces it.
    pub(super) fn place(&self, line: i32) -> LineOwner {
        let process = line.div_euclid(self.threads);
        let thread = line.rem_euclid(self.threads);
        let found = self.processes.get(&process).copied();
        let CommRank {
            world_rank,
            comm,
            rank,
        } = found.unwrap_or_else(|| {
            let rank = process.rem_euclid(self.ranks);
            CommRank {
                world_rank: rank,
                comm: process.div_euclid(self.ranks),
                rank,
            }
        });
        LineOwner {
            world_rank,
            comm,
            rank,
            thread,
            is_announced: found.is_some(),
        }
    }

    /// The process and the communicator view of these lines, which are ascending.
    pub(super) fn views(&self, lines: &[i32], warnings: &mut Warnings) -> [LineIdMap; 2] {
        let threads = self.threads > 1;
        let (mut processes, mut comms) = process_and_comm_views(threads);
        for &line in lines {
            let LineOwner {
                world_rank,
                comm,
                rank,
                thread,
                is_announced,
            } = self.place(line);
            if !is_announced {
                warnings.add(Warning::UnannouncedLine { line });
            }
            if threads {
                processes.push(line, &[world_rank, thread]);
                comms.push(line, &[comm, rank, thread]);
            } else {
                processes.push(line, &[world_rank]);
                comms.push(line, &[comm, rank]);
            }
        }
        [processes, comms]
    }
}
