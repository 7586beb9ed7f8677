//! Messages that arrive before they were sent: what is left of clocks that no comparison could make one. They are corrected
//! forward, by a controlled logical clock (Rabenseifner 1997; Becker, Rabenseifner, Wolf 2009): a receive is put behind its send,
//! and what follows it in its process keeps nearly its distances, so that the process comes back to its own clock by and by.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::{Seek, Write};

use trace_formats::clog2::{
    Clog2Body, Clog2Error, Clog2Reader, Clog2Record, Clog2Writer, comm_etype, msg_etype,
};

/// Least time that a message is given, seconds.
const LATENCY: f64 = 1e-9;
/// Of the distance between two records of a process that is ahead of its clock, the part that it keeps.
const PACE: f64 = 0.99;

/// Counts of messages and of the shifts made.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Forward {
    /// Messages of which both endpoints are there.
    pub messages: u64,
    /// Number of messages that arrived before they were sent.
    pub violations: u64,
    /// Largest such time, seconds.
    pub largest: f64,
    /// Records whose time was changed.
    pub moved: u64,
    /// Most that one was moved, seconds.
    pub farthest: f64,
    /// Messages whose order contradicts itself: each waits for the other. They are left as they are.
    pub knots: u64,
}

/// Sender's communicator and rank, the receiver's, tag.
type MessageChannel = ([i32; 2], [i32; 2], i32);

/// The records of a file with their corrected times. Takes memory by the number of records.
#[derive(Debug)]
pub struct Forwarded {
    records: Vec<Clog2Record>,
    times: Vec<f64>,
    /// Counts of messages and of the shifts made.
    pub result: Forward,
}

impl Forwarded {
    /// Reads all records and corrects their times.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn new(reader: &Clog2Reader<'_>) -> Result<Forwarded, Clog2Error> {
        let mut records = Vec::new();
        for record in reader.records() {
            let record = record?;
            if !matches!(record.body, Clog2Body::EndBlock | Clog2Body::EndLog) {
                records.push(record);
            }
        }
        Ok(Forwarded::of(records))
    }

    fn of(records: Vec<Clog2Record>) -> Forwarded {
        let processes = processes(&records);
        let sends = partners(&records);
        let mut forwarded = Forwarded {
            times: records.iter().map(|record| record.header.time).collect(),
            records,
            result: Forward::default(),
        };
        for (&receive, &send) in &sends {
            let late = forwarded.times[send] - forwarded.times[receive];
            forwarded.result.messages += 1;
            if late >= 0.0 {
                forwarded.result.violations += 1;
                forwarded.result.largest = forwarded.result.largest.max(late);
            }
        }
        if forwarded.result.violations > 0 {
            forwarded.correct(&processes, &sends);
        }
        forwarded
    }

    /// Gives each record its time: in each process one after the other, a receive when its send has its own.
    fn correct(&mut self, processes: &[Vec<usize>], sends: &HashMap<usize, usize>) {
        let mut done = vec![false; self.records.len()];
        let mut next = vec![0; processes.len()];
        let mut before = vec![None::<(f64, f64)>; processes.len()];
        // Processes that can go on; those that wait stand with the send that they wait for.
        let mut ready: VecDeque<usize> = (0..processes.len()).collect();
        let mut waiting: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        loop {
            let Some(process) = ready.pop_front() else {
                // All wait for each other: the first one goes on as if its send had not been.
                let Some((_, stuck)) = waiting.pop_first() else {
                    return;
                };
                self.result.knots += 1;
                for process in stuck {
                    self.step(processes, process, &mut next, &mut before, &mut done, None);
                    ready.push_back(process);
                }
                continue;
            };
            while let Some(&record) = processes[process].get(next[process]) {
                let send = sends.get(&record).copied();
                if let Some(send) = send.filter(|&send| !done[send]) {
                    waiting.entry(send).or_default().push(process);
                    break;
                }
                let earliest = send.map(|send| self.times[send] + LATENCY);
                self.step(
                    processes,
                    process,
                    &mut next,
                    &mut before,
                    &mut done,
                    earliest,
                );
                if let Some(woken) = waiting.remove(&record) {
                    ready.extend(woken);
                }
            }
        }
    }

    /// The next record of a process gets its time.
    fn step(
        &mut self,
        processes: &[Vec<usize>],
        process: usize,
        next: &mut [usize],
        before: &mut [Option<(f64, f64)>],
        done: &mut [bool],
        earliest: Option<f64>,
    ) {
        let record = processes[process][next[process]];
        let own = self.records[record].header.time;
        let paced = before[process].map(|(was, became)| became + PACE * (own - was).max(0.0));
        let time = own.max(paced.unwrap_or(own)).max(earliest.unwrap_or(own));
        if time > own {
            self.result.moved += 1;
            self.result.farthest = self.result.farthest.max(time - own);
        }
        self.times[record] = time;
        before[process] = Some((own, time));
        done[record] = true;
        next[process] += 1;
    }

    /// Writes the records in the order of their times. `writer` was begun with the file's preamble.
    ///
    /// # Errors
    /// The errors of the output.
    pub fn write<W: Write + Seek>(
        &self,
        reader: &Clog2Reader<'_>,
        mut writer: Clog2Writer<W>,
    ) -> Result<W, Clog2Error> {
        let mut order: Vec<usize> = (0..self.records.len()).collect();
        order.sort_by(|&a, &b| self.times[a].total_cmp(&self.times[b]));
        for at in order {
            let mut record = self.records[at];
            record.header.time = self.times[at];
            writer.write(&record)?;
        }
        let table = reader.comm_table();
        let table = table.unwrap_or_else(|_| reader.comm_table_of_records());
        writer.finish(&table, reader.preamble())
    }
}

/// The records of each process in their order. Communicators say which world rank their ranks are.
fn processes(records: &[Clog2Record]) -> Vec<Vec<usize>> {
    let mut world: HashMap<[i32; 2], i32> = HashMap::new();
    for record in records {
        if let Clog2Body::Comm(event) = &record.body
            && event.etype != comm_etype::FREE
            && event.rank >= 0
        {
            world.insert([event.icomm, event.rank], event.wrank);
        }
    }
    let mut numbers: BTreeMap<(i32, i32), usize> = BTreeMap::new();
    let mut processes: Vec<Vec<usize>> = Vec::new();
    for (at, record) in records.iter().enumerate() {
        let (icomm, rank) = (record.header.icomm, record.header.rank);
        let process = match world.get(&[icomm, rank]) {
            Some(&wrank) => (-1, wrank),
            None => (icomm, rank),
        };
        let number = *numbers.entry(process).or_insert_with(|| {
            processes.push(Vec::new());
            processes.len() - 1
        });
        processes[number].push(at);
    }
    processes
}

/// The send of each receive: the n-th of a channel that of its n-th.
fn partners(records: &[Clog2Record]) -> HashMap<usize, usize> {
    let mut sends: HashMap<MessageChannel, VecDeque<usize>> = HashMap::new();
    let mut receives: HashMap<MessageChannel, VecDeque<usize>> = HashMap::new();
    let mut partners = HashMap::new();
    for (at, record) in records.iter().enumerate() {
        let Clog2Body::Msg(message) = &record.body else {
            continue;
        };
        let own = [record.header.icomm, record.header.rank];
        let other = [message.icomm, message.rank];
        let is_send = message.etype == msg_etype::SEND;
        let channel = match is_send {
            true => (own, other, message.tag),
            false => (other, own, message.tag),
        };
        let (mine, theirs) = match is_send {
            true => (&mut sends, &mut receives),
            false => (&mut receives, &mut sends),
        };
        match theirs.get_mut(&channel).and_then(VecDeque::pop_front) {
            Some(partner) if is_send => partners.insert(partner, at),
            Some(partner) => partners.insert(at, partner),
            None => {
                mine.entry(channel).or_default().push_back(at);
                None
            }
        };
    }
    partners
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace_formats::clog2::{Clog2Msg, Clog2RecordHeader};

    fn endpoint(time: f64, rank: i32, partner: i32, is_send: bool) -> Clog2Record {
        Clog2Record {
            header: Clog2RecordHeader {
                time,
                icomm: 0,
                rank,
                thread: 0,
            },
            body: Clog2Body::Msg(Clog2Msg {
                etype: if is_send {
                    msg_etype::SEND
                } else {
                    msg_etype::RECV
                },
                icomm: 0,
                rank: partner,
                tag: 1,
                size: 4,
            }),
        }
    }

    #[test]
    fn receives_come_behind_their_sends_and_processes_back_to_their_clocks() {
        // Rank 1's clock is 10 s behind. The file is in the order of its times.
        let mut records = vec![
            endpoint(1.0, 1, 0, false),
            endpoint(2.0, 1, 0, true),
            endpoint(10.5, 0, 1, true),
            endpoint(12.5, 0, 1, false),
            endpoint(1000.0, 1, 0, true),
            endpoint(2000.0, 1, 0, true),
        ];
        let before = records.clone();
        let forwarded = Forwarded::of(records.clone());
        let result = forwarded.result;
        assert_eq!((result.messages, result.violations), (2, 1));
        assert_eq!(result.largest, 9.5);
        let t = &forwarded.times;
        assert!(t[0] > 10.5 && t[0] < 10.6, "{t:?}");
        assert!(t[1] > t[0] + 0.9 && t[3] > t[1] && t[3] == 12.5, "{t:?}");
        // Ten seconds ahead are made up for after a thousand.
        assert!(t[4] < 1000.6 && t[5] == 2000.0, "{t:?}");
        assert!(
            forwarded
                .times
                .iter()
                .zip(&before)
                .all(|(t, r)| *t >= r.header.time)
        );
        // Nothing to correct, nothing changed.
        records[0].header.time = 11.0;
        records[1].header.time = 12.0;
        records.sort_by(|a, b| a.header.time.total_cmp(&b.header.time));
        assert_eq!(Forwarded::of(records).result.moved, 0);
    }

    #[test]
    fn a_knot_is_left_as_it_is() {
        // Each receives before it sends what the other waits for.
        let records = vec![
            endpoint(1.0, 0, 1, false),
            endpoint(1.5, 1, 0, false),
            endpoint(2.0, 0, 1, true),
            endpoint(2.5, 1, 0, true),
        ];
        let forwarded = Forwarded::of(records);
        assert_eq!(forwarded.result.violations, 2);
        assert!(forwarded.result.knots >= 1);
    }
}
