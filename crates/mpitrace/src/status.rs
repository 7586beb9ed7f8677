//! `mpitrace status`: what the ranks of a running program are doing, read from their block files. The program does not notice.

use crate::block_files::folders;
use crate::block_files::found::{self, is_block_file};
use crate::block_files::machine_clock;
use crate::block_files::snapshot::is_writing;
use crate::failure::Failure;
use crate::trace_files::input::OpenedInput;
use blockfile::define::{Definition, FUNCTION};
use blockfile::file::{BlockFile, BlockFileInfo, ThreadBlocks};
use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::os::unix::fs::DirEntryExt;
use std::path::{Path, PathBuf};
use wrappers::Table;

/// Show which MPI calls a running program is in
///
/// Each thread of each rank has one line: the call it is in, for how long, and the CallID. The command reads the block
/// files, which are memory shared with the program. It sends no signal and needs no debugger, and it works on a program
/// that hangs.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace status                                 what was started from here
  mpitrace status /tmp                            all ranks on this machine whose block files are there
  mpitrace status 4711                            one process")]
pub struct Arguments {
    /// Folders with block files, block files, or process IDs [default: the folders in which a program started here puts
    /// its block files]
    #[arg(value_name = "DIR|FILE.blocks|PID")]
    inputs: Vec<PathBuf>,
    /// Also show processes that have ended
    #[arg(long)]
    ended: bool,
    /// Also show processes of other users whose block files are in a folder
    #[arg(long)]
    any_owner: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let table = wrappers::table().map_err(|error| Failure::Data(error.to_string()))?;
    let mut text = String::new();
    let mut lines = Vec::new();
    let usual = match arguments.inputs.is_empty() {
        true => folders::usual()
            .into_iter()
            .filter(|folder| folder.is_dir())
            .collect(),
        false => Vec::new(),
    };
    let inputs = [&arguments.inputs[..], &usual].concat();
    for path in files(&inputs, arguments.any_owner)? {
        // A file that goes away meanwhile is of a program that has just ended.
        let Ok(input) = OpenedInput::open_regular(&path) else {
            continue;
        };
        let Some(ProcessStatus {
            info,
            mut threads,
            is_steady,
        }) = look(&input, table)
        else {
            continue;
        };
        if !is_steady {
            threads += "  the file kept changing: its lines may be of several moments\n";
        }
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
    let mut out = crate::terminal::stdout();
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

/// State of a process as its block file shows it.
struct ProcessStatus {
    info: BlockFileInfo,
    /// A line for each thread.
    threads: String,
    /// Whether all of it is of one moment.
    is_steady: bool,
}

/// Reads a block file that may be written to meanwhile; `None` if it is none.
fn look(input: &OpenedInput, table: &Table) -> Option<ProcessStatus> {
    // Of the header what MPI_Init changes; counts of lost calls go up all the time.
    let rank = || {
        let info = input.blocks().ok()?.info();
        Some((info.rank, info.size, info.run))
    };
    let (read, is_steady) = at_one_moment(rank, || {
        let file = input.blocks().ok()?;
        Some((file.info(), threads(&file, table)))
    });
    let (info, threads) = read?;
    Some(ProcessStatus {
        info,
        threads,
        is_steady,
    })
}

/// Most tries to read a file that changes while it is read. A header changes a few times in the life of a program; a process that
/// changes it all the time is no recorder.
const MAX_READ_ATTEMPTS: usize = 100;

/// Reads a header and what stands behind it, again until the header was the same before and after: a program that runs on may
/// come out of MPI_Init in between, and the answer would belong to two moments. Gives what was read last, and whether it is of
/// one moment: after [`MAX_READ_ATTEMPTS`] it may not be.
fn at_one_moment<H: PartialEq, T>(
    mut header: impl FnMut() -> H,
    mut rest: impl FnMut() -> T,
) -> (T, bool) {
    let mut before = header();
    let mut tries = 0;
    loop {
        let found = rest();
        let after = header();
        tries += 1;
        let is_steady = before == after;
        if is_steady || tries == MAX_READ_ATTEMPTS {
            return (found, is_steady);
        }
        before = after;
    }
}

/// The line of a process.
fn who(path: &Path, info: &BlockFileInfo, running: bool) -> String {
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
fn threads(file: &BlockFile<'_>, table: &Table) -> String {
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
        if let Some(seconds) = machine_clock::seconds_since(info.clock, open.start) {
            let _ = write!(text, " for {seconds:.3} s");
        }
        let call = info.call_id(open.call);
        let _ = writeln!(text, " (CallID {call:#x})");
    }
    text
}

/// Name of a function outside the table.
fn unknown(thread: &ThreadBlocks<'_>, number: u16) -> Option<String> {
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
    use blockfile::layout::{
        BLOCK_MAGIC, BLOCK_SIZE, BlockHeader, FILE_MAGIC, FileHeader, VERSION,
    };
    use std::mem::offset_of;
    use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};

    #[test]
    fn header_and_threads_belong_to_one_moment() {
        // MPI_Init returns while the threads are read for the first time.
        let (rank, calls) = (std::cell::Cell::new(-1), std::cell::Cell::new(0));
        let rest = || {
            rank.set(3);
            calls.set(calls.get() + 1);
            format!("reading {}", calls.get())
        };
        let (found, is_steady) = at_one_moment(|| rank.get(), rest);
        assert_eq!((found.as_str(), is_steady), ("reading 2", true));
    }

    #[test]
    fn a_header_that_never_rests_is_told() {
        let changes = std::cell::Cell::new(0);
        let header = || changes.replace(changes.get() + 1);
        let (_, is_steady) = at_one_moment(header, || ());
        assert!(!is_steady);
        assert_eq!(changes.get(), MAX_READ_ATTEMPTS + 1);
    }

    /// A block file of one thread, mapped as the recorder has it.
    fn block_file(path: &Path) -> memmap2::MmapMut {
        let mut bytes = vec![0u8; 2 * BLOCK_SIZE];
        let numbers: [(usize, &[u8]); 8] = [
            (offset_of!(FileHeader, magic), &FILE_MAGIC),
            (offset_of!(FileHeader, version), &VERSION.to_ne_bytes()),
            (offset_of!(FileHeader, family), &1u32.to_ne_bytes()),
            (offset_of!(FileHeader, clock), &1u32.to_ne_bytes()),
            (offset_of!(FileHeader, counter_bits), &40u32.to_ne_bytes()),
            (offset_of!(FileHeader, size), &u32::MAX.to_ne_bytes()),
            (offset_of!(FileHeader, blocks), &1u64.to_ne_bytes()),
            (BLOCK_SIZE, &BLOCK_MAGIC.to_ne_bytes()),
        ];
        for (at, number) in numbers {
            bytes[at..at + number.len()].copy_from_slice(number);
        }
        let at = BLOCK_SIZE + offset_of!(BlockHeader, open_function);
        bytes[at..at + 4].copy_from_slice(&1u32.to_ne_bytes());
        fs::write(path, bytes).expect("own folder");
        let file = fs::File::options().read(true).write(true).open(path);
        // SAFETY: nobody shortens the file.
        unsafe { memmap2::MmapMut::map_mut(&file.expect("just made")) }.expect("a mapping")
    }

    /// The rank and the call that it makes are of one moment, also while the file changes: a thread counts the rank up
    /// in the header, and then the call in the block, as MPI_Init does before anything is called as that rank.
    #[test]
    fn a_file_that_changes_meanwhile_is_read_at_one_moment() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("libtrace.x.0.1.blocks");
        let map = block_file(&path);
        let table = wrappers::table().expect("the table");
        let input = OpenedInput::open_regular(&path).expect("the file");
        let place = |at: usize| map[at..].as_ptr();
        let rank = place(offset_of!(FileHeader, rank)) as usize;
        let call = place(BLOCK_SIZE + offset_of!(BlockHeader, open_call)) as usize;
        let is_over = AtomicBool::new(false);
        let mut steady = 0;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // SAFETY: places in the mapping, which outlives this thread, aligned as the header is.
                let (rank, call) =
                    unsafe { (&*(rank as *const AtomicU32), &*(call as *const AtomicU64)) };
                for n in 1.. {
                    rank.store(n, SeqCst);
                    call.store(n.into(), SeqCst);
                    if is_over.load(SeqCst) {
                        break;
                    }
                    // Readings fall between two changes and into them.
                    for _ in 0..20_000 {
                        std::hint::spin_loop();
                    }
                }
            });
            for _ in 0..2000 {
                let seen = look(&input, table).expect("a block file");
                if !seen.is_steady {
                    continue;
                }
                steady += 1;
                let (_, id) = seen.threads.rsplit_once("CallID 0x").expect("a call");
                let id = u64::from_str_radix(id.trim_end().trim_end_matches(')'), 16);
                let call = id.expect("a number") & ((1 << 40) - 1);
                let rank = seen.info.rank as u64;
                assert!(
                    call == rank || call + 1 == rank,
                    "rank {rank} in call {call}"
                );
            }
            is_over.store(true, SeqCst);
        });
        assert!(steady > 100, "{steady} readings of one moment");
    }
}
