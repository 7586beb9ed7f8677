//! Ranks that ask again and again whether what they wait for has come.

use analysis::correctness::{CorrectnessPass, rank_list, ranks_in_words};
use blockfile::layout::Family;
use blockfile::record::Record;
use std::collections::{BTreeMap, HashMap};
use unify::polls::is_vain;
use wrappers::{Function, PollOutcome};

/// The functions by which threads asked last and got nothing, by thread.
#[derive(Default)]
pub(super) struct LatestPolls<'t>(HashMap<u32, &'t str>);

/// Whether it asks for something that other ranks do.
pub(super) fn asks(function: &Function) -> bool {
    !matches!(function.vain(), None | Some(PollOutcome::Always))
}

impl<'t> LatestPolls<'t> {
    /// Takes the next call of a thread.
    pub(super) fn take(
        &mut self,
        thread: u32,
        function: &'t Function,
        family: Family,
        record: &Record<'_>,
    ) {
        if function.vain() == Some(PollOutcome::Always) {
            return;
        }
        if asks(function) && is_vain(function, family, record) {
            self.0.insert(thread, function.name.as_str());
        } else {
            self.0.remove(&thread);
        }
    }

    /// The function by which a thread has asked since its latest other call, or since it got something.
    pub(super) fn of(&self, thread: u32) -> Option<&'t str> {
        self.0.get(&thread).copied()
    }
}

/// Says which ranks ask again and again, by function: whom they wait for is not followed, as they may do other work meanwhile.
pub(super) fn note(pass: &mut CorrectnessPass, asking: BTreeMap<&str, Vec<u32>>) {
    for (function, mut ranks) in asking {
        ranks.sort_unstable();
        // Several threads of a rank may ask.
        ranks.dedup();
        let ranks = ranks_in_words(&rank_list(ranks));
        pass.note_unchecked(format!(
            "whom {ranks} waited for, who asked again and again by {function}: taken for able to go on"
        ));
    }
}
