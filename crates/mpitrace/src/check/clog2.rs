//! CLOG2: blocks, records, order of time, communicators, states that close, messages whose halves match.

use super::findings::CheckFindings;
use crate::terminal::progress::TaskProgress;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use trace_formats::clog2::{
    Clog2Body, Clog2CommEvent, Clog2CommKind, Clog2ErrorKind, Clog2Reader, Clog2Record, CommTable,
    ENDLOG_TIME, PREAMBLE_SIZE, Preamble, UNKNOWN_LID, comm_etype, msg_etype,
};

/// Records between two looks at the clock.
const RECORDS_BETWEEN_PROGRESS: usize = 1 << 12;

pub fn check(bytes: &[u8], findings: &mut CheckFindings) {
    let reader = match Clog2Reader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return findings.unreadable(error),
    };
    let preamble = reader.preamble();
    if !preamble.is_finalized {
        let what =
            "a file of one rank, or of a run that did not come to its end: is_finalzed is FALSE";
        findings.warning("not finished", 0, what);
    }
    let table = match reader.comm_table() {
        Ok(table) => Some(table),
        Err(error)
            if matches!(error.kind, Clog2ErrorKind::NoCommTable) && !preamble.is_finalized =>
        {
            None
        }
        Err(error) => {
            findings.unreadable(error);
            None
        }
    };
    let mut end = None;
    let mut numbers = EventNumbers::new(preamble);
    for item in reader.raw_records() {
        match item {
            Ok((offset, record)) => {
                numbers.learn(&record, offset, findings);
                if record.body == Clog2Body::EndLog {
                    end = Some(offset);
                }
            }
            // Said in the second pass.
            Err(_) => break,
        }
    }
    if let (Some(table), Some(end)) = (&table, end) {
        places(bytes, preamble, table, end, findings);
    }
    let mut state = CheckedLog {
        preamble,
        lids: table.as_ref().map(lids),
        numbers,
        open: HashMap::new(),
        messages: HashMap::new(),
        unequal: HashMap::new(),
        unequal_messages: 0,
        lines: HashSet::new(),
        last_time: f64::NEG_INFINITY,
        findings,
    };
    let progress = TaskProgress::bytes("checking", bytes.len() as u64, state.findings.quiet);
    for (nth, item) in reader.raw_records().enumerate() {
        match item {
            Ok((offset, record)) => {
                state.record(offset, &record);
                if nth % RECORDS_BETWEEN_PROGRESS == 0 {
                    progress.at(offset);
                }
            }
            Err(error) => state.findings.unreadable(error),
        }
    }
    state.finish();
    if let Some(table) = table {
        communicators(&table, preamble.comm_table_offset, findings);
    }
}

/// Checks that blocks and table fill the file.
fn places(
    bytes: &[u8],
    preamble: &Preamble,
    table: &CommTable,
    end: u64,
    findings: &mut CheckFindings,
) {
    let (start, block) = (PREAMBLE_SIZE as u64, u64::from(preamble.block_size));
    let offset = preamble.comm_table_offset;
    if offset < start || !(offset - start).is_multiple_of(block) {
        let what = format!(
            "communicator table at byte {offset}, expected behind whole blocks of {block} bytes"
        );
        findings.error("place of the communicator table", offset, what);
    } else if end + block < offset {
        let blocks = (offset - end) / block;
        let what = format!("{blocks} blocks behind the end of the log at byte {end}");
        findings.warning("blocks behind the end", end, what);
    }
    let last = offset + table.encoded_size() as u64;
    if last < bytes.len() as u64 {
        let left = bytes.len() as u64 - last;
        findings.warning(
            "bytes left over",
            last,
            format!("{left} bytes behind the communicator table"),
        );
    }
}

/// The LIDs of a table, from which records may choose.
fn lids(table: &CommTable) -> HashSet<i32> {
    let indices = (0..).take(table.0.len());
    let own = table.0.iter().map(|entry| entry.lid);
    own.chain(indices).collect()
}

fn communicators(table: &CommTable, offset: u64, findings: &mut CheckFindings) {
    let mut first: HashMap<[u8; 32], i32> = HashMap::new();
    for (nth, entry) in (0i32..).zip(&table.0) {
        let place = format!("byte {offset}, communicator {nth}");
        let expected = *first.entry(entry.gid.0).or_insert(nth);
        if entry.lid != expected {
            let what = format!(
                "LID {}, expected {expected}, the first entry with its GID",
                entry.lid
            );
            findings.error_at("LID of a communicator", &place, what);
        }
        if entry.kind == Clog2CommKind::Inter {
            let sides = [nth + 1, nth + 2].map(|nth| table.get(nth).map(|entry| entry.kind));
            if sides != [Some(Clog2CommKind::Local), Some(Clog2CommKind::Remote)] {
                let what = "an intercommunicator without its local and remote side behind it";
                findings.error_at("sides of an intercommunicator", &place, what);
            }
        }
    }
    if table.0.is_empty() {
        findings.error(
            "communicator table",
            offset,
            "no entries, expected MPI_COMM_WORLD",
        );
    }
}

/// Meaning of an event number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventMeaning {
    /// Of the state with this start event.
    Start(i32),
    End(i32),
    Solo,
}

struct EventNumbers {
    defined: HashMap<i32, EventMeaning>,
    /// First number and numbers, of states two each.
    states: [(i32, i32); 2],
    solo: [(i32, i32); 2],
    names: BTreeMap<i32, String>,
}

impl EventNumbers {
    fn new(preamble: &Preamble) -> Self {
        EventNumbers {
            defined: HashMap::new(),
            states: [
                (preamble.known_event_id_start, preamble.known_state_id_count),
                (preamble.user_event_id_start, preamble.user_state_id_count),
            ],
            solo: [
                (
                    preamble.known_solo_event_id_start,
                    preamble.known_solo_event_id_count,
                ),
                (
                    preamble.user_solo_event_id_start,
                    preamble.user_solo_event_id_count,
                ),
            ],
            names: BTreeMap::new(),
        }
    }

    /// Takes a definition.
    fn learn(&mut self, record: &Clog2Record, offset: u64, findings: &mut CheckFindings) {
        match record.body {
            Clog2Body::StateDef(def) => {
                if def.start_etype == def.final_etype {
                    let what = format!(
                        "state {:?} starts and ends with event {}",
                        def.name, def.start_etype
                    );
                    findings.error("definition of a state", offset, what);
                    return;
                }
                let start = EventMeaning::Start(def.start_etype);
                let end = EventMeaning::End(def.start_etype);
                for (etype, meaning) in [(def.start_etype, start), (def.final_etype, end)] {
                    let before = self.defined.insert(etype, meaning);
                    if before.is_some_and(|before| before != meaning) {
                        let what = format!(
                            "event {etype} belongs to two states, one of them {:?}",
                            def.name
                        );
                        findings.error("definition of a state", offset, what);
                    }
                }
                self.names
                    .insert(def.start_etype, def.name.to_str().into_owned());
            }
            Clog2Body::EventDef(def) => {
                self.defined.entry(def.etype).or_insert(EventMeaning::Solo);
            }
            _ => {}
        }
    }

    fn meaning(&self, etype: i32) -> Option<EventMeaning> {
        if let Some(&meaning) = self.defined.get(&etype) {
            return Some(meaning);
        }
        for (start, count) in self.states {
            let at = i64::from(etype) - i64::from(start);
            if (0..2 * i64::from(count)).contains(&at) {
                return Some(match at % 2 {
                    0 => EventMeaning::Start(etype),
                    _ => EventMeaning::End(etype - 1),
                });
            }
        }
        let is_solo = |&(start, count): &(i32, i32)| {
            (0..i64::from(count)).contains(&(i64::from(etype) - i64::from(start)))
        };
        self.solo.iter().any(is_solo).then_some(EventMeaning::Solo)
    }

    fn name(&self, state: i32) -> String {
        match self.names.get(&state) {
            Some(name) => format!("{name:?}"),
            None => format!("with start event {state}"),
        }
    }
}

/// LID, rank and thread.
type LineKey = (i32, i32, i32);
/// LID and rank of sender and receiver, and the tag.
type MessageChannel = ((i32, i32), (i32, i32), i32);

/// One end of a message whose other end is still to come.
struct MessageEndpoint {
    offset: u64,
    is_send: bool,
    size: i32,
}

/// A message that was received with another size than it was sent with: the places of both ends, the later one first, and the bytes.
#[derive(Clone, Copy)]
struct UnequalEnds {
    offset: u64,
    other: u64,
    sent: i32,
    received: i32,
}

/// Open states and message endpoints that are remembered at a time; damaged files have no end of them.
const MAX_OPEN_RECORDS: usize = 1 << 19;

struct CheckedLog<'p, 'f> {
    preamble: &'p Preamble,
    lids: Option<HashSet<i32>>,
    numbers: EventNumbers,
    open: HashMap<(i32, LineKey), VecDeque<u64>>,
    messages: HashMap<MessageChannel, VecDeque<MessageEndpoint>>,
    /// Messages whose ends have different sizes, and how many there are.
    unequal: HashMap<MessageChannel, Vec<UnequalEnds>>,
    unequal_messages: usize,
    /// Lines that COMM records announced, without threads.
    lines: HashSet<(i32, i32)>,
    last_time: f64,
    findings: &'f mut CheckFindings,
}

impl CheckedLog<'_, '_> {
    fn record(&mut self, offset: u64, record: &Clog2Record) {
        let header = &record.header;
        if matches!(record.body, Clog2Body::EndBlock | Clog2Body::EndLog) {
            if record.body == Clog2Body::EndLog && header.time < self.last_time {
                let what = format!(
                    "ENDLOG at {}, before the last record; MPE stamps it {ENDLOG_TIME}",
                    header.time
                );
                self.findings.warning("order of time", offset, what);
            }
            return;
        }
        if !header.time.is_finite() {
            self.findings
                .error("time", offset, format!("time {}", header.time));
        } else if header.time < self.last_time && !self.is_definition(&record.body) {
            let (time, last) = (header.time, self.last_time);
            let what = format!("time {time} after {last}");
            // Merged logs are sorted; those of one rank are as the clock went.
            self.findings.warning("order of time", offset, what);
        }
        if !self.is_definition(&record.body) {
            self.last_time = self.last_time.max(header.time);
        }
        let threads = self.preamble.max_thread_count.max(1);
        if !u32::try_from(header.thread).is_ok_and(|thread| thread < threads) {
            let what = format!("thread {}, expected 0 to {}", header.thread, threads - 1);
            self.findings.error("thread", offset, what);
        }
        self.comm(offset, header.icomm, "icomm");
        let line = (header.icomm, header.rank, header.thread);
        match record.body {
            Clog2Body::Bare { etype } | Clog2Body::Cargo { etype, .. } => {
                self.event(offset, etype, line)
            }
            Clog2Body::Msg(msg) => {
                // In the file of one rank the partner's communicator is not known yet.
                if self.preamble.is_finalized || msg.icomm != UNKNOWN_LID {
                    self.comm(offset, msg.icomm, "partner's icomm");
                }
                self.rank(offset, msg.rank, "partner's rank");
                let (own, other) = ((header.icomm, header.rank), (msg.icomm, msg.rank));
                let is_send = msg.etype == msg_etype::SEND;
                if !is_send && msg.etype != msg_etype::RECV {
                    let what = format!("message event {}, expected -101 or -102", msg.etype);
                    return self.findings.error("kind of message", offset, what);
                }
                if msg.size < 0 {
                    self.findings
                        .error("size of a message", offset, format!("{} bytes", msg.size));
                }
                let channel = match is_send {
                    true => (own, other, msg.tag),
                    false => (other, own, msg.tag),
                };
                self.message(offset, channel, is_send, msg.size);
            }
            Clog2Body::Comm(event) => self.comm_event(offset, &event),
            _ => {}
        }
        self.rank(offset, header.rank, "rank");
    }

    fn is_definition(&self, body: &Clog2Body) -> bool {
        matches!(
            body,
            Clog2Body::StateDef(_)
                | Clog2Body::EventDef(_)
                | Clog2Body::ConstDef(_)
                | Clog2Body::SrcLoc { .. }
        )
    }

    fn comm(&mut self, offset: u64, lid: i32, what: &str) {
        // In the file of one rank numbers are indices of a table that it does not have yet.
        if self.lids.as_ref().is_some_and(|lids| !lids.contains(&lid)) {
            let what = format!("{what} {lid} is not in the communicator table");
            self.findings.error("unknown communicator", offset, what);
        }
    }

    fn rank(&mut self, offset: u64, rank: i32, what: &str) {
        let ranks = self.preamble.max_comm_world_size;
        if self.preamble.is_finalized && u32::try_from(rank).is_ok_and(|rank| rank >= ranks)
            || rank < 0
        {
            let what = format!("{what} {rank}, expected 0 to {}", i64::from(ranks) - 1);
            self.findings.error("rank", offset, what);
        }
    }

    fn comm_event(&mut self, offset: u64, event: &Clog2CommEvent) {
        use comm_etype::{
            FREE, INTER_CREATE, INTRA_CREATE, INTRA_LOCAL, INTRA_REMOTE, SELF_CREATE, WORLD_CREATE,
        };
        let known = [
            WORLD_CREATE,
            SELF_CREATE,
            FREE,
            INTRA_CREATE,
            INTRA_LOCAL,
            INTRA_REMOTE,
            INTER_CREATE,
        ];
        if !known.contains(&event.etype) {
            let what = format!(
                "communicator event {}, expected one of {known:?}",
                event.etype
            );
            return self
                .findings
                .error("kind of communicator event", offset, what);
        }
        if event.rank < 0 {
            return;
        }
        self.comm(offset, event.icomm, "communicator");
        self.rank(offset, event.wrank, "world rank");
        self.lines.insert((event.icomm, event.rank));
    }

    fn event(&mut self, offset: u64, etype: i32, line: LineKey) {
        if !self.lines.contains(&(line.0, line.1)) {
            let what = format!(
                "an event of rank {} of communicator {}, which no COMM record has announced",
                line.1, line.0
            );
            self.findings
                .error("line without announcement", offset, what);
        }
        match self.numbers.meaning(etype) {
            None => {
                let what =
                    format!("event {etype} is neither described nor in the ranges of the preamble");
                self.findings.error("unknown event", offset, what);
            }
            Some(EventMeaning::Solo) => {}
            Some(EventMeaning::Start(_)) if self.open.len() > MAX_OPEN_RECORDS => {
                let what = "too many open states to tell whether they close";
                self.findings.warning("not checked", offset, what);
            }
            Some(EventMeaning::Start(state)) => {
                self.open
                    .entry((state, line))
                    .or_default()
                    .push_back(offset);
            }
            Some(EventMeaning::End(state)) => {
                let open = self.open.get_mut(&(state, line));
                if open.and_then(VecDeque::pop_front).is_none() {
                    let name = self.numbers.name(state);
                    let what = format!("the end of state {name} without a start on its line");
                    self.findings.error("end without a start", offset, what);
                }
            }
        }
    }

    /// Pairs the message endpoints as the converter does: the first with the same tag and ends.
    fn message(&mut self, offset: u64, channel: MessageChannel, is_send: bool, size: i32) {
        if self.messages.len() > MAX_OPEN_RECORDS {
            let what = "too many messages with one end to tell whether they match";
            return self.findings.warning("not checked", offset, what);
        }
        let waiting = self.messages.entry(channel).or_default();
        match waiting.front() {
            Some(half) if half.is_send != is_send => {
                let (sent, received) = match is_send {
                    true => (size, half.size),
                    false => (half.size, size),
                };
                if received != sent && self.unequal_messages >= MAX_OPEN_RECORDS {
                    let what = "too many messages with ends of different sizes to compare them";
                    self.findings.warning("not checked", offset, what);
                } else if received != sent {
                    self.unequal_messages += 1;
                    let pair = UnequalEnds {
                        offset,
                        other: half.offset,
                        sent,
                        received,
                    };
                    self.unequal.entry(channel).or_default().push(pair);
                }
                waiting.pop_front();
                if waiting.is_empty() {
                    self.messages.remove(&channel);
                }
            }
            _ => waiting.push_back(MessageEndpoint {
                offset,
                is_send,
                size,
            }),
        }
    }

    /// Tells of receives that are larger than what was sent. Receives may be completed in another order than that of the messages (MPI_Waitany),
    /// so on a channel all of them together are compared.
    fn unequal_ends(&mut self) {
        let mut wrong: Vec<UnequalEnds> = Vec::new();
        for pairs in self.unequal.values() {
            let sorted = |size: fn(&UnequalEnds) -> i32| {
                let mut sizes: Vec<i32> = pairs.iter().map(size).collect();
                sizes.sort_unstable();
                sizes
            };
            let (sent, received) = (sorted(|pair| pair.sent), sorted(|pair| pair.received));
            if sent
                .iter()
                .zip(&received)
                .any(|(sent, received)| received > sent)
            {
                wrong.extend(
                    pairs
                        .iter()
                        .filter(|pair| pair.received > pair.sent)
                        .copied(),
                );
            }
        }
        wrong.sort_unstable_by_key(|pair| pair.offset);
        for pair in wrong {
            let what = format!(
                "{} bytes received of a message of {}, sent or received at byte {}",
                pair.received, pair.sent, pair.other
            );
            self.findings
                .warning("size of a message", pair.offset, what);
        }
    }

    fn finish(&mut self) {
        self.unequal_ends();
        let mut open: Vec<(u64, i32)> = Vec::new();
        for ((state, _), offsets) in &self.open {
            open.extend(offsets.iter().map(|&offset| (offset, *state)));
        }
        open.sort_unstable();
        for (offset, state) in open {
            let what = format!(
                "the start of state {}, which never ends",
                self.numbers.name(state)
            );
            match self.preamble.is_finalized {
                true => self.findings.error("start without an end", offset, what),
                false => self.findings.warning("start without an end", offset, what),
            }
        }
        let mut halves: Vec<(u64, bool, MessageChannel)> = Vec::new();
        for (&channel, waiting) in &self.messages {
            halves.extend(
                waiting
                    .iter()
                    .map(|half| (half.offset, half.is_send, channel)),
            );
        }
        halves.sort_unstable_by_key(|(offset, ..)| *offset);
        // In the file of one rank the other halves are in other files.
        if !self.preamble.is_finalized {
            return;
        }
        for (offset, is_send, (from, to, tag)) in halves {
            let (this, other, partner) = match is_send {
                true => ("send", "receive", to),
                false => ("receive", "send", from),
            };
            // A process of another MPI_COMM_WORLD, whose log has the other half.
            if !self.lines.is_empty() && !self.lines.contains(&partner) {
                continue;
            }
            let what = format!(
                "the {this} of a message with tag {tag} from rank {} to rank {} without its {other}",
                from.1, to.1
            );
            self.findings.warning("message with one end", offset, what);
        }
    }
}
