//! The settings of a run: what `dumpi.conf`, the environment and the defaults say together.
//!
//! One table ([`options::OPTIONS`]) holds every option. The reader of the file, the environment variables, the
//! dump of the settings in force, the text that carries rank 0's settings to the other ranks and
//! `docs/user/settings.md` are all made from it. Syntax and DUMPI's own keys are those of SST-DUMPI 13.0.0
//! (`spec/dumpi-conf.md` sections 1 to 3), MPE's variables those of `spec/clog2.md` section 15.
//!
//! A bad line must never hurt the traced program: it gives a [`Complaint`], the value that is in force without
//! it is used, and the program runs on. Nothing here panics, aborts, writes to stderr or talks to MPI. The module
//! needs nothing but `std` and the names of classes, so that the fuzzer can include it as well as the recorder.
//!
//! ```ignore
//! let (settings, complaints) = Settings::of_process(&|name| table::has(name));
//! for complaint in &complaints {
//!     eprintln!("{complaint}");
//! }
//! let text = settings.to_text(); // rank 0 sends this in MPI_Finalize …
//! let (settings, _) = Settings::from_text(&text); // … and the other ranks write files by it
//! ```

#![allow(
    dead_code,
    reason = "recorder and command each use a part of the table's interface"
)]

mod complaint;
#[cfg(test)]
mod docs;
mod filters;
pub(crate) mod in_force;
mod names;
mod options;
mod read;
mod sets;
mod suggest;
#[cfg(test)]
mod tests;
mod values;

#[allow(unused_imports, reason = "as above")]
pub use self::{
    complaint::{Complaint, Matter, Place},
    filters::{Pcontrol, Polling},
    names::{Names, array_task, expand, is_of_job, job_id, shortened},
    options::{OPTIONS, Settings, SettingsOption},
    sets::{Debug, Outputs, Tracing},
    values::{AtLimit, CallIds, ClockSync, Conversions, DumpSignal, Posix, Setting, Timestamp},
};

use std::{
    ffi::{CString, OsStr},
    fs::{Metadata, OpenOptions},
    io,
    io::Read,
    os::unix::{
        ffi::OsStrExt,
        fs::{FileTypeExt, MetadataExt, OpenOptionsExt},
    },
    path::Path,
};
use wrappers::Class;

/// Largest configuration file that is read, in bytes; what is larger is something else.
const LARGEST_FILE: u64 = 1 << 20;

impl Settings {
    /// How the text begins that [`Settings::to_text`] gives.
    pub const FIRST_LINE: &str = "# settings in force";

    /// The settings of this process, from its environment and its file (see [`Settings::load`]), with a complaint
    /// also for each `TRACE_…` variable that looks like one of ours misspelt; and whether `tmpdir` was chosen for the recorder,
    /// not only by what is customary.
    ///
    /// `known` says whether a name is that of an MPI function.
    pub fn of_process(known: &dyn Fn(&str) -> bool) -> (Settings, Vec<Complaint>, bool) {
        let env = |name: &str| {
            let value = std::env::var_os(name)?;
            // What systems set for everybody is no order: a folder that is not there is not meant.
            let is_folder = !options::is_customary(name) || is_usable_folder(&value);
            is_folder.then(|| value.to_string_lossy().into_owned())
        };
        let reader = Settings::ordered(&env, &read_file, known);
        let tmpdir_is_ordered = reader.is_set("tmpdir");
        let (settings, mut complaints) = Settings::with_customs(reader, &env);
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        complaints.extend(suggest::misspelt_variables(names));
        (settings, complaints, tmpdir_is_ordered)
    }

    /// The settings that environment, configuration file and defaults give, in this order of precedence:
    ///
    /// 1. `TRACE_<KEY>` of each option, then the variables of MPE that mean the same,
    /// 2. `TRACE_SETTINGS`, configuration lines separated by `;` or line ends,
    /// 3. the configuration file: `$TRACE_CONF`, else `$DUMPI_CONF`, else `dumpi.conf` in the working directory;
    ///    one that cannot be read is complained of and the next is taken. They are never merged,
    /// 4. variables that are merely customary (`TMPDIR`, `TMP`, `TEMP`), of which [`Settings::of_process`] passes over those
    ///    that name no folder to write to,
    /// 5. the defaults.
    ///
    /// `env` gives a variable's value, `read` a file's bytes, `known` says whether a name is that of an MPI function.
    pub fn load(
        env: &dyn Fn(&str) -> Option<String>,
        read: &dyn Fn(&Path, Asked) -> io::Result<Vec<u8>>,
        known: &dyn Fn(&str) -> bool,
    ) -> (Settings, Vec<Complaint>) {
        Settings::with_customs(Settings::ordered(env, read, known), env)
    }

    /// Reads the sources that are meant for the recorder.
    fn ordered<'a>(
        env: &dyn Fn(&str) -> Option<String>,
        read: &dyn Fn(&Path, Asked) -> io::Result<Vec<u8>>,
        known: &'a dyn Fn(&str) -> bool,
    ) -> read::Reader<'a> {
        let mut reader = read::Reader::new(known);
        reader.variables(env, options::Strength::OverFile);
        if let Some(lines) = env("TRACE_SETTINGS") {
            reader.lines(&Place::Variable("TRACE_SETTINGS".into()), &lines);
        }
        reader.configuration(env, read);
        reader
    }

    /// Ends with what systems set for everybody.
    fn with_customs(
        mut reader: read::Reader<'_>,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> (Settings, Vec<Complaint>) {
        reader.variables(env, options::Strength::UnderFile);
        reader.finish()
    }

    /// The settings that a text in the syntax of `dumpi.conf` gives, without file or environment; names of functions are
    /// not checked. `from_text(&s.to_text())` gives `s`.
    pub fn from_text(text: &str) -> (Settings, Vec<Complaint>) {
        let mut reader = read::Reader::new(&|_| true);
        reader.lines(&Place::Text, text);
        reader.finish()
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

/// Who wants a configuration file to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The user, by its name.
    ByName,
    /// Nobody: it is in the working directory, where somebody else may have put it.
    ByNobody,
}

/// Whether files can be made in this folder.
fn is_usable_folder(path: &OsStr) -> bool {
    let Ok(name) = CString::new(path.as_bytes()) else {
        return false;
    };
    // SAFETY: a NUL-terminated path.
    Path::new(path).is_dir() && unsafe { libc::access(name.as_ptr(), libc::W_OK | libc::X_OK) } == 0
}

/// The bytes of a configuration file of sensible size. What is no file may make whoever opens or reads it wait for ever, so it
/// is opened without waiting, and only a regular file is read (or the null device, which stands for an empty one).
fn read_file(path: &Path, asked: Asked) -> io::Result<Vec<u8>> {
    if asked == Asked::ByNobody {
        // A link counts as what its owner says; what it leads to is looked at below.
        is_own(&path.symlink_metadata()?, false).map_err(untrusted)?;
    }
    let mut bytes = Vec::new();
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    let metadata = file.metadata()?;
    let is_null = metadata.file_type().is_char_device() && metadata.rdev() == libc::makedev(1, 3);
    if !metadata.is_file() && !is_null {
        let error = "a pipe, a device or a folder, not a configuration file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
    }
    if asked == Asked::ByNobody {
        is_own(&metadata, true).map_err(untrusted)?;
    }
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_FILE {
        let error = "larger than 1 MiB, not a configuration file";
        return Err(io::Error::new(io::ErrorKind::InvalidData, error));
    }
    Ok(bytes)
}

fn untrusted(why: &str) -> io::Error {
    let error = format!("{why}: it counts only if TRACE_CONF names it");
    io::Error::new(io::ErrorKind::PermissionDenied, error)
}

/// Whether a file is this user's own or root's, and nobody else can have `written` it. A group of the user's number is taken
/// for the user's own, as systems that give everyone a group number them.
fn is_own(metadata: &Metadata, written: bool) -> Result<(), &'static str> {
    // SAFETY: asks for numbers, and cannot fail.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    let own_group = group == user && metadata.gid() == group;
    let others = if own_group { 0o002 } else { 0o022 };
    match () {
        () if metadata.uid() != user && metadata.uid() != 0 => Err("another user's file"),
        () if written && metadata.mode() & others != 0 => Err("a file that others can write to"),
        () => Ok(()),
    }
}
