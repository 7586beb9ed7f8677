//! `mpitrace status`: what the ranks of a running program are doing, read from their block files. The program does not notice.

use crate::clock;
use crate::failure::Failure;
use crate::found::{self, is_block_file};
use crate::input::Input;
use crate::recover::snapshot::is_writing;
use records::define::{Definition, FUNCTION};
use records::file::{File, Info, Thread};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::DirEntryExt;
use std::path::{Path, PathBuf};
use wrappers::Table;

/// Tell in which MPI calls a running program is
///
/// A line for each thread of each rank: in which call, for how long, with which CallID. It is read from the block files, which
/// are memory shared with the program: no signal, no debugger, and it works on a program that hangs.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace status /tmp                            all ranks on this machine
  mpitrace status 4711                            one process")]
pub struct Arguments {
    /// Folders with block files, block files, or process IDs
    #[arg(required = true, value_name = "DIR|FILE.blocks|PID")]
    inputs: Vec<PathBuf>,
    /// Also those of processes that have ended
    #[arg(long)]
    ended: bool,
    /// Also those of other users, where they are found in a folder
    #[arg(long)]
    any_owner: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let table = wrappers::table().map_err(|error| Failure::Data(error.to_string()))?;
    let mut text = String::new();
    let mut lines = Vec::new();
    for path in files(&arguments.inputs, arguments.any_owner)? {
        // A file that goes away meanwhile is of a program that has just ended.
        let Ok(input) = Input::open_regular(&path) else {
            continue;
        };
        // Of the header what MPI_Init changes; counts of lost calls go up all the time.
        let rank = || {
            let info = input.blocks().ok()?.info();
            Some((info.rank, info.size, info.run))
        };
        let read = at_one_moment(rank, || {
            let file = input.blocks().ok()?;
            Some((file.info(), threads(&file, &table)))
        });
        let Some((info, threads)) = read else {
            continue;
        };
        let running = is_writing(info.pid, &path);
        if running || arguments.ended {
            let who = who(&path, &info, running);
            lines.push((info.run, info.rank, info.pid, who + &threads));
        }
    }
    lines.sort();
    for (.., lines) in &lines {
        text += lines;
    }
    if text.is_empty() {
        text = "no traced program runs here\n".to_owned();
    }
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Failure::output("stdout", &error))
}

/// The block files that are meant.
fn files(inputs: &[PathBuf], any_owner: bool) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in inputs {
        let pid = path.to_str().and_then(|text| text.parse::<u32>().ok());
        if let Some(pid) = pid.filter(|_| !path.exists()) {
            let file = of_process(pid).ok_or_else(|| {
                Failure::Data(format!(
                    "process {pid} has no block file: it is not traced, or not mine to look at"
                ))
            })?;
            files.push(file);
        } else if path.is_dir() {
            files.extend(found::block_files(path, any_owner)?);
        } else if path.exists() {
            files.push(path.clone());
        } else {
            return Err(Failure::Data(format!(
                "{}: there is no such folder, block file or process",
                path.display()
            )));
        }
    }
    Ok(files)
}

/// The block file that a process has mapped.
fn of_process(pid: u32) -> Option<PathBuf> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    maps.lines().find_map(|line| {
        let path = Path::new(line.get(line.find('/')?..)?);
        if is_block_file(path) {
            return Some(path.to_owned());
        }
        // It got its name after it had been mapped: the kernel goes on to call it by its inode, as one without a name.
        let inode = path.file_name()?.to_str()?.strip_prefix('#')?;
        let inode: u64 = inode.strip_suffix(" (deleted)")?.parse().ok()?;
        let mut there = fs::read_dir(path.parent()?).ok()?.flatten();
        let found = there.find(|entry| entry.ino() == inode && is_block_file(&entry.path()));
        Some(found?.path())
    })
}

/// Reads a header and what stands behind it, again until the header was the same before and after: a program that runs on may
/// come out of MPI_Init in between, and the answer would belong to two moments. A header changes a few times in the life of a file.
fn at_one_moment<H: PartialEq, T>(mut header: impl FnMut() -> H, mut rest: impl FnMut() -> T) -> T {
    let mut before = header();
    loop {
        let found = rest();
        let after = header();
        if before == after {
            return found;
        }
        before = after;
    }
}

/// The line of a process.
fn who(path: &Path, info: &Info, running: bool) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let program = name.strip_prefix("libtrace.").unwrap_or(&name);
    let program = program.split('.').next().unwrap_or_default();
    let rank = match info.rank {
        0.. => format!("rank {} of {}", info.rank, info.size),
        _ => "before MPI_Init returned".to_owned(),
    };
    let ended = if running { "" } else { ", has ended" };
    let lost = match info.lost {
        0 => String::new(),
        n => format!(", {n} calls lost"),
    };
    format!("{program}, {rank}, process {}{ended}{lost}\n", info.pid)
}

/// A line for each thread.
fn threads(file: &File<'_>, table: &Table) -> String {
    let mut text = String::new();
    let info = file.info();
    for thread in file.threads() {
        // Writing to a String cannot fail.
        let _ = write!(text, "  thread {} (tid {}): ", thread.number, thread.tid);
        let Some(open) = thread.open_call() else {
            text += "outside MPI\n";
            continue;
        };
        let known = table.functions.get(usize::from(open.function));
        let name = known
            .map(|function| function.name.clone())
            .or_else(|| unknown(thread, open.function))
            .unwrap_or_else(|| format!("function {}", open.function));
        let _ = write!(text, "in {name}");
        if let Some(seconds) = clock::seconds_since(info.clock, open.start) {
            let _ = write!(text, " for {seconds:.3} s");
        }
        let rank = u64::try_from(info.rank).unwrap_or(0);
        let call = rank << info.counter_bits | open.call;
        let _ = writeln!(text, " (CallID {call:#x})");
    }
    text
}

/// Name of a function outside the table.
fn unknown(thread: &Thread<'_>, number: u16) -> Option<String> {
    let mut records = thread.records();
    while let Some(record) = records.next() {
        if record.function == FUNCTION
            && let Some(Definition::Function { number: n, name }) =
                Definition::decode(FUNCTION, record.payload)
            && n == number
        {
            return Some(name);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_and_threads_belong_to_one_moment() {
        // MPI_Init returns while the threads are read for the first time.
        let (rank, calls) = (std::cell::Cell::new(-1), std::cell::Cell::new(0));
        let rest = || {
            rank.set(3);
            calls.set(calls.get() + 1);
            format!("reading {}", calls.get())
        };
        assert_eq!(at_one_moment(|| rank.get(), rest), "reading 2");
    }
}
