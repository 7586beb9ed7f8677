//! libdumpi's API under its own names (`spec/dumpi-conf.md` section 4): settings by calls of the program. They hold over those
//! of files and variables, also when called before MPI_Init; what holds for all ranks is what rank 0 says.

use crate::blocks::own;
use crate::call::modes;
use crate::lifecycle::apply::apply_again;
use crate::lifecycle::asked::{self, AskedSettings};
use crate::lifecycle::state;
use crate::mpi::functions::{COUNT, NAMES, NUMBERS};
use crate::thread::registry;
use crate::thread::within::within;
use blockfile::define::SkippedPolls;
use blockfile::file::BlockFile;
use settings::Setting;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use trace_formats::dumpi::functions::{self, ALL_FUNCTIONS};

/// Calls by DUMPI's numbers, the sum of all at the end.
static COUNTS: [AtomicU32; ALL_FUNCTIONS as usize + 1] =
    [const { AtomicU32::new(0) }; ALL_FUNCTIONS as usize + 1];

/// DUMPI_DISABLE, DUMPI_SUCCESS; DUMPI_ALWAYS and DUMPI_ENABLE.
fn setting(number: c_int) -> Setting {
    match number {
        0 => Setting::Disable,
        1 => Setting::Success,
        _ => Setting::Enable,
    }
}

fn change(change: impl FnOnce(&mut AskedSettings)) {
    within(|| {
        asked::change(change);
        apply_again();
    });
}

/// Switches recording off: calls are counted only.
#[unsafe(no_mangle)]
pub extern "C" fn libdumpi_disable_profiling() {
    modes::want(false);
}

/// Switches recording on; settings of single functions stay.
#[unsafe(no_mangle)]
pub extern "C" fn libdumpi_enable_profiling() {
    modes::want(true);
}

/// The setting of the function with this number in DUMPI files; 290 is the master switch.
#[unsafe(no_mangle)]
pub extern "C" fn libdumpi_set_profiling(function: c_int, what: c_int) {
    let Ok(id) = u16::try_from(function) else {
        return;
    };
    if id == ALL_FUNCTIONS {
        modes::want(setting(what) != Setting::Disable);
    } else if let Some(function) = functions::by_id(id).filter(|_| id < ALL_FUNCTIONS) {
        let name = function.name.to_owned();
        change(|set| {
            set.functions.insert(name, setting(what));
        });
    }
}

/// Sets the prefix of the names of DUMPI files. MPI_Init reads it. NULL is ignored.
///
/// # Safety
/// `root` is NULL or a string that ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libdumpi_set_output(root: *const c_char) {
    if root.is_null() || state::is_running() {
        return;
    }
    // SAFETY: by the caller.
    let root = unsafe { CStr::from_ptr(root) }
        .to_string_lossy()
        .into_owned();
    change(|set| set.root = Some(root));
}

/// Sets which statuses the DUMPI files have.
#[unsafe(no_mangle)]
pub extern "C" fn libdumpi_set_status_output(what: c_int) {
    change(|set| set.statuses = Some(setting(what)));
}

/// 291 numbers: calls by DUMPI's numbers, recorded or not, and their sum. They are brought up to date by this call, which reads
/// what has been recorded.
#[unsafe(no_mangle)]
pub extern "C" fn libdumpi_call_counts() -> *const u32 {
    within(count);
    COUNTS.as_ptr().cast()
}

/// Counts the calls of all threads so far.
fn count() {
    let mut calls = vec![0u64; usize::from(blockfile::record::FUNCTION) + 1];
    for (index, ignored) in registry::ignored().into_iter().enumerate() {
        calls[usize::from(NUMBERS[index])] += ignored;
    }
    if let Some(store) = own::store()
        // SAFETY: as in MPI_Finalize: only what threads have committed is read.
        && let Ok(contents) = unsafe { store.read() }
        && let Ok(file) = BlockFile::new(contents.bytes())
    {
        for thread in file.threads() {
            let mut records = thread.records();
            while let Some(record) = records.next() {
                let (function, counted) = match SkippedPolls::of(&record) {
                    Some(skipped) => (skipped.function, skipped.calls),
                    None => (record.function, u64::from(record.is_call())),
                };
                if let Some(calls) = calls.get_mut(usize::from(function)) {
                    *calls += counted;
                }
            }
        }
    }
    let ids = ids();
    let mut sums = [0u64; ALL_FUNCTIONS as usize + 1];
    for index in 0..COUNT {
        let name = NAMES[index].to_str().unwrap_or_default();
        let name = name.strip_prefix('P').unwrap_or(name);
        let number = calls[usize::from(NUMBERS[index])];
        if let Some(&id) = ids.get(name) {
            sums[usize::from(id)] += number;
            sums[usize::from(ALL_FUNCTIONS)] += number;
        }
    }
    for (place, sum) in COUNTS.iter().zip(sums) {
        place.store(u32::try_from(sum).unwrap_or(u32::MAX), Relaxed);
    }
}

/// DUMPI's numbers of functions by name; a large-count form counts as its small form.
fn ids() -> BTreeMap<String, u16> {
    let mut ids = BTreeMap::new();
    for function in wrappers::table().iter().flat_map(|table| &table.functions) {
        if let Some(id) = function.dumpi {
            ids.insert(function.name.clone(), id);
        }
    }
    let large: Vec<(String, u16)> = ids
        .iter()
        .map(|(name, id)| (format!("{name}_c"), *id))
        .collect();
    for (name, id) in large {
        ids.entry(name).or_insert(id);
    }
    ids
}
