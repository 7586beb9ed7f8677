//! The process as a whole: its settings, its block file, its threads, and whether it records now. All of it is off the hot
//! path.

pub(crate) mod dump;
pub(crate) mod first;
pub(crate) mod life;
#[cfg(sessions)]
pub(crate) mod process_set;
pub(crate) mod sessions;
pub(crate) mod start;

use crate::api::dumpi;
use crate::api::functions::{self, Functions};
use crate::blocks::fill::{begin_block, private_block, reserve_calls};
use crate::blocks::retire;
use crate::blocks::thread::{self, Busy, Places, Thread};
use crate::blocks::{self, Block, Store};
use crate::call::filter;
use crate::call::hidden;
use crate::call::poll::Row;
use crate::call::{CPU_TIME, FILTERED, HIDDEN, MODE, OFF, ON, SAMPLED, SUCCESS};
use crate::counters;
use crate::define;
use crate::mpi::functions::{CLASSES, COUNT, FAMILY, FINGERPRINT, MOVES_MESSAGES, NAMES};
use crate::mpi::table;
use crate::platform::floating::SetAside;
use crate::platform::folder::Folders;
use crate::platform::host;
use crate::platform::launcher;
use crate::platform::signals::HeldBack;
use crate::platform::{clock, environment, say};
use crate::posix;
use crate::process::start::World;
use crate::settings::{self, AtLimit, Conversions, Pcontrol, Polling, Setting, Settings};
use blockfile::layout::{BLOCK_SIZE, FILE_MAGIC, FileHeader, VERSION};
use parking_lot::{Mutex, RwLock};
use std::cell::Cell;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

static STORE: OnceLock<Option<Store>> = OnceLock::new();
static NEXT_CALL: AtomicU64 = AtomicU64::new(1);
static NEXT_THREAD: AtomicU32 = AtomicU32::new(0);
/// Whether recording is wanted now (`trace_off`, MPI_Pcontrol).
static WANTED: AtomicBool = AtomicBool::new(true);
/// Whether the program has switched recording: the settings then no longer say whether it is on.
static SWITCHED: AtomicBool = AtomicBool::new(false);
/// Why there is no block file.
static NO_STORE: Mutex<String> = Mutex::new(String::new());
static SETTINGS: RwLock<Option<Settings>> = RwLock::new(None);

thread_local! {
    /// Set while this thread is setting things up, so that MPI calls made by that are passed through.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Whether the thread is inside the recorder.
pub fn inside() -> bool {
    INSIDE.try_with(Cell::get).unwrap_or(true)
}

/// Runs `f` with the recorder switched off for this thread, the program's floating-point environment set aside, and the
/// signal of too large files held back.
pub fn within<T>(f: impl FnOnce() -> T) -> T {
    let _program = (SetAside::new(), HeldBack::new());
    let _busy = Busy::new(thread::current());
    let before = INSIDE.replace(true);
    let value = f();
    INSIDE.set(before);
    value
}

/// The settings in force.
pub fn settings() -> Settings {
    SETTINGS.read().clone().unwrap_or_default()
}

/// Whether handle conversions are recorded; asked before there may be settings.
pub fn records_conversions() -> bool {
    match SETTINGS.read().as_ref() {
        Some(settings) => settings.conversions == Conversions::Record,
        None => environment::var("TRACE_CONVERSIONS").is_some_and(|v| v == "record"),
    }
}

/// The block file; `None` when nothing can be recorded.
pub fn store() -> Option<&'static Store> {
    STORE.get().and_then(Option::as_ref)
}

/// Why there is no block file.
pub fn why_no_store() -> String {
    NO_STORE.lock().clone()
}

/// What the block file of a process without calls would be.
pub fn empty_file(world: &World) -> Vec<u8> {
    let mut header = FileHeader {
        magic: FILE_MAGIC,
        version: VERSION,
        family: FAMILY as u32,
        table: FINGERPRINT,
        clock: clock::source() as u32,
        counter_bits: AtomicU32::new(64 - rank_bits(&settings(), world.size as u32)),
        pid: std::process::id(),
        rank: AtomicU32::new(world.rank as u32),
        size: AtomicU32::new(world.size as u32),
        ended: AtomicU32::new(1),
        blocks: AtomicU64::new(0),
        lost: AtomicU64::new(0),
        run: AtomicU64::new(world.run),
        dropped: AtomicU64::new(0),
    };
    let mut file = vec![0; BLOCK_SIZE];
    // SAFETY: a header consists of numbers, and the file is longer.
    unsafe {
        std::ptr::copy_nonoverlapping(
            (&raw mut header).cast::<u8>(),
            file.as_mut_ptr(),
            size_of::<FileHeader>(),
        );
    }
    file
}

/// The CallID of this process's call `number`.
pub fn callid(number: u64) -> u64 {
    let Some(header) = store().map(Store::header) else {
        return number;
    };
    let rank = match header.rank.load(Relaxed) {
        u32::MAX => 0,
        rank => u64::from(rank),
    };
    rank << header.counter_bits.load(Relaxed) | number
}

/// Bits of a CallID that the rank takes among so many ranks: as many as the settings say, if no two ranks have the same ones.
fn rank_bits(settings: &Settings, ranks: u32) -> u32 {
    let needed = u32::BITS - ranks.saturating_sub(1).leading_zeros();
    settings.rank_bits.max(needed)
}

/// The rank is known, and the number of ranks: threads put it into the CallIDs that others see.
pub fn rank_is_known() {
    if let Some(store) = store() {
        let header = store.header();
        let ranks = header.size.load(Relaxed);
        let settings = settings();
        let bits = rank_bits(&settings, ranks);
        header.counter_bits.store(64 - bits, Relaxed);
        store.write_header();
        if bits != settings.rank_bits && header.rank.load(Relaxed) == 0 && !settings.quiet {
            say::line(&format!(
                "trace: rank-bits {} has no room for {ranks} ranks: {bits} bits of each CallID are the rank",
                settings.rank_bits
            ));
        }
    }
    for thread in thread::all() {
        // SAFETY: states live until the process ends; this part of them is atomic.
        let rank = unsafe { &(*thread.as_ptr()).rank };
        rank.store(callid(0), Relaxed);
    }
    set_modes();
}

/// The rank in MPI_COMM_WORLD, before MPI_Init as the launcher tells it.
fn rank() -> Option<u32> {
    let known = store().map(|store| store.header().rank.load(Relaxed));
    known
        .filter(|&rank| rank != u32::MAX)
        .or_else(launcher::rank)
}

/// The first of the next `n` numbers of calls.
pub fn next_calls(n: u64) -> u64 {
    NEXT_CALL.fetch_add(n, Relaxed)
}

/// CallIDs given out so far, over all threads.
pub fn calls_given_out() -> u64 {
    thread::all()
        .map(|thread| {
            // SAFETY: states live until the process ends; a call that another thread begins now may be missed.
            let t = unsafe { thread.as_ref() };
            t.reserved - (t.call_limit - t.next_call)
        })
        .sum()
}

/// Takes new settings: this process's own at its first call, and again when the program changes them.
pub fn apply(mut settings: Settings) {
    dumpi::add_to(&mut settings);
    CPU_TIME.store(settings.timestamp.cpu(), Relaxed);
    counters::apply(&settings.counters);
    crate::call::set_unusual();
    if let Some(store) = store() {
        store.set_limit(settings.disk_limit.unwrap_or(u64::MAX));
    }
    if !SWITCHED.load(Relaxed) {
        WANTED.store(settings.start, Relaxed);
    }
    posix::apply(&settings);
    filter::apply(&settings);
    functions::apply(&settings);
    *SETTINGS.write() = Some(settings);
    set_modes();
}

/// The program has changed settings. Before its first call there are none that could change.
pub fn apply_again() {
    let settings = SETTINGS.read().clone();
    if let Some(settings) = settings {
        apply(settings);
    }
}

/// Switches recording on or off for the whole process, also before there are settings.
pub fn want(on: bool) {
    SWITCHED.store(true, Relaxed);
    WANTED.store(on, Relaxed);
    set_modes();
}

/// Whether recording is switched on.
pub fn wanted() -> bool {
    WANTED.load(Relaxed)
}

/// Whether MPI_Pcontrol is obeyed.
pub fn obeys_pcontrol() -> bool {
    let settings = SETTINGS.read();
    settings
        .as_ref()
        .is_none_or(|s| s.pcontrol == Pcontrol::Obey)
}

/// Sets for each function what becomes of its calls.
pub fn set_modes() {
    let settings = SETTINGS.read();
    let Some(settings) = settings.as_ref() else {
        return;
    };
    let sampled = match settings.polling {
        Polling::Sample => SAMPLED,
        Polling::All => 0,
    };
    let flags = filter::flag(settings) | sampled;
    // Of a rank that is not chosen there are no messages that could be drawn.
    let is_chosen = filter::is_of_chosen_rank(settings, rank());
    hidden::apply(settings, is_chosen, filter::cuts(settings) || !wanted());
    let on = wanted() && filter::is_open() && is_chosen;
    posix::switch(on);
    functions::switch(on);
    for (function, mode) in MODE.iter().enumerate() {
        let name = NAMES[function].to_str().unwrap_or("P");
        let name = name.strip_prefix('P').unwrap_or(name);
        let off = match hidden::is_on() && MOVES_MESSAGES[function] {
            true => HIDDEN | FILTERED,
            false => OFF,
        };
        let value = match settings.setting_of(name, CLASSES[function]) {
            _ if !on || filter::has_enough(function) => off,
            Setting::Disable => off,
            Setting::Success => SUCCESS | flags,
            Setting::Enable => ON | flags,
        };
        mode.store(value, Relaxed);
    }
}

/// Loads this process's own settings and opens the block file, at the first MPI call.
fn open() -> Option<Store> {
    if environment::is_untrusted() {
        stop("a program with rights that its user has not");
        return None;
    }
    clock::init();
    crate::call::set_unusual();
    clock::read_first();
    environment::set_home();
    let (settings, complaints, tmpdir_is_ordered) = Settings::of_process(&is_known);
    for complaint in &complaints {
        crate::platform::say::on_first_rank(&complaint.to_string());
    }
    apply(settings.clone());
    let fill = |header: &mut FileHeader| {
        header.magic = FILE_MAGIC;
        header.version = VERSION;
        header.family = FAMILY as u32;
        header.table = FINGERPRINT;
        header.clock = clock::source() as u32;
        header.counter_bits.store(64 - settings.rank_bits, Relaxed);
        header.pid = std::process::id();
        header.rank.store(u32::MAX, Relaxed);
    };
    let newest = settings.at_disk_limit == AtLimit::Newest;
    // A process that has executed another program keeps its number, and its file is there.
    let make = |folder: &PathBuf| {
        let path = block_path(folder)?;
        let tries = (0..100).map(|n| match n {
            0 => path.clone(),
            n => path.with_extension(format!("{n}.blocks")),
        });
        let mut result = Err(format!("{}: exists", path.display()));
        for path in tries {
            match Store::create(&path, settings.blocks / BLOCK_SIZE as u64, newest, fill) {
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                made => {
                    result = made.map_err(|e| format!("{}: {e}", path.display()));
                    break;
                }
            }
        }
        result
    };
    let folders = Folders::of(&settings, tmpdir_is_ordered);
    let mut made = Err(String::new());
    for folder in &folders.choice {
        made = make(folder);
        if made.is_ok() {
            break;
        }
    }
    match made {
        Ok(store) => {
            let folder = store.path().parent().unwrap_or(Path::new(""));
            if let Some(notice) = folders.notice(folder).filter(|_| !settings.quiet) {
                crate::platform::say::on_first_rank(&notice);
            }
            store.set_limit(settings.disk_limit.unwrap_or(u64::MAX));
            crate::process::dump::install(settings.dump_signal);
            Some(store)
        }
        Err(why) => {
            // Rank 0 says it at the end, if there is an end; this rank says it now, if it is the first one.
            crate::platform::say::on_first_rank(&format!(
                "trace: {why} (on {}): nothing is recorded, the program runs on",
                host::host()
            ));
            stop(&why);
            None
        }
    }
}

/// Nothing is recorded in this process, for the reason that MPI_Finalize tells.
fn stop(why: &str) {
    why.clone_into(&mut NO_STORE.lock());
    MODE.iter().for_each(|m| m.store(OFF, Relaxed));
    WANTED.store(false, Relaxed);
    functions::switch(false);
}

/// Whether a function of this name exists in the table or in `mpi.h`.
pub fn is_known(name: &str) -> bool {
    NAMES
        .iter()
        .any(|n| n.to_str().is_ok_and(|n| n.strip_prefix('P') == Some(name)))
        || name.starts_with("MPIO_")
        || table::table().is_some_and(|t| t.get(name).is_some())
}

fn block_path(folder: &Path) -> Result<PathBuf, String> {
    let rank = launcher::rank().unwrap_or(0);
    let program = host::program().replace(|c: char| c.is_control(), "_");
    let name = format!(
        "libtrace.{}.{rank}.{}.blocks",
        settings::shortened(&program),
        std::process::id()
    );
    let path = folder.join(name);
    // Made absolute now, because the program may change its directory.
    std::path::absolute(&path).map_err(|e| format!("{}: {e}", path.display()))
}

/// Makes the state of the running thread, and of the process at its first call. Null when nothing can be recorded.
pub fn start_thread() -> *mut Thread {
    within(|| {
        let Some(store) = STORE
            .get_or_init(|| {
                let store = open();
                if store.is_some() {
                    crate::process::life::at_first_call();
                }
                store
            })
            .as_ref()
        else {
            return std::ptr::null_mut();
        };
        begin_thread(store, false)
    })
}

/// Makes the state of a thread that has never called MPI, at its first call on a file. It may have been interrupted by a signal
/// anywhere but in the recorder, in the allocator, say. Null when nothing can be recorded.
#[cold]
pub fn adopt_thread() -> *mut Thread {
    // The line of the process is that of its first MPI call.
    let is_first = NEXT_THREAD.load(Relaxed) == 0;
    match store() {
        Some(store) if !is_first && !inside() => within(|| begin_thread(store, true)),
        _ => std::ptr::null_mut(),
    }
}

/// Gives the running thread a state, and with `anywhere` takes no memory from the allocator for it.
fn begin_thread(store: &'static Store, anywhere: bool) -> *mut Thread {
    // SAFETY: asks for a number.
    let tid = unsafe { libc::syscall(libc::SYS_gettid) } as u64;
    if let Some(mut idle) = retire::take() {
        // SAFETY: a state that lives until the process ends, from here on this thread's own.
        let t = unsafe { idle.as_mut() };
        t.tid = tid;
        t.counters_ended = false;
        thread::set_current(t);
        retire::watch(t, anywhere);
        return t;
    }
    let Some(places) = blocks::memory(size_of::<Places>()) else {
        return std::ptr::null_mut();
    };
    let places = places.cast::<Places>().as_ptr();
    let number = NEXT_THREAD.fetch_add(1, Relaxed);
    // SAFETY: fresh zeroed memory, aligned to a page, that stays for good; each part of it is lent once.
    let (ignored, row, unseen) = unsafe {
        (&raw mut (*places).row).write(Row::new());
        (
            &mut (*places).ignored,
            &mut (*places).row,
            &(*places).unseen,
        )
    };
    let state = Thread {
        depth: 0,
        // Until it is set up.
        busy: 1,
        number,
        tid,
        at: std::ptr::null_mut(),
        end: std::ptr::null_mut(),
        block: Block::private(NonNull::dangling()),
        private: None,
        time_base: 0,
        call_base: 0,
        next_call: 0,
        call_limit: 0,
        reserved: 0,
        sequence: 0,
        cpu: 0,
        counters: None,
        counters_ended: false,
        functions: Functions::default(),
        before: Vec::new(),
        large: Vec::new(),
        hides: false,
        cut: (0, std::ptr::null_mut()),
        discarding: false,
        ignored,
        row,
        store,
        seen: posix::tids::place(tid as u32, unseen),
        rank: AtomicU64::new(callid(0)),
        before_this: std::ptr::null_mut(),
    };
    // SAFETY: as above; nobody else knows of it.
    let t = unsafe {
        (&raw mut (*places).state).write(state);
        &mut (*places).state
    };
    let block = store.take();
    t.discarding = block.is_none();
    t.block = block.unwrap_or_else(|| private_block(t));
    reserve_calls(t);
    begin_block(t, clock::now(), t.next_call, (0, 0, 0));
    thread::register(t);
    thread::set_current(t);
    retire::watch(t, anywhere);
    if number == 0 {
        define::process(t);
    }
    t.busy = 0;
    t
}

/// Number of calls that were counted and not recorded, by function, over all threads; lost records of threads whose memory is
/// thrown away are counted now.
pub fn ignored() -> Vec<u64> {
    let mut sum = vec![0; COUNT];
    for thread in thread::all() {
        // SAFETY: states live until the process ends; a racing increment of a thread still inside MPI may be missed.
        let thread = unsafe { thread.as_ref() };
        for (s, n) in sum.iter_mut().zip(thread.ignored.iter()) {
            *s += n;
        }
    }
    sum
}

/// Functions of the program that were recorded, and that were not because there were too many, over all threads.
pub fn functions() -> (u64, u64) {
    let mut sum = (0, 0);
    for thread in thread::all() {
        // SAFETY: states live until the process ends; what a thread records now may be missed.
        let functions = unsafe { &thread.as_ref().functions };
        sum.0 += functions.recorded;
        sum.1 += functions.beyond;
    }
    sum
}

/// The running call's CallID without its rank field; 0 outside MPI.
pub fn running_call() -> u64 {
    let t = thread::current();
    if t.is_null() {
        return 0;
    }
    // SAFETY: the state of the running thread and its own block.
    unsafe {
        let header = (*t).block.header();
        if (*header).open_function.load(Relaxed) == 0 {
            0
        } else {
            (*header).open_call.load(Relaxed)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rank_in_a_call_id_has_room_for_all_ranks() {
        let wide = |rank_bits| Settings {
            rank_bits,
            ..Settings::default()
        };
        for (rank_bits, ranks, expected) in [
            (24, 0, 24),
            (8, 1, 8),
            (8, 256, 8),
            (8, 257, 9),
            (8, 1 << 20, 20),
            (24, u32::MAX, 32),
        ] {
            assert_eq!(super::rank_bits(&wide(rank_bits), ranks), expected);
        }
    }
}
