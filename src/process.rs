//! The process's side of recording: the block file, its threads, and what happens when a block is full. All of it is off
//! the hot path.

use crate::blocks::{Block, Store};
use crate::call::{CPU_TIME, MODE, OFF, ON, SUCCESS};
use crate::clock;
use crate::define;
use crate::generated::{COUNT, FAMILY, NAMES};
use crate::settings::{Conversions, Setting, Settings};
use crate::start::World;
use crate::thread::{self, Thread};
use parking_lot::{Mutex, RwLock};
use records::define::{ClockReading, Definition, TIME_BASE};
use records::encode::{Cursor, Head};
use records::layout::{
    BLOCK_HEADER, BLOCK_MAGIC, BLOCK_SIZE, BlockHeader, FILE_MAGIC, FileHeader, VERSION,
};
use records::record::Base;
use records::{define::FRAGMENT, record};
use std::cell::Cell;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

/// CallIDs that a thread reserves at a time.
const CALLS: u64 = 1024;
/// Room at the end of a block for the records that set new bases.
const BASE_RECORD: usize = record::HEAD + 16;

static STORE: OnceLock<Option<Store>> = OnceLock::new();
static NEXT_CALL: AtomicU64 = AtomicU64::new(1);
static NEXT_THREAD: AtomicU32 = AtomicU32::new(0);
static THREADS: Mutex<Vec<Registered>> = Mutex::new(Vec::new());
/// Whether recording is wanted now (`trace_off`, MPI_Pcontrol).
static WANTED: AtomicBool = AtomicBool::new(true);
/// Why there is no block file.
static NO_STORE: Mutex<String> = Mutex::new(String::new());
/// Where the program ran at its first MPI call: relative names count from there, wherever it goes later.
static HOME: OnceLock<PathBuf> = OnceLock::new();
static FIRST_READING: OnceLock<ClockReading> = OnceLock::new();
static SETTINGS: RwLock<Option<Settings>> = RwLock::new(None);

/// A thread's state that lives until the process ends, because Finalize adds up all threads' counters.
struct Registered(NonNull<Thread>);
// SAFETY: others than the thread itself look at it only when the thread is outside MPI, at Finalize.
unsafe impl Send for Registered {}

thread_local! {
    /// Set while this thread is setting things up, so that MPI calls made by that are passed through.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Whether the thread is inside the recorder.
pub fn inside() -> bool {
    INSIDE.try_with(Cell::get).unwrap_or(true)
}

/// Runs `f` with the recorder switched off for this thread.
pub fn within<T>(f: impl FnOnce() -> T) -> T {
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
        None => std::env::var("TRACE_CONVERSIONS").is_ok_and(|v| v == "record"),
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
        table: crate::generated::FINGERPRINT,
        clock: clock::source() as u32,
        counter_bits: 64 - settings().rank_bits,
        pid: std::process::id(),
        rank: AtomicU32::new(world.rank as u32),
        size: AtomicU32::new(world.size as u32),
        ended: AtomicU32::new(1),
        blocks: AtomicU64::new(0),
        lost: AtomicU64::new(0),
        run: AtomicU64::new(world.run),
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
    rank << header.counter_bits | number
}

/// The process's working directory at its first MPI call.
pub fn home() -> &'static Path {
    HOME.get().map_or(Path::new(""), PathBuf::as_path)
}

/// The first reading of all clocks.
pub fn first_reading() -> ClockReading {
    FIRST_READING.get().copied().unwrap_or_default()
}

/// CallIDs given out so far, over all threads.
pub fn calls_given_out() -> u64 {
    THREADS
        .lock()
        .iter()
        .map(|thread| {
            // SAFETY: states live until the process ends; a call that another thread begins now may be missed.
            let t = unsafe { thread.0.as_ref() };
            t.reserved - (t.call_limit - t.next_call)
        })
        .sum()
}

/// Takes new settings: at the first call this process's own, in MPI_Init those of rank 0.
pub fn apply(settings: Settings) {
    CPU_TIME.store(settings.timestamp.cpu(), Relaxed);
    crate::call::set_unusual();
    if let Some(store) = store() {
        store.set_limit(settings.disk_limit.unwrap_or(u64::MAX));
    }
    WANTED.store(settings.start, Relaxed);
    *SETTINGS.write() = Some(settings);
    set_modes();
}

/// Switches recording on or off for the whole process.
pub fn want(on: bool) {
    WANTED.store(on, Relaxed);
    set_modes();
}

/// Whether recording is switched on.
pub fn wanted() -> bool {
    WANTED.load(Relaxed)
}

fn set_modes() {
    let settings = SETTINGS.read();
    let Some(settings) = settings.as_ref() else {
        return;
    };
    let on = wanted();
    for (function, mode) in MODE.iter().enumerate() {
        let name = NAMES[function].to_str().unwrap_or("P");
        let value = match settings.setting_of(name.strip_prefix('P').unwrap_or(name)) {
            _ if !on => OFF,
            Setting::Disable => OFF,
            Setting::Success => SUCCESS,
            Setting::Enable => ON,
        };
        mode.store(value, Relaxed);
    }
}

/// Loads this process's own settings and opens the block file, at the first MPI call.
fn open() -> Option<Store> {
    clock::init();
    crate::call::set_unusual();
    FIRST_READING.get_or_init(clock::reading);
    HOME.get_or_init(|| std::env::current_dir().unwrap_or_default());
    let (settings, complaints) = Settings::of_process(&is_known);
    for complaint in &complaints {
        crate::say::on_first_rank(&complaint.to_string());
    }
    apply(settings.clone());
    let fill = |header: &mut FileHeader| {
        header.magic = FILE_MAGIC;
        header.version = VERSION;
        header.family = FAMILY as u32;
        header.table = crate::generated::FINGERPRINT;
        header.clock = clock::source() as u32;
        header.counter_bits = 64 - settings.rank_bits;
        header.pid = std::process::id();
        header.rank.store(u32::MAX, Relaxed);
    };
    // A process that has executed another program keeps its number, and its file is there.
    let made = block_path(&settings).and_then(|path| {
        let tries = (0..100).map(|n| match n {
            0 => path.clone(),
            n => path.with_extension(format!("{n}.blocks")),
        });
        let mut result = Err(format!("{}: exists", path.display()));
        for path in tries {
            match Store::create(&path, fill) {
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                made => {
                    result = made.map_err(|e| format!("{}: {e}", path.display()));
                    break;
                }
            }
        }
        result
    });
    match made {
        Ok(store) => Some(store),
        Err(why) => {
            // Rank 0 says it at the end, if there is an end; this rank says it now, if it is the first one.
            crate::say::on_first_rank(&format!(
                "trace: {why}: nothing is recorded, the program runs on"
            ));
            *NO_STORE.lock() = why;
            MODE.iter().for_each(|m| m.store(OFF, Relaxed));
            WANTED.store(false, Relaxed);
            None
        }
    }
}

/// Whether a function of this name exists in the table or in `mpi.h`.
pub fn is_known(name: &str) -> bool {
    NAMES
        .iter()
        .any(|n| n.to_str().is_ok_and(|n| n.strip_prefix('P') == Some(name)))
        || name.starts_with("MPIO_")
        || crate::table::table().is_some_and(|t| t.get(name).is_some())
}

fn block_path(settings: &Settings) -> Result<PathBuf, String> {
    let rank = ["PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"]
        .iter()
        .find_map(|v| std::env::var(v).ok())
        .unwrap_or_else(|| "0".to_owned());
    let name = format!(
        "libtrace.{}.{rank}.{}.blocks",
        define::program(),
        std::process::id()
    );
    let path = Path::new(&settings.tmpdir).join(name);
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
                    crate::life::at_first_call();
                }
                store
            })
            .as_ref()
        else {
            return std::ptr::null_mut();
        };
        let number = NEXT_THREAD.fetch_add(1, Relaxed);
        let thread = Box::new(Thread {
            depth: 0,
            number,
            // SAFETY: asks for a number.
            tid: unsafe { libc::syscall(libc::SYS_gettid) } as u64,
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
            before: Vec::new(),
            large: Vec::new(),
            discarding: false,
            ignored: Box::new([0; COUNT]),
            store,
        });
        let t = Box::leak(thread);
        let block = store.take();
        t.discarding = block.is_none();
        t.block = block.unwrap_or_else(|| private_block(t));
        reserve_calls(t);
        begin_block(t, clock::now());
        THREADS.lock().push(Registered(NonNull::from(&mut *t)));
        thread::set_current(t);
        if number == 0 {
            define::process(t);
        }
        t
    })
}

/// Sets up the header of the block that `t` has just taken.
fn begin_block(t: &mut Thread, now: u64) {
    t.at = t.block.start();
    t.end = t.block.end();
    t.time_base = now;
    t.call_base = t.next_call;
    // SAFETY: the block is this thread's own; readers look at it only once its magic is there.
    unsafe {
        let header = t.block.header();
        // The block may have been in use before; until it is set up, readers must pass it over.
        (*header).magic.withdraw();
        (*header).thread = t.number;
        (*header).sequence = t.sequence;
        (*header).time_base = t.time_base;
        (*header).call_base = t.call_base;
        (*header).tid = t.tid;
        (*header).committed.publish(0);
        (*header).open_function.store(0, Relaxed);
        (*header).magic.publish(BLOCK_MAGIC);
    }
    t.sequence += 1;
}

/// Gives `t` the next numbers for CallIDs.
#[cold]
pub fn reserve_calls(t: &mut Thread) {
    t.next_call = NEXT_CALL.fetch_add(CALLS, Relaxed);
    t.call_limit = t.next_call + CALLS;
    t.reserved += CALLS;
    if t.next_call.wrapping_sub(t.call_base) > u64::from(u32::MAX / 2) && t.sequence > 0 {
        set_base(t, t.time_base, t.next_call);
    }
}

/// Changes to a new block.
fn change_block(t: &mut Thread, now: u64, call: u64) {
    // SAFETY: the thread's own block, which it leaves.
    unsafe { (*t.block.header()).open_function.store(0, Relaxed) };
    if t.discarding {
        count_lost(t);
    }
    // Before the old one is given back, because what takes a block may make system calls, and who intercepts them may ask for
    // the running call, which stands in the thread's block.
    let next = t.store.take();
    if !t.discarding {
        t.store.put_full(t.block);
    }
    t.discarding = next.is_none();
    t.block = next.unwrap_or_else(|| private_block(t));
    begin_block(t, now);
    t.call_base = call;
    // SAFETY: the thread's own block.
    unsafe { (*t.block.header()).call_base = call };
}

/// Memory of the thread's own to write to when the file cannot grow; what is in it is lost.
fn private_block(t: &mut Thread) -> Block {
    *t.private.get_or_insert_with(|| {
        let memory: Box<[u64]> = vec![0; BLOCK_SIZE / 8].into_boxed_slice();
        Block::private(NonNull::from(Box::leak(memory)).cast::<BlockHeader>())
    })
}

/// Counts the records of the private block as lost.
pub fn count_lost(t: &mut Thread) {
    let used = t.at as usize - t.block.start() as usize;
    // SAFETY: the part of the thread's own block that has been written.
    let bytes = unsafe { std::slice::from_raw_parts(t.block.start(), used) };
    let lost = record::Records::new(bytes, record::Base::default())
        .filter(|r| !r.is_definition())
        .count();
    t.store.header().lost.fetch_add(lost as u64, Relaxed);
}

/// Begins a record for which there is no room in the block, or whose head is not the usual one: of a call that took long or
/// failed, or that has CPU times. Gives the place for the arguments.
#[cold]
#[inline(never)]
pub fn begin_oddly(t: &mut Thread, call: OddCall) -> *mut u8 {
    let number = t.next_call - 1;
    let at = make_room(t, call.total, call.start, number);
    let mut word = call.word;
    let mut duration = call.duration as u32;
    // SAFETY: make_room gave room for a head with everything, and the arguments.
    unsafe {
        let mut args = Cursor::new(at.add(record::HEAD));
        if call.duration > u64::from(u32::MAX) {
            word |= record::LONG;
            duration = 0;
            args.i64(call.duration as i64);
        }
        if call.code != 0 {
            word |= record::ERROR;
            args.i32(call.code);
        }
        if CPU_TIME.load(Relaxed) {
            word |= record::CPU;
            args.i64(t.cpu as i64);
            args.i64(clock::cpu() as i64);
        }
        Head {
            word,
            start: call.start.wrapping_sub(t.time_base) as u32,
            duration,
            call: number.wrapping_sub(t.call_base) as u32,
        }
        .write(at, record::HEAD);
        args.position()
    }
}

/// What a record is begun with.
pub struct OddCall {
    /// Function number and flags.
    pub word: u16,
    /// Start, ticks.
    pub start: u64,
    /// Duration, ticks.
    pub duration: u64,
    /// What the call returned.
    pub code: i32,
    /// Most bytes of the record.
    pub total: usize,
}

/// Makes room for a record of at most `total` bytes of call `call` that started at `start`. Gives the place for it: in the
/// thread's block, or in its buffer for large records.
fn make_room(t: &mut Thread, total: usize, start: u64, call: u64) -> *mut u8 {
    let free = |t: &Thread| t.end as usize - t.at as usize;
    if total + BASE_RECORD > free(t) && total + BASE_RECORD <= BLOCK_SIZE - BLOCK_HEADER {
        change_block(t, start, call);
    }
    if start.wrapping_sub(t.time_base) > u64::from(u32::MAX) {
        if free(t) < 2 * BASE_RECORD {
            change_block(t, start, call);
        } else {
            set_base(t, start, call);
        }
    }
    if total <= free(t) {
        return t.at;
    }
    t.large.clear();
    t.large.resize(total, 0);
    t.large.as_mut_ptr()
}

/// Writes a record that sets new bases. There must be room for it.
fn set_base(t: &mut Thread, time: u64, call: u64) {
    let mut payload = [0; 16];
    payload[..8].copy_from_slice(&time.to_ne_bytes());
    payload[8..].copy_from_slice(&call.to_ne_bytes());
    if (t.end as usize - t.at as usize) < BASE_RECORD {
        change_block(t, time, call);
        return;
    }
    let head = Head {
        word: TIME_BASE,
        start: 0,
        duration: 0,
        call: 0,
    };
    put(t, head, &payload);
    t.time_base = time;
    t.call_base = call;
}

/// Appends a record for which there is room.
fn put(t: &mut Thread, head: Head, payload: &[u8]) {
    let size = (record::HEAD + payload.len()).next_multiple_of(4);
    // SAFETY: the caller has made sure of the room; the block is this thread's own.
    unsafe {
        head.write(t.at, size);
        std::ptr::copy_nonoverlapping(payload.as_ptr(), t.at.add(record::HEAD), payload.len());
        t.at = t.at.add(size);
        let committed = t.at as usize - t.block.start() as usize;
        (*t.block.header()).committed.publish(committed as u32);
    }
}

/// Appends a record of any size, in parts if need be. `word` holds function and flags.
fn put_any(t: &mut Thread, mut head: Head, time: u64, code: i32, payload: &[u8]) {
    let call = t.call_base + u64::from(head.call);
    let room = BLOCK_SIZE - BLOCK_HEADER - 2 * record::HEAD - record::HEAD_EXTRA - 64;
    let place = |t: &mut Thread, head: &mut Head, bytes: usize| {
        if (t.end as usize - t.at as usize) < bytes + record::HEAD + 8 {
            change_block(t, time, call);
        }
        head.start = time.wrapping_sub(t.time_base) as u32;
        head.call = call.wrapping_sub(t.call_base) as u32;
    };
    if payload.len() <= room && code == 0 {
        place(t, &mut head, payload.len());
        put(t, head, payload);
        return;
    }
    let mut whole = Vec::with_capacity(payload.len() + 6);
    whole.extend_from_slice(&head.word.to_ne_bytes());
    whole.extend_from_slice(&code.to_ne_bytes());
    whole.extend_from_slice(payload);
    let total = whole.len() as u32;
    head.word = FRAGMENT;
    for (i, part) in whole.chunks(room).enumerate() {
        let mut fragment = Vec::with_capacity(part.len() + 8);
        fragment.extend_from_slice(&total.to_ne_bytes());
        fragment.extend_from_slice(&((i * room) as u32).to_ne_bytes());
        fragment.extend_from_slice(part);
        place(t, &mut head, fragment.len());
        put(t, head, &fragment);
    }
}

/// Publishes the record that stands in the buffer for large ones up to `end`.
#[cold]
pub fn publish_large(t: &mut Thread, end: *const u8) {
    let large = std::mem::take(&mut t.large);
    let used = end as usize - large.as_ptr() as usize;
    let base = Base {
        time: t.time_base,
        call: t.call_base,
    };
    let Some(record) = record::decode_whole(large.get(..used).unwrap_or_default(), base) else {
        return;
    };
    let head = Head {
        word: record.function | if record.in_place { record::IN_PLACE } else { 0 },
        start: 0,
        // Durations beyond 32 bits and CPU times of such giant records are given up.
        duration: u32::try_from(record.duration).unwrap_or(u32::MAX),
        call: record.call.wrapping_sub(t.call_base) as u32,
    };
    put_any(t, head, record.start, record.code, record.payload);
}

/// Writes a definition into the thread's block.
pub fn put_definition(t: &mut Thread, definition: &Definition) {
    let head = Head {
        word: definition.number(),
        start: 0,
        duration: 0,
        call: t.next_call.wrapping_sub(t.call_base) as u32,
    };
    put_any(t, head, clock::now(), 0, &definition.encode());
}

/// As [`put_definition`], for what stands for a moment of the run: its time is exact, and it has the CPU time where calls
/// have it. It must not be larger than a block.
pub fn put_moment(t: &mut Thread, definition: &Definition) {
    let now = clock::now();
    let mut word = definition.number();
    let mut payload = Vec::new();
    if CPU_TIME.load(Relaxed) {
        word |= record::CPU;
        payload.extend_from_slice(&clock::cpu().to_ne_bytes().repeat(2));
    }
    payload.extend_from_slice(&definition.encode());
    make_room(t, record::HEAD + payload.len() + 4, now, t.next_call);
    let head = Head {
        word,
        start: 0,
        duration: 0,
        call: t.next_call.wrapping_sub(t.call_base) as u32,
    };
    put_any(t, head, now, 0, &payload);
}

/// Number of calls that were counted and not recorded, by function, over all threads; lost records of threads whose memory is
/// thrown away are counted now.
pub fn ignored() -> Vec<u64> {
    let mut sum = vec![0; COUNT];
    for thread in THREADS.lock().iter() {
        // SAFETY: states live until the process ends; a racing increment of a thread still inside MPI may be missed.
        let thread = unsafe { thread.0.as_ref() };
        for (s, n) in sum.iter_mut().zip(thread.ignored.iter()) {
            *s += n;
        }
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
