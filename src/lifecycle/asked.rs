//! Settings that the program asks for by calls (libdumpi's API). They hold over those of files and variables, also when they are
//! asked for before there are any.

use parking_lot::Mutex;
use settings::{Setting, Settings};
use std::collections::BTreeMap;

/// Settings that the program has made.
static ASKED: Mutex<AskedSettings> = Mutex::new(AskedSettings {
    functions: BTreeMap::new(),
    root: None,
    statuses: None,
});

/// Settings that the program has asked for.
pub struct AskedSettings {
    /// Settings of single functions, by their MPI names.
    pub functions: BTreeMap<String, Setting>,
    /// Prefix of the names of DUMPI files.
    pub root: Option<String>,
    /// Statuses that the DUMPI files have.
    pub statuses: Option<Setting>,
}

/// Changes what the program asks for.
pub fn change(change: impl FnOnce(&mut AskedSettings)) {
    change(&mut ASKED.lock());
}

/// Puts what the program has asked for into `settings`.
pub fn add_to(settings: &mut Settings) {
    let asked = ASKED.lock();
    for (name, setting) in &asked.functions {
        settings.functions.insert(name.clone(), *setting);
    }
    if let Some(root) = &asked.root {
        settings.fileroot = root.clone();
    }
    if let Some(statuses) = asked.statuses {
        settings.statuses = statuses;
    }
}
