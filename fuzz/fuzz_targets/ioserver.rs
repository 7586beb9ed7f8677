//! What an I/O server and its data servers take from a stream: questions and answers, one behind the other. What is understood
//! is said again and understood as the same.
#![no_main]

#[path = "../../crates/mpitrace/src/ioserver/wire.rs"]
#[allow(dead_code, reason = "the target needs a part of it")]
mod wire;

/// Results of the messages.
mod recording {
    pub type Result<T> = std::result::Result<T, rustix::io::Errno>;
}

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use wire::{ServerAction, ServerQuestion};

fuzz_target!(
    init: {
        if let Some(folder) = std::env::var_os("FUZZ_SEEDS") {
            let mut stream = Vec::new();
            let question = ServerQuestion {
                action: ServerAction::Write,
                flags: 1,
                call: Some(7 << 40 | 1),
                unique: 1,
                inode: 2,
                offset: 3,
                local: 4,
                size: 5,
                tid: 6,
            };
            wire::ask(&mut stream, &question, b"bytes").expect("memory");
            wire::answer(&mut stream, Ok(5), b"").expect("memory");
            wire::answer(&mut stream, Err(rustix::io::Errno::NOSPC), b"").expect("memory");
            std::fs::write(Path::new(&folder).join("messages"), stream).expect("a seed");
        }
    },
    |bytes: &[u8]| {
        let (mut rest, mut data) = (bytes, Vec::new());
        while let Ok(Some(question)) = wire::question(&mut rest, &mut data) {
            assert!(data.len() <= wire::MAX_DATA_BYTES);
            let (mut again, mut behind) = (Vec::new(), Vec::new());
            wire::ask(&mut again, &question, &data).expect("memory");
            let same = wire::question(&mut &again[..], &mut behind).expect("just said");
            assert_eq!((same, behind), (Some(question), data.clone()));
        }
        let (mut rest, mut place) = (bytes, [0; 64]);
        while let Ok(result) = wire::answered(&mut rest, &mut place) {
            let mut again = Vec::new();
            wire::answer(&mut again, result, &[]).expect("memory");
            assert_eq!(wire::answered(&mut &again[..], &mut []).expect("just said"), result);
        }
    }
);
