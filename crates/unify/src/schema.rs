//! Description common to all processes of a run: the meaning of their calls, and how they are drawn.

use crate::categories::{NumberedCategories, UserCategories};
use crate::function_set::FunctionSet;
use crate::plan::{self, FunctionPlan};
use blockfile::layout::Family;
use blockfile::record::{FIRST_DEFINITION, FIRST_UNKNOWN};
use std::collections::BTreeMap;
use trace_formats::clog2::Preamble;
use trace_formats::clog2::states::{CallIdDisplay, FunctionStates};
use wrappers::Table;

/// Description common to all processes of a run: the meaning of their calls and the categories they are drawn in.
#[derive(Debug)]
pub struct Schema<'t> {
    /// Meaning of the calls of each function, by number of the function.
    pub plans: Vec<FunctionPlan<'t>>,
    /// States of all functions.
    pub states: FunctionStates,
    /// Categories of the program's own events.
    pub user: NumberedCategories,
    /// Number of MPI_Cancel.
    pub cancel: Option<u16>,
}

impl<'t> Schema<'t> {
    /// A schema for records made with `table`. `unknown` holds the names of functions outside the table, of all ranks.
    pub fn new(
        table: &'t Table,
        family: Family,
        call_ids: CallIdDisplay,
        unknown: &BTreeMap<u16, String>,
    ) -> Schema<'t> {
        Schema {
            plans: plan::plans(table, family),
            states: FunctionStates::new(table, call_ids, FIRST_UNKNOWN..FIRST_DEFINITION, unknown),
            user: NumberedCategories::default(),
            cancel: table.get("MPI_Cancel").map(|f| f.id as u16),
        }
    }

    /// The schema with the program's own categories that all ranks have agreed on. `recover`: the run was killed.
    pub fn with_categories(mut self, categories: &UserCategories, recover: bool) -> Schema<'t> {
        self.user = NumberedCategories::new(categories, self.states.user_states(), recover);
        self.states.make_room(self.user.pairs(), self.user.solo());
        self
    }

    /// The schema whose states tell in SLOG2 what an analysis of waits needs, as `table` has it.
    pub fn with_details(mut self, table: &Table) -> Schema<'t> {
        self.states.add_details(table);
        self
    }

    /// States of all functions.
    pub fn states(&self) -> &FunctionStates {
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
