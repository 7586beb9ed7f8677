//! What is asked of the viewer, as it stands in an address: windows, timelines, references, searches. Whatever it is, there is an
//! answer or an error that says why.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use viewer_core::{AnswerLimits, Viewer};

const FILE: &[u8] = include_bytes!("../../crates/trace-formats/tests/data/slog2/sample.slog2");
/// Valid questions, as the seeds of all others.
const SEEDS: [&str; 18] = [
    "meta",
    "summary",
    "overview?bins=40",
    "timelines?timelines=pin:1;only:0-3,!2;sort:-busy",
    "timelines?timelines=map:1;block:2;cluster:2;hide:1;order:3,0;sort:busy",
    "picture?t0=0.1&t1=0.5&w=200&y0=0&y1=3&mode=heat:2&hide=1,2&arrows=all&max=100",
    "picture?w=80&mode=stack&arrows=sel:1.2.0.5",
    "picture?w=80&timelines=levels:0-2;depth:3&max=0",
    "aggregate?a=mean+size+by+tag+where+MPI_Send|recv+sender:0-3+dur%3E1us",
    "at?t=0.2&timeline=1&dt=0.1",
    "next?t=0.2&timeline=1&dir=-1",
    "ref?ref=0.3.0.25!1",
    "follow?ref=0.3.0.25~1.0.5&dir=1",
    "call?id=0x1f",
    "search?q=dur%3E1ms+rank:0-63+size%3E=1M+!MPI_Send|recv&from=0&dir=-1",
    "hits?q=file:%22*.h5%22+callid:0x1f+class:io+is:arrow&bins=20",
    "events?sort=-dur&limit=10&offset=2",
    "csv?what=matrix&t0=0&t1=1&nesting=thread",
];

fuzz_target!(
    init: {
        if let Some(folder) = std::env::var_os("FUZZ_SEEDS") {
            for (nth, seed) in SEEDS.iter().enumerate() {
                std::fs::write(Path::new(&folder).join(format!("question{nth}")), seed).expect("a seed");
            }
        }
    },
    |bytes: &[u8]| {
        let limits = AnswerLimits { cells: 200_000, ..AnswerLimits::default() };
        let viewer = Viewer::new("x", FILE, limits).expect("a good trace");
        if let Err(error) = viewer.answer(&String::from_utf8_lossy(bytes), &|| false) {
            assert!(!error.message.is_empty());
        }
    }
);
