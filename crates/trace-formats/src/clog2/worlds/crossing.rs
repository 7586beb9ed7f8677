//! Communicators that reach from one world into another: found in each log, and recognised as the same one in two.
//!
//! Neither side can know by itself what the other calls it. But both make it by calls that wait for each other, so what is the
//! same was made at the same time, by calls that belong together, with as many processes on either side.

use super::marks::{RunOrigin, across_border, is_beyond, remote_of};
use crate::clog2::{Clog2Body, Clog2Error, Clog2Reader, Gid, comm_etype};
use std::collections::HashMap;

/// Largest difference of the clocks of one machine, as they are read in two logs, ns.
const DOUBT: f64 = 100e3;
/// Largest difference of the clocks of two machines that keep time by the network, ns.
const DOUBT_BETWEEN_MACHINES: f64 = 500e6;

/// A communicator that crosses the border of its world.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    /// Number of the world.
    pub world: usize,
    pub gid: Gid,
    pub is_inter: bool,
    /// Processes in its own world, and in others.
    sizes: [u32; 2],
    /// Start event of the call that made it.
    call: i32,
    /// When the last process had begun to make it and when the first was done, seconds.
    window: [f64; 2],
    /// When the first process began to make it, seconds.
    begun: f64,
}

/// Findings about one log.
#[derive(Debug, Default)]
pub(super) struct LogScan {
    pub origin: RunOrigin,
    /// Ranks of its MPI_COMM_WORLD.
    pub ranks: i32,
    pub crossings: Vec<Crossing>,
    /// LID of the local side by the LID of the remote side, of the intercommunicators with messages.
    pub sides: HashMap<i32, i32>,
    /// Names of states by their start events.
    names: HashMap<i32, String>,
    /// Start of the first call, seconds.
    first: f64,
    pub cut_off: Option<Clog2Error>,
}

impl LogScan {
    pub fn new(world: usize, reader: &Clog2Reader<'_>) -> LogScan {
        let table = reader
            .comm_table()
            .unwrap_or_else(|_| reader.comm_table_of_records());
        let beyond: HashMap<i32, ()> = table
            .0
            .iter()
            .filter(|entry| is_beyond(&entry.gid))
            .map(|entry| (entry.lid, ()))
            .collect();
        let mut scan = LogScan {
            first: f64::INFINITY,
            ..LogScan::default()
        };
        // Ranks in MPI_COMM_WORLD by communicator and rank in it.
        let mut world_ranks: HashMap<(i32, i32), i32> = HashMap::new();
        // Calls that have begun, by rank and thread.
        let mut open: HashMap<(i32, i32), (i32, f64)> = HashMap::new();
        let mut known: HashMap<Gid, usize> = HashMap::new();
        for record in reader.records() {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    scan.cut_off = Some(error);
                    break;
                }
            };
            let header = record.header;
            match record.body {
                Clog2Body::ConstDef(constant) => scan.origin.take(&constant),
                Clog2Body::StateDef(state) => {
                    let name = state.name.to_str().into_owned();
                    scan.names.insert(state.start_etype, name);
                }
                Clog2Body::Bare { etype } | Clog2Body::Cargo { etype, .. } if etype >= 0 => {
                    scan.first = scan.first.min(header.time);
                    if let Some(&rank) = world_ranks.get(&(header.icomm, header.rank)) {
                        // An end takes the place of its start; nothing is made between calls.
                        open.insert((rank, header.thread), (etype, header.time));
                    }
                }
                Clog2Body::Msg(message) if beyond.contains_key(&message.icomm) => {
                    scan.sides.insert(message.icomm, header.icomm);
                }
                Clog2Body::Comm(made) => {
                    scan.ranks = scan.ranks.max(made.wrank.saturating_add(1));
                    if made.rank >= 0 {
                        let place = (made.icomm, made.rank);
                        world_ranks.entry(place).or_insert(made.wrank);
                    }
                    let makes = [comm_etype::INTRA_CREATE, comm_etype::INTER_CREATE];
                    let (Some(sizes), true) =
                        (across_border(&made.gid), makes.contains(&made.etype))
                    else {
                        continue;
                    };
                    let (call, start) = open
                        .get(&(made.wrank, header.thread))
                        .copied()
                        .unwrap_or((-1, header.time));
                    let at = *known.entry(made.gid).or_insert_with(|| {
                        scan.crossings.push(Crossing {
                            world,
                            gid: made.gid,
                            is_inter: made.etype == comm_etype::INTER_CREATE,
                            sizes,
                            call,
                            window: [start, header.time],
                            begun: start,
                        });
                        scan.crossings.len() - 1
                    });
                    let crossing = &mut scan.crossings[at];
                    crossing.begun = crossing.begun.min(start);
                    let window = &mut crossing.window;
                    *window = [window[0].max(start), window[1].min(header.time)];
                }
                _ => {}
            }
        }
        scan
    }

    fn made_by(&self, crossing: &Crossing) -> &str {
        self.names.get(&crossing.call).map_or("", String::as_str)
    }

    /// The time in which the communicator was made. What is asked for with MPI_Comm_get_parent has been there since MPI_Init:
    /// the other world's call of MPI_Comm_spawn had begun when this world did, and ended after that. It need have begun on the
    /// root only, which starts the processes before the others have come.
    fn window(&self, crossing: &Crossing) -> [f64; 2] {
        match self.made_by(crossing) {
            "MPI_Comm_get_parent" => [self.first; 2],
            name if name.starts_with("MPI_Comm_spawn") => [crossing.begun, crossing.window[1]],
            _ => crossing.window,
        }
    }
}

/// Whether calls of these functions make one communicator together.
fn belong_together(a: &str, b: &str) -> bool {
    let (a, b) = if a < b { (a, b) } else { (b, a) };
    match (a, b) {
        ("MPI_Comm_accept", "MPI_Comm_connect") => true,
        ("MPI_Comm_get_parent", b) => b.starts_with("MPI_Comm_spawn"),
        ("MPI_Comm_accept" | "MPI_Comm_connect", _) => false,
        (a, _) if a.starts_with("MPI_Comm_spawn") => false,
        (a, b) => !a.is_empty() && a == b,
    }
}

/// Pairs of communicators that are the same one, each seen from its world. `shifts` are the seconds to be added to the times
/// of each log. What has several partners that it could be the same as has none.
pub(super) fn pairs(scans: &[LogScan], shifts: &[f64]) -> Vec<(Crossing, Crossing)> {
    let all: Vec<&Crossing> = scans.iter().flat_map(|scan| &scan.crossings).collect();
    let fits = |a: &Crossing, b: &Crossing| {
        let (of_a, of_b) = (&scans[a.world], &scans[b.world]);
        let doubt = match of_a.origin.boot == of_b.origin.boot {
            true => DOUBT / 1e9,
            false => DOUBT_BETWEEN_MACHINES / 1e9,
        };
        let [[a0, a1], [b0, b1]] = [(of_a, a), (of_b, b)].map(|(scan, crossing)| {
            let window = scan.window(crossing);
            window.map(|time| time + shifts[crossing.world])
        });
        a.world != b.world
            && a.is_inter == b.is_inter
            && a.sizes == [b.sizes[1], b.sizes[0]]
            && belong_together(of_a.made_by(a), of_b.made_by(b))
            && a0.max(b0) <= a1.min(b1) + doubt
    };
    let partners: Vec<Vec<usize>> = all
        .iter()
        .map(|a| (0..all.len()).filter(|&b| fits(a, all[b])).collect())
        .collect();
    let mut pairs = Vec::new();
    for (a, found) in partners.iter().enumerate() {
        if let [b] = found[..]
            && a < b
            && partners[b] == [a]
        {
            pairs.push((*all[a], *all[b]));
        }
    }
    pairs
}

/// The LIDs that a pair makes the same: of the first log, and of the second.
pub(super) fn same(
    (a, b): &(Crossing, Crossing),
    scans: &[LogScan],
    lid: impl Fn(usize, &Gid) -> Option<i32>,
) -> Vec<[(usize, i32); 2]> {
    if !a.is_inter {
        let lids = [a, b].map(|c| Some((c.world, lid(c.world, &c.gid)?)));
        return match lids {
            [Some(a), Some(b)] => vec![[a, b]],
            _ => Vec::new(),
        };
    }
    let mut same = Vec::new();
    for (here, there) in [(a, b), (b, a)] {
        // The remote group of one is the local one of the other.
        let remote = lid(here.world, &remote_of(&here.gid));
        let local = lid(there.world, &remote_of(&there.gid))
            .and_then(|other| scans[there.world].sides.get(&other).copied());
        if let (Some(remote), Some(local)) = (remote, local) {
            same.push([(there.world, local), (here.world, remote)]);
        }
    }
    same
}
