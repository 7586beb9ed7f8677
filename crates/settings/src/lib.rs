//! The settings of a run: what `dumpi.conf`, the environment and the defaults say together.
//!
//! One table ([`options::OPTIONS`]) holds every option. The reader of the file, the environment variables, the
//! dump of the settings in force, the text that carries rank 0's settings to the other ranks and
//! `docs/user/settings.md` are all made from it. Syntax and DUMPI's own keys are those of SST-DUMPI 13.0.0
//! (`spec/dumpi-conf.md` sections 1 to 3), MPE's variables those of `spec/clog2.md` section 15.
//!
//! A bad line must never hurt the traced program: it gives a [`Complaint`], the value that is in force without
//! it is used, and the program runs on. Nothing here panics, aborts, writes to stderr or talks to MPI. The module
//! is used by the recorder and by the command.
//!
//! ```
//! use settings::Settings;
//! let loaded = Settings::of_process(&|name| name == "MPI_Send");
//! for complaint in &loaded.complaints {
//!     eprintln!("{complaint}");
//! }
//! let text = loaded.settings.to_text(); // rank 0 sends this in MPI_Finalize …
//! let (settings, _) = Settings::from_text(&text); // … and the other ranks write files by it
//! assert_eq!(settings, loaded.settings);
//! ```
#![deny(missing_docs)]

mod complaint;
#[cfg(test)]
mod docs;
mod files;
mod filters;
mod loaded;
mod names;
mod options;
mod read;
mod sets;
mod suggest;
#[cfg(test)]
mod tests;
mod values;

pub use self::{
    complaint::{Complaint, ComplaintKind, SettingPlace},
    files::{ConfigurationFile, ConfigurationOrigin, FileState, SITE_FILE},
    filters::{Pcontrol, Polling},
    loaded::LoadedSettings,
    names::{NameValues, array_task, expand, is_of_job, job_id, shortened},
    options::{OPTIONS, OTHER_VARIABLES, Settings, SettingsOption},
    sets::{AnnotationTracing, DebugSet, MAX_DUMPI_RANKS, OutputSet},
    suggest::nearest_key,
    values::{
        AtLimit, CallIds, ClockSync, Conversions, DumpSignal, MergeWay, Posix, Setting, Timestamp,
    },
};

use files::{is_usable_folder, read_file};
use std::{ffi::OsString, io, path::Path};
use wrappers::Class;

/// A complaint for each variable of this process's environment that sets options and whose value is no UTF-8 text.
fn variables_without_text() -> impl Iterator<Item = Complaint> {
    let is_option = |name: &str| {
        let mut others = OPTIONS.iter().flat_map(|option| option.variables);
        let is_other = others.any(|variable| variable.name == name);
        OPTIONS.iter().any(|option| option.variable() == name)
            || (is_other && !options::is_customary(name))
    };
    let names = std::env::vars_os()
        .filter(|(_, value)| value.to_str().is_none())
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(move |name| name == "TRACE_SETTINGS" || is_option(name));
    names.map(|name| Complaint {
        place: SettingPlace::Variable(name),
        matter: ComplaintKind::NotUtf8,
        used: String::new(),
    })
}

impl Settings {
    /// First line of the text from [`Settings::to_text`].
    pub const FIRST_LINE: &str = "# settings in force";

    /// The settings of this process, from its environment and its files (see [`Settings::load`]), with a complaint
    /// also for each `TRACE_…` variable that looks like one of ours misspelt.
    ///
    /// `known` says whether a name is that of an MPI function.
    pub fn of_process(known: &dyn Fn(&str) -> bool) -> LoadedSettings {
        let mut loaded = Settings::of_child(&[], known);
        loaded.complaints.extend(variables_without_text());
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        loaded.complaints.extend(suggest::misspelt_variables(names));
        loaded
    }

    /// The settings of a process that this one starts in its working directory, with these variables besides its own.
    pub fn of_child(
        variables: &[(OsString, OsString)],
        known: &dyn Fn(&str) -> bool,
    ) -> LoadedSettings {
        let env = |name: &str| {
            let own = variables.iter().find(|(variable, _)| variable == name);
            let own = own.map(|(_, value)| value.clone());
            let value = own.or_else(|| std::env::var_os(name))?;
            match options::is_customary(name) {
                // A value that systems set for everybody is no order: a folder that does not exist, or whose name is no text, is not meant.
                true => value
                    .into_string()
                    .ok()
                    .filter(|value| is_usable_folder(value.as_ref())),
                false => Some(value.to_string_lossy().into_owned()),
            }
        };
        Settings::load(&env, &read_file, known)
    }

    /// The settings that environment, configuration files and defaults give. For each option, the strongest source that sets it
    /// counts; the strongest comes first:
    ///
    /// 1. `TRACE_<KEY>` of each option, then the variables of MPE that mean the same,
    /// 2. `TRACE_SETTINGS`, configuration lines separated by `;` or line ends,
    /// 3. the file of the run: `$TRACE_CONF`, else `$DUMPI_CONF`, else `dumpi.conf` in the working directory;
    ///    one that cannot be read is complained of and the next is taken,
    /// 4. the file of the user: `$XDG_CONFIG_HOME/libtrace.conf`, else `~/.config/libtrace.conf`,
    /// 5. the file of the site: [`SITE_FILE`],
    /// 6. variables that are merely customary (`TMPDIR`, `TMP`, `TEMP`), of which [`Settings::of_process`] passes over those
    ///    that name no folder to write to,
    /// 7. the defaults.
    ///
    /// `env` gives a variable's value, `read` a file's bytes, `known` says whether a name is that of an MPI function.
    pub fn load(
        env: &dyn Fn(&str) -> Option<String>,
        read: &dyn Fn(&Path, ConfigurationOrigin) -> io::Result<Vec<u8>>,
        known: &dyn Fn(&str) -> bool,
    ) -> LoadedSettings {
        let mut reader = read::SettingsReader::new(known);
        reader.variables(env, options::VariableStrength::OverFile);
        if let Some(lines) = env("TRACE_SETTINGS") {
            reader.lines(&SettingPlace::Variable("TRACE_SETTINGS".into()), &lines);
        }
        reader.configuration(env, read);
        reader.variables(env, options::VariableStrength::UnderFile);
        reader.finish()
    }

    /// The settings that a text in the syntax of `dumpi.conf` gives, without file or environment; names of functions are
    /// not checked. `from_text(&s.to_text())` gives `s`.
    pub fn from_text(text: &str) -> (Settings, Vec<Complaint>) {
        let mut reader = read::SettingsReader::new(&|_| true);
        reader.lines(&SettingPlace::Text, text);
        let loaded = reader.finish();
        (loaded.settings, loaded.complaints)
    }

    /// The options that have other values than the defaults, as lines of a `dumpi.conf`; empty if there are none. What is set for single functions
    /// is not among them.
    pub fn changes(&self) -> String {
        let defaults = Settings::default();
        let changed = OPTIONS.iter().flat_map(|option| {
            let (values, usual) = ((option.get)(self), (option.get)(&defaults));
            let values = if values == usual { Vec::new() } else { values };
            values.into_iter().map(|value| (option.key, value))
        });
        changed.fold(String::new(), |text, (key, value)| {
            text + &format!("{key} {value}\n")
        })
    }

    /// The settings as a `dumpi.conf` that gives exactly these, one line per value; what differs from the default has
    /// the default behind it as a comment.
    pub fn to_text(&self) -> String {
        let defaults = Settings::default();
        let mut text = format!("{}\n", Settings::FIRST_LINE);
        for option in OPTIONS {
            let (values, usual) = ((option.get)(self), (option.get)(&defaults));
            for (index, value) in values.iter().enumerate() {
                text += &format!("{:<14} {value}", option.key);
                if index == 0 && values != usual {
                    let usual = if usual.is_empty() {
                        "none".into()
                    } else {
                        usual.join(" ")
                    };
                    text += &format!("    # default: {usual}");
                }
                text.push('\n');
            }
        }
        for (name, setting) in &self.functions {
            text += &format!("{name} {setting}\n");
        }
        text
    }

    /// The setting of the MPI function `name` of that class: its own if the file names it, that of `MPI_X` for a large-count
    /// form `MPI_X_c` that is not named itself, else that of the class, else that of `MPI_Default`.
    pub fn setting_of(&self, name: &str, class: Option<Class>) -> Setting {
        self.functions
            .get(name)
            .or_else(|| self.functions.get(name.strip_suffix("_c")?))
            .or_else(|| self.class.get(&class?))
            .copied()
            .unwrap_or(self.default_function)
    }
}
