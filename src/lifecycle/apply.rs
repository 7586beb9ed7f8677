//! Puts settings and the rank into force everywhere in the recorder.

use crate::blocks::own::store;
use crate::call::filter;
use crate::call::modes;
use crate::call::path;
use crate::counters;
use crate::define::views;
use crate::in_force;
use crate::lifecycle::asked;
use crate::platform::clock::READS_CPU_TIME;
use crate::platform::say;
use crate::posix;
use crate::thread::all;
use crate::thread::callids::callid;
use crate::thread::program_functions;
use settings::Settings;
use std::sync::atomic::Ordering::Relaxed;

/// Takes new settings: this process's own at its first call, and again when the program changes them.
pub fn apply(mut settings: Settings) {
    asked::add_to(&mut settings);
    READS_CPU_TIME.store(settings.timestamp.cpu(), Relaxed);
    counters::apply(&settings.counters);
    path::choose();
    if let Some(store) = store() {
        store.set_limit(settings.disk_limit.unwrap_or(u64::MAX));
    }
    modes::start_as(&settings);
    posix::apply(&settings, modes::wanted());
    views::apply(&settings);
    filter::apply(&settings);
    program_functions::apply(&settings, modes::wanted());
    in_force::put(settings);
    modes::set();
}

/// The program has changed settings. Before its first call there are none that could change.
pub fn apply_again() {
    let settings = in_force::with(|settings| settings.cloned());
    if let Some(settings) = settings {
        apply(settings);
    }
}

/// Bits of a CallID that the rank takes among so many ranks: as many as the settings say, if no two ranks have the same ones.
pub fn rank_bits(settings: &Settings, ranks: u32) -> u32 {
    let needed = u32::BITS - ranks.saturating_sub(1).leading_zeros();
    settings.rank_bits.max(needed)
}

/// The rank is known, and the number of ranks: threads put it into the CallIDs that others see.
pub fn rank_is_known() {
    if let Some(store) = store() {
        let header = store.header();
        let ranks = header.size.load(Relaxed);
        let settings = in_force::copy();
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
    for thread in all() {
        // SAFETY: states live until the process ends; this part of them is atomic.
        let rank = unsafe { &(*thread.as_ptr()).rank };
        rank.store(callid(0), Relaxed);
    }
    modes::set();
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
