//! What is the same for all processes of a run: what their calls mean, and how they are drawn.

use crate::categories::{Categories, NumberedCategories};
use crate::function_set::FunctionSet;
use crate::plan::{self, Plan};
use blockfile::layout::Family;
use blockfile::record::{FIRST_DEFINITION, FIRST_UNKNOWN};
use std::collections::BTreeMap;
use trace_formats::clog2::Preamble;
use trace_formats::clog2::states::{CallIds, States};
use wrappers::Table;

/// What is the same for all processes of a run: what their calls mean, and how they are drawn.
#[derive(Debug)]
pub struct Schema<'t> {
    /// By number of the function, what a call of it means.
    pub plans: Vec<Plan<'t>>,
    /// States of all functions.
    pub states: States,
    /// What the programs tell of themselves.
    pub user: NumberedCategories,
    /// Number of MPI_Cancel.
    pub cancel: Option<u16>,
}

impl<'t> Schema<'t> {
    /// For records made with `table`. `unknown` names functions outside it, those of all ranks.
    pub fn new(
        table: &'t Table,
        family: Family,
        call_ids: CallIds,
        unknown: &BTreeMap<u16, String>,
    ) -> Schema<'t> {
        Schema {
            plans: plan::plans(table, family),
            states: States::new(table, call_ids, FIRST_UNKNOWN..FIRST_DEFINITION, unknown),
            user: NumberedCategories::default(),
            cancel: table.get("MPI_Cancel").map(|f| f.id as u16),
        }
    }

    /// With what the programs tell of themselves: what all ranks have agreed on. `recover` says that the run was killed.
    pub fn with_categories(mut self, categories: &Categories, recover: bool) -> Schema<'t> {
        self.user = NumberedCategories::new(categories, self.states.user_states(), recover);
        self.states.make_room(self.user.pairs(), self.user.solo());
        self
    }

    /// States of all functions.
    pub fn states(&self) -> &States {
        &self.states
    }

    /// Preamble of a merged file of `ranks` ranks with at most `threads` threads each, in which there are calls of
    /// `functions`.
    pub fn preamble(&self, ranks: u32, threads: u32, functions: &FunctionSet) -> Preamble {
        Preamble {
            max_comm_world_size: ranks.max(1),
            max_thread_count: threads.max(1),
            user_state_id_count: self.states.user_states(),
            user_solo_event_id_count: self.user.solo() + i32::from(functions.has_annotations()),
            ..Preamble::default()
        }
    }
}
