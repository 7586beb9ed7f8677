//! The settings in force in this process: none before its first MPI call, others when the program changes them.

use settings::Settings;
use std::sync::{PoisonError, RwLock};

static IN_FORCE: RwLock<Option<Settings>> = RwLock::new(None);

/// Puts settings in force.
pub fn put(settings: Settings) {
    *IN_FORCE.write().unwrap_or_else(PoisonError::into_inner) = Some(settings);
}

/// A copy of the settings in force; the defaults where there are none yet.
pub fn copy() -> Settings {
    with(|settings| settings.cloned()).unwrap_or_default()
}

/// Result of `look` on the settings in force; `look` gets `None` before there are any.
pub fn with<T>(look: impl FnOnce(Option<&Settings>) -> T) -> T {
    look(
        IN_FORCE
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .as_ref(),
    )
}
