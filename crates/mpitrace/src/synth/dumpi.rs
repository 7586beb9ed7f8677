//! The timeline as the calls of DUMPI files, one for each rank.

use super::timeline::{CHECKPOINT_BYTES, Iteration, SynthSize, SynthTimeline, TimeSpan};
use crate::failure::Failure;
use crate::trace_files::overwrite::Overwrite;
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use trace_formats::dumpi::ids;
use trace_formats::dumpi::meta::{Meta, bin_path, meta_path};
use trace_formats::dumpi::types::{
    self, ClockOffsets, DumpiFooter, DumpiHeader, DumpiTrailer, Mask, Version,
};
use trace_formats::dumpi::value::DumpiStatus;
use trace_formats::dumpi::write::{
    DumpiWriteError, FileWriter, LIBDUMPI, RecordBuilder, RecordHead,
};
use trace_model::PendingFile;

/// Files that are written at a time; for more ranks the timeline is made several times.
const MAX_OPEN_FILES: u32 = 128;
/// When the run began: the first second of 2026, in seconds since 1970.
const START_EPOCH_SECONDS: u64 = 1_767_225_600;

// Numbers of predefined communicators, datatypes, operations and modes.
const WORLD: i32 = 2;
const DOUBLE: i32 = 14;
const BYTE: i32 = 5;
const SUM: i32 = 3;
const WRONLY: i32 = 3;
/// The first request that a rank makes; MPICH takes the same values for those of each iteration.
const REQUEST: i32 = 2;
/// Bytes of the predefined datatypes, by number.
const SIZES: [i32; 28] = [
    0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 0, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20,
];

/// Writes `output`, the .meta file, and the .bin files beside it. Returns the number of calls.
pub fn write(shape: &SynthSize, output: &Path, overwrite: Overwrite) -> Result<u64, Failure> {
    if output == OsStr::new("-") {
        let message = "a DUMPI trace is many files: it needs a name".into();
        return Err(Failure::Call(message));
    }
    let prefix = match output.extension() {
        Some(ending) if ending == "meta" || ending == "bin" => output.with_extension(""),
        _ => output.to_path_buf(),
    };
    let written = (0..shape.ranks).map(|rank| bin_path(&prefix, rank, 4));
    let written: Vec<_> = written.chain([meta_path(&prefix)]).collect();
    overwrite.allow_all::<&Path>(&written, &[])?;
    let mut calls = 0;
    let mut first = 0;
    while first < shape.ranks {
        let last = shape.ranks.min(first + MAX_OPEN_FILES);
        calls += write_ranks(shape, &prefix, first..last)?;
        first = last;
    }
    let path = meta_path(&prefix);
    let meta = Meta {
        hostname: b"node0".to_vec(),
        numprocs: shape.ranks,
        username: b"synth".to_vec(),
        starttime: START_EPOCH_SECONDS,
        fileprefix: prefix.file_name().unwrap_or_default().as_bytes().to_vec(),
        version: Version::CURRENT,
        absent: Vec::new(),
        ranks_per_folder: 0,
    };
    let failed = |error| Failure::output(path.display(), &error);
    let mut file = PendingFile::create(&path).map_err(failed)?;
    file.write_all(&meta.text()).map_err(failed)?;
    file.persist().map_err(failed)?;
    Ok(calls)
}

fn write_ranks(
    shape: &SynthSize,
    prefix: &Path,
    ranks: std::ops::Range<u32>,
) -> Result<u64, Failure> {
    let failed = |rank: u32, error: DumpiWriteError| match error {
        DumpiWriteError::Io(error) => Failure::output(bin_path(prefix, rank, 4).display(), &error),
        error => Failure::Data(error.to_string()),
    };
    let mut timeline = SynthTimeline::new(*shape);
    let mut files = Vec::new();
    for rank in ranks {
        let file = RankOutput::create(shape, prefix, rank, &timeline);
        files.push(file.map_err(|error| failed(rank, error))?);
    }
    while timeline.advance() {
        for file in &mut files {
            let done = file.iteration(&timeline);
            done.map_err(|error| failed(file.rank, error))?;
        }
    }
    let mut ends = timeline.finalize();
    let mut calls = 0;
    let mut at = 0;
    for file in files {
        let rank = file.rank;
        let skipped = (rank - at) as usize;
        at = rank + 1;
        if let Some(span) = ends.nth(skipped) {
            calls += file.finish(span).map_err(|error| failed(rank, error))?;
        }
    }
    Ok(calls)
}

/// A rank's file.
struct RankOutput {
    file: FileWriter,
    rank: u32,
    footer: DumpiFooter,
    calls: u64,
}

impl RankOutput {
    fn create(
        shape: &SynthSize,
        prefix: &Path,
        rank: u32,
        timeline: &SynthTimeline,
    ) -> Result<Self, DumpiWriteError> {
        let offsets = ClockOffsets {
            cpu: 0,
            wall: START_EPOCH_SECONDS as i32,
        };
        let mut new = RankOutput {
            file: FileWriter::create(&bin_path(prefix, rank, 4), offsets)?,
            rank,
            footer: DumpiFooter::default(),
            calls: 0,
        };
        let init = timeline.iterations()[rank as usize].whole;
        // MPI_Init, and in what is left of that time two calls that ask.
        let size = TimeSpan {
            start: init.end - 400,
            end: init.end - 300,
        };
        let number = TimeSpan {
            start: init.end - 200,
            end: init.end - 100,
        };
        let init = TimeSpan {
            start: init.start,
            end: init.end - 500,
        };
        new.call(ids::INIT, init, |call| {
            call.strings(["./synth"]);
        })?;
        new.call(ids::COMM_SIZE, size, |call| {
            call.handle(WORLD).int(shape.ranks as i32);
        })?;
        new.call(ids::COMM_RANK, number, |call| {
            call.handle(WORLD).int(rank as i32);
        })?;
        Ok(new)
    }

    fn call(
        &mut self,
        id: u16,
        span: TimeSpan,
        arguments: impl FnOnce(&mut RecordBuilder<'_, PendingFile>),
    ) -> Result<(), DumpiWriteError> {
        let ns = |time| START_EPOCH_SECONDS * 1_000_000_000 + time;
        let head = RecordHead {
            mask: Mask::DEFAULT,
            thread: 0,
            // The processor is busy all the time.
            cpu: types::ClockSpan::from_ns(span.start, span.end),
            wall: types::ClockSpan::from_ns(ns(span.start), ns(span.end)),
        };
        let mut call = self.file.call(id, &head, &[]);
        arguments(&mut call);
        call.end()?;
        self.footer.count(id, 1, 0);
        self.calls += 1;
        Ok(())
    }

    fn iteration(&mut self, timeline: &SynthTimeline) -> Result<(), DumpiWriteError> {
        let rank = self.rank;
        let iteration: &Iteration = &timeline.iterations()[rank as usize];
        let neighbours = timeline.neighbours(rank).map(|rank| rank as i32);
        let sent = timeline.sizes(rank).map(|bytes| bytes as i32);
        // From below comes what was sent above, with the tag of that direction.
        let received = [0, 1].map(|which: usize| {
            let from = timeline.neighbours(rank)[which];
            timeline.sizes(from)[1 - which] as i32
        });
        for which in 0..2 {
            self.call(ids::IRECV, iteration.receives[which], |call| {
                call.int(received[which] / 8)
                    .handle(DOUBLE)
                    .int(neighbours[which]);
                call.int(1 - which as i32)
                    .handle(WORLD)
                    .int(REQUEST + which as i32);
            })?;
        }
        for which in 0..2 {
            self.call(ids::ISEND, iteration.sends[which], |call| {
                call.int(sent[which] / 8)
                    .handle(DOUBLE)
                    .int(neighbours[which]);
                call.int(which as i32)
                    .handle(WORLD)
                    .int(REQUEST + 2 + which as i32);
            })?;
        }
        self.call(ids::WAITALL, iteration.wait, |call| {
            let done = [0, 1].map(|which: usize| DumpiStatus {
                bytes: received[which],
                source: neighbours[which],
                tag: 1 - which as i32,
                ..DumpiStatus::default()
            });
            let statuses = [
                done[0],
                done[1],
                DumpiStatus::default(),
                DumpiStatus::default(),
            ];
            call.int(4).ints(REQUEST..REQUEST + 4).statuses(statuses);
        })?;
        self.call(ids::ALLREDUCE, iteration.reduce, |call| {
            call.int(1).handle(DOUBLE).code(SUM).handle(WORLD);
        })?;
        let Some(checkpoint) = iteration.checkpoint else {
            return Ok(());
        };
        self.call(ids::FILE_OPEN, checkpoint.open[0], |call| {
            call.handle(WORLD)
                .string(b"checkpoint")
                .code(WRONLY)
                .handle(0)
                .handle(1);
        })?;
        self.call(ids::FILE_WRITE_AT_ALL, checkpoint.write, |call| {
            let status = DumpiStatus {
                bytes: CHECKPOINT_BYTES as i32,
                ..DumpiStatus::default()
            };
            call.handle(1)
                .i64(i64::from(rank) * CHECKPOINT_BYTES as i64);
            call.int(CHECKPOINT_BYTES as i32)
                .handle(BYTE)
                .statuses([status]);
        })?;
        self.call(ids::FILE_CLOSE, checkpoint.close[0], |call| {
            call.handle(1);
        })
    }

    fn finish(mut self, span: TimeSpan) -> Result<u64, DumpiWriteError> {
        self.call(ids::FINALIZE, span, |_| {})?;
        let trailer = DumpiTrailer {
            header: DumpiHeader {
                starttime: START_EPOCH_SECONDS,
                hostname: b"node0".to_vec(),
                username: b"synth".to_vec(),
                ..DumpiHeader::default()
            },
            footer: self.footer,
            type_sizes: SIZES.to_vec(),
            ..DumpiTrailer::default()
        };
        self.file.finish(&trailer, LIBDUMPI)?;
        Ok(self.calls)
    }
}
