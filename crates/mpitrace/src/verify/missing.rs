//! What block files do not have that checks need.

use crate::block_files::groups::RunFiles;
use analysis::correctness::{Check, CorrectnessPass};
use std::collections::BTreeSet;
use unify::scan::Scan;
use wrappers::Table;

/// Says which checks cannot be made of these files.
pub(super) fn say_what_is_missing(
    pass: &mut CorrectnessPass,
    group: &RunFiles<'_>,
    scans: &[Scan],
    table: &Table,
) {
    let missing = group.missing();
    if !missing.is_empty() {
        let why = format!("there is no block file of rank {missing}");
        pass.leave_out(Check::Collectives, &why);
        pass.leave_out(Check::Messages, &why);
        pass.leave_out_windows(&why);
    }
    if scans
        .iter()
        .any(|scan| scan.lost > 0 || scan.info.lost_since.is_some() || scan.info.dropped > 0)
    {
        pass.leave_out_many("calls were lost or given up for newer ones");
    } else if scans.iter().any(|scan| scan.is_cut) {
        pass.leave_out_many("filters of the recorder left out calls");
    } else {
        // Calls that a filter left out, or that callbacks made inside of other calls.
        let ignored: BTreeSet<u16> = scans.iter().flat_map(Scan::ignored_functions).collect();
        for function in ignored {
            if let Some(function) = table.functions.get(usize::from(function)) {
                pass.leave_out_for(function);
            }
        }
    }
}
