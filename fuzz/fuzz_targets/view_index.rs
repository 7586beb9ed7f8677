//! The index that is kept beside a trace. Whatever stands there: what is taken for an index answers questions, and is kept and
//! read again as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use std::sync::LazyLock;
use viewer_core::index::{INDEX_MAGIC, IndexBuilder, IndexIdentity, IndexShape, OverviewIndex};
use viewer_core::trace::OpenTrace;
use viewer_core::{AnswerLimits, Viewer};

const FILE: &[u8] = include_bytes!("../../crates/trace-formats/tests/data/slog2/sample.slog2");
/// Questions that an index answers when nothing of the trace may be read.
const QUESTIONS: [&str; 5] = [
    "meta",
    "overview?bins=50",
    "picture?w=64&max=0",
    "picture?w=33&max=0&mode=stack",
    "picture?w=10&max=0&mode=heat:1&timelines=block:2",
];

static TRACE: LazyLock<(OpenTrace<'static>, IndexIdentity)> = LazyLock::new(|| {
    let trace = OpenTrace::new(FILE).expect("a good trace");
    let identity = IndexIdentity::new(&trace, FILE.len() as u64, 0);
    (trace, identity)
});

/// Magic number and identity, which the fuzzer would not guess.
fn head() -> Vec<u8> {
    let (_, identity) = &*TRACE;
    let numbers = [identity.bytes, identity.changed, identity.hash];
    let numbers = numbers.iter().flat_map(|number| number.to_le_bytes());
    INDEX_MAGIC.into_iter().chain(numbers).collect()
}

fuzz_target!(
    init: {
        if let Some(folder) = std::env::var_os("FUZZ_SEEDS") {
            let (trace, identity) = &*TRACE;
            let shape = IndexShape { window: trace.bounds(), bins: 16, totals: true };
            let mut builder = IndexBuilder::new(trace, shape).expect("a good trace");
            while builder.step(1 << 20).expect("a good trace") {}
            let index = builder.finish().encode(*identity);
            std::fs::write(Path::new(&folder).join("index"), &index[head().len()..]).expect("a seed");
        }
    },
    |bytes: &[u8]| {
        let (trace, identity) = &*TRACE;
        let kept = [&head(), bytes].concat();
        let Some(index) = OverviewIndex::decode(&kept, *identity, trace) else {
            return;
        };
        let again = index.encode(*identity);
        let read = OverviewIndex::decode(&again, *identity, trace).expect("just written");
        // Numbers of damaged indexes may be none, which equal nothing.
        assert_eq!(read.encode(*identity), again);
        let limits = AnswerLimits { tree_bytes: 0, ..AnswerLimits::default() };
        let viewer = Viewer::new("x", FILE, limits).expect("a good trace");
        viewer.set_index(index.into_owned());
        for question in QUESTIONS {
            let _ = viewer.answer(question, &|| false);
        }
    }
);
