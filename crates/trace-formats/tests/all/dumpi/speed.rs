//! Speed of the DUMPI writer, reader and text, on demand:
//!
//! ```text
//! cargo test --release -p trace-formats --test all dumpi::speed -- --ignored --nocapture
//! ```

use std::time::Instant;

use trace_formats::dumpi::print::{Sections, Zone, print};
use trace_formats::dumpi::read::DumpiReader;
use trace_formats::dumpi::types::{ClockOffsets, ClockSpan, DumpiTrailer, Mask};
use trace_formats::dumpi::value::{DumpiStatus, FieldValue};
use trace_formats::dumpi::write::{DumpiWriter, LIBDUMPI, RecordHead};

const ROUNDS: u64 = 400_000;

/// A halo exchange: per round two Irecv, two Isend, a Waitall and an Allreduce.
fn halo() -> (Vec<u8>, u64) {
    let mut w =
        DumpiWriter::new(Vec::with_capacity(200 << 20), ClockOffsets::default()).expect("memory");
    let mut now = 0;
    let mut head = || {
        now += 700;
        RecordHead {
            mask: Mask::DEFAULT,
            thread: 0,
            cpu: ClockSpan::from_ns(now, now + 300),
            wall: ClockSpan::from_ns(now, now + 300),
        }
    };
    let got = |source| DumpiStatus {
        bytes: 4096,
        source,
        tag: 7,
        ..DumpiStatus::default()
    };
    for _ in 0..ROUNDS {
        for peer in [1, 3] {
            let mut c = w.call(12, &head(), &[]);
            c.int(512)
                .handle(14)
                .int(peer)
                .int(7)
                .handle(2)
                .int(peer + 1);
            c.end().expect("an Irecv");
        }
        for peer in [1, 3] {
            let mut c = w.call(8, &head(), &[]);
            c.int(512)
                .handle(14)
                .int(peer)
                .int(7)
                .handle(2)
                .int(peer + 5);
            c.end().expect("an Isend");
        }
        let mut c = w.call(18, &head(), &[]);
        c.int(4)
            .ints([2, 4, 6, 8])
            .statuses([got(1), got(3), got(-1), got(-1)]);
        c.end().expect("a Waitall");
        let mut c = w.call(65, &head(), &[]);
        c.int(1).handle(14).code(3).handle(2);
        c.end().expect("an Allreduce");
    }
    let (bytes, _) = w
        .finish(&DumpiTrailer::default(), LIBDUMPI)
        .expect("memory");
    (bytes, ROUNDS * 6)
}

fn report(what: &str, start: Instant, count: u64) {
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{what}: {:.1} million/s, {:.1} ns each",
        count as f64 / seconds / 1e6,
        seconds * 1e9 / count as f64
    );
}

#[test]
#[ignore = "a benchmark"]
fn speed() {
    let start = Instant::now();
    let (bytes, calls) = halo();
    report("records written", start, calls);
    println!("{:.0} bytes a record", bytes.len() as f64 / calls as f64);

    let reader = DumpiReader::open(&bytes).expect("our own file");
    for _ in 0..3 {
        let start = Instant::now();
        let mut ticks = 0;
        let mut count = 0;
        for record in reader.records() {
            let record = record.expect("our own file");
            ticks += record.wall.stop.ns() - record.wall.start.ns();
            count += 1;
        }
        report("records read", start, count);
        assert_eq!((count, ticks), (calls, 300 * calls as i64));
    }

    let start = Instant::now();
    let mut sum = 0i64;
    for record in reader.records() {
        for (_, arg) in record.expect("our own file").args() {
            sum += match arg {
                FieldValue::Int(v) => v.into(),
                FieldValue::Ints(v) => v.iter().map(i64::from).sum(),
                FieldValue::Statuses(s) => s.iter().map(|s| i64::from(s.bytes)).sum(),
                _ => 0,
            };
        }
    }
    report("records read with all arguments", start, calls);
    assert_ne!(sum, 0);

    /// Counts bytes and pieces, keeps nothing.
    struct Sink(u64, u64);
    impl std::io::Write for Sink {
        fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
            self.0 += text.len() as u64;
            self.1 += 1;
            Ok(text.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let start = Instant::now();
    let mut out = Sink(0, 0);
    print(&reader, Sections::STREAM, Zone::Utc, &mut out).expect("our own file");
    // Two lines around the arguments: 6 for Irecv and Isend, 3 for Waitall, 4 for Allreduce.
    report("lines printed", start, ROUNDS * (4 * 8 + 5 + 6));
    println!("{:.0} MB of text in {} pieces", out.0 as f64 / 1e6, out.1);
}
