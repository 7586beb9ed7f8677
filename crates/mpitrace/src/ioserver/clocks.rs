//! Clocks of data servers on other hosts, compared with that of the front end: times in their traces can then be brought
//! together with those of the ranks. Done on each connection that leads to a host, when it is made.

use super::address::ServerStream;
use super::recording::RequestRecorder;
use super::wire::{self, ServerAction, ServerQuestion};
use blockfile::define::{Definition, Sync};
use blockfile::machine::{boot_id, now};
use std::io;

/// Readings of which the one with the shortest way counts.
const READINGS: usize = 8;

/// Time of the server's clock, ns.
pub fn read(stream: &mut ServerStream) -> io::Result<u64> {
    wire::ask(
        stream,
        &ServerQuestion::about_server(ServerAction::Clock),
        &[],
    )?;
    Ok(wire::answered(stream, &mut [])?? as u64)
}

/// Compares the clocks and tells the server the result.
pub fn compare(stream: &mut ServerStream) -> io::Result<()> {
    let mut best: Option<Sync> = None;
    for _ in 0..READINGS {
        let asked = now();
        let there = read(stream)?;
        let gap = now() - asked;
        if best.is_none_or(|best| gap < best.gap) {
            best = Some(Sync {
                ticks: there,
                shift: (asked + gap / 2).wrapping_sub(there) as i64,
                gap,
            });
        }
    }
    let Sync { ticks, shift, gap } = best.unwrap_or_default();
    let result = ServerQuestion {
        offset: ticks,
        local: shift as u64,
        size: gap,
        ..ServerQuestion::about_server(ServerAction::Shift)
    };
    wire::ask(stream, &result, boot_id().as_bytes())?;
    wire::answered(stream, &mut [])??;
    Ok(())
}

/// Records the result that `question` tells, if the asker's kernel, which has named itself in `boot`, is another one.
pub fn note(question: &ServerQuestion, boot: &[u8], recorder: &RequestRecorder) {
    if boot != boot_id().as_bytes() {
        recorder.define(&Definition::Sync(Sync {
            ticks: question.offset,
            shift: question.local as i64,
            gap: question.size,
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blockfile::define::ServerDefinition;
    use blockfile::writer::BlockFileWriter;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_shift_is_recorded_for_another_kernel_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("blocks");
        let writer = BlockFileWriter::create(&path, ServerDefinition::default()).unwrap();
        let recorder = RequestRecorder::new(Some(writer), None);
        let (front, server) = UnixStream::pair().unwrap();
        let (mut front, mut server) = (ServerStream::Unix(front), ServerStream::Unix(server));
        // The server's clock is a second behind: this machine may have started a short time ago.
        let behind = 1_000_000_000;
        let asker = std::thread::spawn(move || compare(&mut front).unwrap());
        let mut data = Vec::new();
        for _ in 0..READINGS {
            let asked = wire::question(&mut server, &mut data).unwrap().unwrap();
            assert_eq!(asked.action, ServerAction::Clock);
            wire::answer(&mut server, Ok((now() - behind) as usize), &[]).unwrap();
        }
        let question = wire::question(&mut server, &mut data).unwrap().unwrap();
        assert_eq!(question.action, ServerAction::Shift);
        wire::answer(&mut server, Ok(0), &[]).unwrap();
        asker.join().unwrap();
        note(&question, &data, &recorder);
        note(&question, b"another", &recorder);
        recorder.finish();
        let bytes = std::fs::read(&path).unwrap();
        let file = blockfile::file::BlockFile::new(&bytes).unwrap();
        let mut found = Vec::new();
        for thread in file.threads() {
            let mut records = thread.records();
            while let Some(r) = records.next() {
                if let Some(Definition::Sync(sync)) = Definition::decode(r.function, r.payload) {
                    found.push(sync);
                }
            }
        }
        let [sync] = found[..] else {
            panic!("{found:?}");
        };
        assert!(
            sync.shift.abs_diff(behind as i64) <= sync.gap / 2 + 1,
            "{sync:?}"
        );
    }
}
