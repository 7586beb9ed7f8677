//! Where the events of a communicator are drawn: its numbers in the merged file (`spec/clog2.md` section 5.4).

use super::comms::{CommId, Comms};

/// Numbers of one communicator for the records of one process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommPlace {
    /// LID of events: of an intercommunicator, that of its local side.
    pub line: i32,
    /// Rank of this process in it.
    pub rank: i32,
    /// LID of the partners of messages: of an intercommunicator, that of its remote side.
    pub partner: i32,
    /// LID of the communicator itself.
    pub own: i32,
    /// Whether the communicator is drawn on MPI_COMM_WORLD, with ranks translated.
    pub folded: bool,
}

/// Places of all communicators of a process.
#[derive(Debug)]
pub struct CommPlaces {
    places: Vec<CommPlace>,
    /// LIDs of communicators with as many members as MPI_COMM_WORLD, sorted.
    full: Vec<i32>,
    folded: u64,
}

impl CommPlaces {
    /// `lids` as in the rank's table; lines are numbered for `ranks` ranks of `threads` threads.
    pub fn new(comms: &Comms, rank: i32, lids: &[i32], ranks: u32, threads: u32) -> CommPlaces {
        let lines = i64::from(ranks.max(1)) * i64::from(threads.max(1));
        let last = ((1 << 31) / lines - 1).max(0);
        let fits = |lid: i32, members: &[i32]| {
            (0..=last).contains(&lid.into()) && members.len() <= ranks.max(1) as usize
        };
        let mut lids = lids.iter().copied();
        let mut next = || lids.next().unwrap_or(-1);
        let mut places = CommPlaces {
            places: Vec::with_capacity(comms.all().len()),
            full: Vec::new(),
            folded: 0,
        };
        for comm in comms.all() {
            let own = next();
            let (line, partner) = match comm.sides {
                Some(_) => (next(), next()),
                None => (own, own),
            };
            let place = CommPlace {
                line,
                rank: comm.rank,
                partner,
                own,
                folded: false,
            };
            let remote = comm.partners();
            places.places.push(
                if fits(line, &comm.members) && fits(partner, remote) && comm.rank >= 0 {
                    place
                } else {
                    places.folded += 1;
                    CommPlace {
                        line: 0,
                        rank,
                        partner: 0,
                        own: 0,
                        folded: true,
                    }
                },
            );
            if !comm.is_inter() && comm.members.len() == ranks as usize {
                places.full.push(own);
            }
        }
        places.full.sort_unstable();
        places
    }

    /// Of a communicator.
    #[inline]
    pub fn get(&self, id: CommId) -> CommPlace {
        self.places.get(id.0 as usize).copied().unwrap_or_default()
    }

    /// Of MPI_COMM_WORLD.
    #[inline]
    pub fn world(&self) -> CommPlace {
        self.get(CommId::WORLD)
    }

    /// Number of communicators that are drawn on MPI_COMM_WORLD instead.
    pub fn folded(&self) -> u64 {
        self.folded
    }

    /// Whether a COMM record with this LID and rank −1 would be harmless. The converter takes its line for that of the last
    /// rank of the communicator numbered before, and forgets that this one was in use.
    pub fn may_announce_remote(&self, lid: i32) -> bool {
        self.full.binary_search(&lid.wrapping_sub(1)).is_err()
    }
}
