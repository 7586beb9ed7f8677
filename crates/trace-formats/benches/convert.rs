//! CLOG2 to SLOG2: drawables per second on one core, from a synthetic merged log in memory to a file that is thrown away.
//! Time is the thread's CPU time, so that other work on the machine shows little.
//!
//! `cargo bench -p trace-formats --bench convert [-- DRAWABLES [RANKS]]`

use std::io::{self, Cursor, Seek, SeekFrom, Write};

use trace_formats::clog2::{
    Clog2Body, Clog2CommEvent, Clog2Msg, Clog2Reader, Clog2Record, Clog2RecordHeader,
    Clog2StateDef, Clog2Writer, CommTable, FixedText, Gid, Preamble, msg_etype,
};
use trace_formats::slog2::{
    ConvertOptions, NewDrawable, Topology, TreeBuilder, TreeOptions, Vertex, convert,
};

/// Takes bytes and remembers how many.
#[derive(Default)]
struct Sink {
    position: u64,
    written: u64,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.position += bytes.len() as u64;
        self.written = self.written.max(self.position);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Sink {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if let SeekFrom::Start(position) = to {
            self.position = position;
        }
        Ok(self.position)
    }
}

/// Pseudo-random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// A merged log: in each step every rank enters a state, in it sends to its neighbour and receives in a nested state, does
/// some other calls, and leaves. Times of the ranks interleave.
fn log(ranks: i32, drawables: u64) -> Vec<u8> {
    // Per rank and step: outer state, send state, receive state, arrow, and four short states.
    const PER_STEP: u64 = 8;
    let steps = drawables.div_ceil(PER_STEP * ranks as u64);
    let preamble = Preamble {
        max_comm_world_size: ranks as u32,
        user_state_id_count: 1,
        ..Preamble::default()
    };
    let mut file = Cursor::new(Vec::new());
    let mut writer = Clog2Writer::new(&mut file, &preamble).expect("memory");
    let record = |time, rank, body| Clog2Record {
        header: Clog2RecordHeader {
            time,
            icomm: 0,
            rank,
            thread: 0,
        },
        body,
    };
    for rank in 0..ranks {
        let body = Clog2Body::Comm(Clog2CommEvent {
            etype: 0,
            icomm: 0,
            rank,
            wrank: rank,
            gid: Gid::new(1, 0.0, b"bench"),
        });
        writer.write(&record(0.0, rank, body)).expect("memory");
    }
    let mut random = Random(88172645463325252);
    let mut batch: Vec<(f64, i32, Clog2Body)> = Vec::new();
    for step in 0..steps {
        batch.clear();
        for rank in 0..ranks {
            let mut time = step as f64 * 1e-3 + random.below(1000) as f64 * 1e-8;
            let mut tick = || {
                time += (1 + random.below(200)) as f64 * 1e-8;
                time
            };
            let bare = |etype| Clog2Body::Bare { etype };
            let msg = |etype, rank| {
                Clog2Body::Msg(Clog2Msg {
                    etype,
                    icomm: 0,
                    rank,
                    tag: 7,
                    size: 64,
                })
            };
            let (next, previous) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
            batch.push((tick(), rank, bare(600)));
            for call in [10, 48, 130, 10] {
                batch.push((tick(), rank, bare(call)));
                batch.push((tick(), rank, bare(call + 1)));
            }
            batch.push((tick(), rank, bare(160)));
            batch.push((tick(), rank, msg(msg_etype::SEND, next)));
            batch.push((tick(), rank, bare(161)));
            batch.push((tick(), rank, bare(154)));
            batch.push((tick() + 1e-4, rank, msg(msg_etype::RECV, previous)));
            batch.push((tick() + 1e-4, rank, bare(155)));
            batch.push((tick() + 1e-4, rank, bare(601)));
        }
        batch.sort_by(|a, b| a.0.total_cmp(&b.0));
        for &(time, rank, body) in &batch {
            writer.write(&record(time, rank, body)).expect("memory");
        }
    }
    for state in [5, 24, 65, 77, 80, 300] {
        let body = Clog2Body::StateDef(Clog2StateDef {
            state_id: state,
            start_etype: 2 * state,
            final_etype: 2 * state + 1,
            color: FixedText::new("green"),
            name: FixedText::new(&format!("state {state}")),
            format: FixedText::default(),
        });
        writer
            .write(&record(steps as f64, 0, body))
            .expect("memory");
    }
    writer
        .finish(&CommTable::default(), &preamble)
        .expect("memory");
    file.into_inner()
}

/// CPU time of this thread in seconds.
fn cpu_time() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a valid timespec, which the call fills in.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Runs five times and prints the best.
fn measure(what: &str, mut run: impl FnMut() -> (u64, u64)) {
    let best = (0..5)
        .map(|_| {
            let start = cpu_time();
            let (count, bytes) = run();
            (cpu_time() - start, count, bytes)
        })
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let Some((seconds, count, bytes)) = best else {
        return;
    };
    println!(
        "{what:<24} {count:>9} in {seconds:.3} s = {:6.2} M/s ({:.0} ns each), {:.0} MB out",
        count as f64 / seconds / 1e6,
        seconds * 1e9 / count as f64,
        bytes as f64 / 1e6
    );
}

fn main() {
    let mut numbers = std::env::args()
        .skip(1)
        .filter_map(|argument| argument.parse::<u64>().ok());
    let drawables = numbers.next().unwrap_or(2_000_000);
    let ranks = numbers.next().unwrap_or(64) as i32;
    let clog2 = log(ranks, drawables);
    println!("{ranks} ranks, CLOG2 of {:.0} MB", clog2.len() as f64 / 1e6);
    measure("records read", || {
        let reader = Clog2Reader::new(&clog2).expect("our own file");
        let mut latest = 0f64;
        let mut count = 0;
        for record in reader.raw_records() {
            let (_, record) = record.expect("our own file");
            latest = latest.max(record.header.time);
            count += 1;
        }
        assert!(latest > 0.0);
        (count, 0)
    });
    measure("drawables, converted", || {
        let (sink, conversion) =
            convert(&clog2, Sink::default(), ConvertOptions::default()).expect("our own file");
        assert_eq!(conversion.unmatched_events, 0);
        (conversion.drawables, sink.written)
    });
    measure("drawables, built only", || {
        let mut builder =
            TreeBuilder::new(Sink::default(), TreeOptions::default()).expect("memory");
        for number in 0..drawables {
            let time = number as f64 * 1e-6;
            let line = (number % ranks as u64) as i32;
            let vertex = |time| Vertex { time, line };
            let category = 1 + (number / 64 % 6) as i32;
            let drawable = NewDrawable {
                topology: Topology::State,
                category,
                info: &[],
                vertices: &[vertex(time - 1e-5), vertex(time)],
            };
            builder.add(&drawable).expect("memory");
        }
        let tree = builder.close().expect("memory");
        let count = tree.summary().values().map(|sum| sum.count).sum::<i64>();
        let (sink, _) = tree.finish(&[], &[]).expect("memory");
        (count as u64, sink.written)
    });
}
