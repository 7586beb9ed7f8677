//! Small CLOG2 logs of our own making.

use std::io::Cursor;

use trace_formats::clog2::{
    Clog2Body, Clog2CommEvent, Clog2EventDef, Clog2Msg, Clog2Record, Clog2RecordHeader,
    Clog2StateDef, Clog2Writer, CommTable, FixedText, Gid, Preamble, comm_etype, msg_etype,
};
/// A log in the making.
pub struct Log {
    pub preamble: Preamble,
    pub records: Vec<Clog2Record>,
}

impl Log {
    /// A log of this many ranks and threads, with their lines announced.
    pub fn new(ranks: i32, threads: u32) -> Self {
        let preamble = Preamble {
            max_comm_world_size: ranks as u32,
            max_thread_count: threads,
            user_state_id_count: 1,
            user_solo_event_id_count: 1,
            ..Preamble::default()
        };
        let mut log = Log {
            preamble,
            records: Vec::new(),
        };
        for rank in 0..ranks {
            log.comm(comm_etype::WORLD_CREATE, 0, rank, rank);
        }
        log
    }

    fn push(&mut self, time: f64, (icomm, rank, thread): (i32, i32, i32), body: Clog2Body) {
        self.records.push(Clog2Record {
            header: Clog2RecordHeader {
                time,
                icomm,
                rank,
                thread,
            },
            body,
        });
    }

    pub fn comm(&mut self, etype: i32, icomm: i32, rank: i32, wrank: i32) {
        let gid = Gid::new(1, 0.0, b"test");
        let body = Clog2Body::Comm(Clog2CommEvent {
            etype,
            icomm,
            rank,
            wrank,
            gid,
        });
        self.push(0.0, (0, wrank, 0), body);
    }

    pub fn bare(&mut self, time: f64, place: (i32, i32, i32), etype: i32) {
        self.push(time, place, Clog2Body::Bare { etype });
    }

    pub fn cargo(&mut self, time: f64, place: (i32, i32, i32), etype: i32, data: &[u8]) {
        let mut bytes = [0; 32];
        bytes[..data.len()].copy_from_slice(data);
        self.push(time, place, Clog2Body::Cargo { etype, bytes });
    }

    /// A message on the communicator of `place`.
    pub fn message(
        &mut self,
        time: f64,
        place: (i32, i32, i32),
        etype: i32,
        rank: i32,
        tag: i32,
        size: i32,
    ) {
        let icomm = place.0;
        let msg = Clog2Msg {
            etype,
            icomm,
            rank,
            tag,
            size,
        };
        self.push(time, place, Clog2Body::Msg(msg));
    }

    pub fn send(&mut self, time: f64, place: (i32, i32, i32), to: i32, tag: i32, size: i32) {
        self.message(time, place, msg_etype::SEND, to, tag, size);
    }

    pub fn recv(&mut self, time: f64, place: (i32, i32, i32), from: i32, tag: i32, size: i32) {
        self.message(time, place, msg_etype::RECV, from, tag, size);
    }

    pub fn state_def(&mut self, etypes: [i32; 2], name: &str, color: &str, format: &str) {
        let def = Clog2StateDef {
            state_id: etypes[0] / 2,
            start_etype: etypes[0],
            final_etype: etypes[1],
            color: FixedText::new(color),
            name: FixedText::new(name),
            format: FixedText::new(format),
        };
        self.push(0.0, (0, 0, 0), Clog2Body::StateDef(def));
    }

    pub fn event_def(&mut self, etype: i32, name: &str, color: &str, format: &str) {
        let def = Clog2EventDef {
            etype,
            color: FixedText::new(color),
            name: FixedText::new(name),
            format: FixedText::new(format),
        };
        self.push(0.0, (0, 0, 0), Clog2Body::EventDef(def));
    }

    /// The log as a CLOG2 file.
    pub fn clog2(&self) -> Vec<u8> {
        let mut file = Cursor::new(Vec::new());
        let preamble = Preamble {
            block_size: 1024,
            ..self.preamble.clone()
        };
        let mut writer = Clog2Writer::new(&mut file, &preamble).expect("memory");
        for record in &self.records {
            writer.write(record).expect("memory");
        }
        writer
            .finish(&CommTable::default(), &preamble)
            .expect("memory");
        file.into_inner()
    }
}

/// A log with a bit of everything: nested states, data of all types, arrows, events, threads, a second communicator,
/// what is unmatched, undescribed, of unknown colour.
pub fn sample(steps: i32) -> Log {
    let mut log = Log::new(3, 2);
    log.comm(comm_etype::INTRA_CREATE, 3, 0, 1);
    log.comm(comm_etype::INTRA_CREATE, 3, 1, 2);
    for step in 0..steps {
        let time = |offset: f64| f64::from(step) + offset;
        for rank in 0..3 {
            let shift = f64::from(rank) / 64.0;
            let place = (0, rank, 0);
            log.bare(time(shift), place, 600);
            log.bare(time(shift + 0.125), place, 48);
            log.send(
                time(shift + 0.1875),
                place,
                (rank + 1) % 3,
                step,
                100 * rank,
            );
            log.bare(time(shift + 0.25), place, 49);
        }
        log.bare(time(0.28125), (3, 0, 1), 100);
        log.bare(time(0.296875), (3, 0, 1), 101);
        for rank in 0..3 {
            let shift = f64::from(rank) / 64.0;
            let place = (0, rank, 0);
            log.recv(time(shift + 0.5), place, (rank + 2) % 3, step, 100);
            let mut data = step.to_be_bytes().to_vec();
            data.extend_from_slice(&0.5f64.to_be_bytes());
            data.extend_from_slice(b"\0\x03abc");
            log.cargo(time(shift + 0.75), place, 601, &data);
        }
        log.cargo(time(0.8125), (0, step % 3, 1), 5000, &[1, 2, 3, 4]);
    }
    // A receive before its send, twice the same route; a message without an end; a state without an end.
    let time = |offset: f64| f64::from(steps) + offset;
    log.recv(time(0.25), (0, 0, 0), 1, 77, 8);
    log.send(time(0.5), (0, 1, 0), 0, 77, 8);
    log.send(time(0.625), (0, 1, 0), 0, 78, 8);
    log.bare(time(0.75), (0, 2, 0), 48);
    log.bare(time(0.875), (3, 1, 0), -9);
    log.state_def([48, 49], "MPI_Comm_rank", "white", "");
    log.state_def([600, 601], "step", "gold", "n=%d, r=%E, s=%s.");
    log.event_def(5000, "mark", "no such colour", "%x");
    log.event_def(-9, "MPE_Comm_finalize", "orange", "");
    log
}
