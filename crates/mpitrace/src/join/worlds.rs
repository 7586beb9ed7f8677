//! The logs of several MPI_COMM_WORLDs as one trace.

use super::Arguments;
use crate::failure::Failure;
use crate::terminal::tell;
use crate::trace_files::format::Format;
use crate::trace_files::input::shown;
use crate::trace_files::target::Target;
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use trace_formats::clog2::{
    Clog2Body, Clog2Reader, Clog2Record, Clog2Writer, JoinedLogs, Worlds, WorldsError, comm_etype,
};
use trace_formats::slog2::{self, ConvertOptions, FromClog2, TreeOptions};
use trace_model::PendingFile;

/// Writes the trace and says what came of it.
pub fn join(
    arguments: &Arguments,
    output: &Path,
    paths: &[PathBuf],
    readers: &[Clog2Reader<'_>],
) -> Result<(), Failure> {
    let name = |i: usize| shown(&paths[i]).display();
    let worlds = Worlds::new(readers).map_err(|error| {
        Failure::Data(match error {
            WorldsError::NoOrigin(i) => format!("{}: {error}", name(i)),
            WorldsError::SameRun(i, k) => {
                format!("{}: is of the same run as {}", name(k), name(i))
            }
            WorldsError::TooManyLines => format!("{}: {error}", output.display()),
        })
    })?;
    let target = Target::new(output, None, &arguments.tree)?;
    let together = match target.format {
        Format::Clog2 => target.place(|path| clog2(worlds, path))?,
        Format::Slog2 => {
            let stems = paths.iter().map(|path| {
                let stem = shown(path).file_stem().unwrap_or_default();
                stem.to_string_lossy().into_owned()
            });
            let stems: Vec<String> = stems.collect();
            target.place(|path| slog2(worlds, path, arguments, &stems))?
        }
        other => {
            return Err(Failure::Call(format!(
                "{}: worlds are put together as CLOG2 or SLOG2, not as {other}",
                output.display()
            )));
        }
    };
    for (index, error) in &together.cut_off {
        tell!(
            "mpitrace: warning: {}: {error}; what comes before is taken",
            name(*index)
        );
    }
    if together.by_time_of_day {
        tell!(
            "mpitrace: warning: the files are of several machines: their clocks are compared by the time of day"
        );
    }
    if together.unknown > 0 {
        tell!(
            "mpitrace: warning: {} communicators reach into worlds that are not here, or that could be several: no messages on them",
            together.unknown
        );
    }
    if !arguments.quiet {
        tell!(
            "mpitrace: {}: {} records of {} worlds, {} communicators between them",
            output.display(),
            together.records,
            paths.len(),
            together.recognised
        );
    }
    Ok(())
}

fn clog2(worlds: Worlds<'_>, path: &Path) -> Result<JoinedLogs, Failure> {
    let failed = |error: trace_formats::clog2::Clog2Error| match &error.kind {
        trace_formats::clog2::Clog2ErrorKind::Io(io) => Failure::output(path.display(), io),
        _ => Failure::Data(error.to_string()),
    };
    let (preamble, table) = (worlds.preamble().clone(), worlds.table().clone());
    let mut writer = Clog2Writer::create(path, &preamble).map_err(failed)?;
    let together = worlds.run(|record| writer.write(record)).map_err(failed)?;
    writer.finish(&table, &preamble).map_err(failed)?;
    Ok(together)
}

fn slog2(
    worlds: Worlds<'_>,
    path: &Path,
    arguments: &Arguments,
    names: &[String],
) -> Result<JoinedLogs, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::file(path, error);
    let preamble = worlds.preamble().clone();
    let lines = u64::from(preamble.max_comm_world_size) * u64::from(preamble.max_thread_count);
    let ends = TreeOptions {
        leaf_byte_size: TreeOptions::leaf_for(lines),
        ..TreeOptions::default()
    };
    let options = ConvertOptions {
        tree: arguments.tree.options(lines, ends),
        check_end_times: false,
    };
    let out = PendingFile::create(path).map_err(|e| Failure::output(path.display(), &e))?;
    let out = BufWriter::with_capacity(1 << 18, out);
    let mut file = FromClog2::new(out, &preamble, options).map_err(|e| failed(&e))?;
    // World rank and its world by line of thread 0.
    let mut places: BTreeMap<i32, [i32; 2]> = BTreeMap::new();
    let threads = preamble.max_thread_count as i32;
    let ranks = preamble.max_comm_world_size as i32;
    let first_ranks = worlds.first_ranks();
    let mut note = |record: &Clog2Record| {
        if let Clog2Body::Comm(made) = &record.body
            && made.etype != comm_etype::FREE
            && made.rank >= 0
            && made.icomm >= 0
        {
            let world = first_ranks.partition_point(|&first| first <= made.wrank);
            let line = (made.icomm * ranks + made.rank) * threads;
            places.insert(line, [world as i32 - 1, made.wrank]);
        }
    };
    let together = worlds
        .run(|record| {
            note(record);
            file.push(record)
        })
        .map_err(|e| failed(&e))?;
    let mut view = slog2::program_view(names);
    for (line, [world, rank]) in places {
        for thread in 0..threads {
            view.push(line + thread, &[world, rank, thread]);
        }
    }
    file.add_line_map(view);
    let (mut out, _) = file.finish().map_err(|e| failed(&e))?;
    let io = |e: std::io::Error| Failure::output(path.display(), &e);
    out.flush().map_err(io)?;
    PendingFile::persist_buffered(out).map_err(io)?;
    Ok(together)
}
