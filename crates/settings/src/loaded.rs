//! What reading all sources of settings gives.

use super::{
    complaint::{Complaint, SettingPlace},
    files::ConfigurationFile,
    options::{self, Settings},
};
use std::collections::BTreeMap;

/// Settings as all their sources give them, and where each comes from.
#[derive(Clone, Debug)]
pub struct LoadedSettings {
    /// The settings in force.
    pub settings: Settings,
    /// Faults in the sources.
    pub complaints: Vec<Complaint>,
    /// Where each option and each function that a source sets was set first, by its key. Options that are not in here have
    /// their default.
    pub origins: BTreeMap<String, SettingPlace>,
    /// The configuration files that were looked for, the strongest first.
    pub files: Vec<ConfigurationFile>,
}

impl LoadedSettings {
    /// Whether an option was set for the recorder, and not only by a variable that systems set for everybody.
    pub fn is_ordered(&self, key: &str) -> bool {
        self.origins.get(key).is_some_and(|place| match place {
            SettingPlace::Variable(name) => !options::is_customary(name),
            _ => true,
        })
    }
}
