//! What a rank writes into its blocks before they are read at the end.

use crate::api::functions;
use crate::define;
use crate::mpi::functions::NUMBERS;
use crate::thread::records::{self, put_definition};
use crate::thread::registry;
use crate::thread::state::Thread;
use blockfile::define::Definition;

/// Writes definitions that need no other rank before the records are read: clocks, and calls that were not recorded.
pub fn own_last_words(t: &mut Thread) {
    define::clocks(t);
    functions::last_words(t);
    for (index, calls) in registry::ignored().into_iter().enumerate() {
        if calls > 0 {
            put_definition(
                t,
                &Definition::Ignored {
                    function: NUMBERS[index],
                    calls,
                },
            );
        }
    }
    if t.discarding {
        records::count_lost(t);
    }
}
