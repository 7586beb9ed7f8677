//! Messages about wrong settings, each in one line: where it stands, what stands there, what is allowed, what is used.

use std::{fmt, path::PathBuf};

/// One thing wrong in the configuration file or the environment. `Display` gives one line for stderr.
#[derive(Clone, Debug, PartialEq)]
pub struct Complaint {
    /// Place of the setting.
    pub place: SettingPlace,
    /// The error.
    pub matter: ComplaintKind,
    /// The value in force instead, when all sources have been read; empty where none is concerned.
    pub used: String,
}

/// Place of a setting: a line of the file or a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingPlace {
    /// A file, named as it was opened, and the line counted from 1 (0: the file as a whole).
    File(PathBuf, u32),
    /// An environment variable.
    Variable(String),
    /// A text given by the program itself ([`super::Settings::from_text`]).
    Text,
}

impl SettingPlace {
    /// This source at line `line`; a variable has no lines.
    pub(super) fn at_line(&self, line: u32) -> SettingPlace {
        match self {
            SettingPlace::File(path, _) => SettingPlace::File(path.clone(), line),
            other => other.clone(),
        }
    }

    /// Whether both are in the same file, variable or text.
    pub(super) fn same_source(&self, other: &SettingPlace) -> bool {
        self.at_line(0) == other.at_line(0)
    }
}

/// Error in a line or a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum ComplaintKind {
    /// The value is none of those allowed.
    Value {
        /// Key of the option, as it stands there.
        key: String,
        /// The value that stands there.
        value: String,
        /// The values that are allowed.
        allowed: String,
    },
    /// The key stands alone.
    NoValue {
        /// Key of the option, as it stands there.
        key: String,
        /// The values that are allowed.
        allowed: String,
    },
    /// No option and no MPI function has this name.
    UnknownKey {
        /// The key or variable that stands there.
        key: String,
        /// The nearest name that exists.
        suggestion: Option<String>,
    },
    /// The key stood before with another value; the first one holds.
    Repeated {
        /// Key of the option.
        key: String,
        /// The later value.
        value: String,
        /// Place of the first one.
        first: SettingPlace,
    },
    /// More words than key and value; they are left out of account.
    ExtraWords {
        /// Key of the option.
        key: String,
        /// The words behind its value.
        words: String,
    },
    /// The file was named or found and cannot be read.
    Unreadable {
        /// Error of the system.
        error: String,
    },
    /// The file holds bytes that are not UTF-8, first at this line, or the variable does; U+FFFD stands for them.
    NotUtf8,
    /// So many further complaints are left out.
    More(usize),
}

impl fmt::Display for SettingPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingPlace::File(path, 0) => write!(f, "{}", one_line(&path.to_string_lossy())),
            SettingPlace::File(path, line) => {
                write!(f, "{}:{line}", one_line(&path.to_string_lossy()))
            }
            SettingPlace::Variable(name) => write!(f, "{}", one_line(name)),
            SettingPlace::Text => write!(f, "settings"),
        }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (place, used) = (&self.place, one_line(&self.used));
        write!(f, "trace: {place}: ")?;
        match &self.matter {
            ComplaintKind::Value {
                key,
                value,
                allowed,
            } => {
                let (key, value) = (one_line(key), one_line(value));
                write!(f, "{key} '{value}': allowed are {allowed}; using {used}")
            }
            ComplaintKind::NoValue { key, allowed } => {
                let key = one_line(key);
                write!(f, "{key} has no value: allowed are {allowed}; using {used}")
            }
            ComplaintKind::UnknownKey { key, suggestion } => {
                write!(f, "unknown key '{}', left out", one_line(key))?;
                match suggestion {
                    Some(name) => write!(f, "; did you mean {name}?"),
                    None => Ok(()),
                }
            }
            ComplaintKind::Repeated { key, value, first } => {
                let (key, value) = (one_line(key), one_line(value));
                write!(
                    f,
                    "{key} '{value}': given already at {first}, the first one holds; using {used}"
                )
            }
            ComplaintKind::ExtraWords { key, words } => {
                let (key, words) = (one_line(key), one_line(words));
                write!(
                    f,
                    "{key}: '{words}' behind the value is left out (a comment begins with #); using {used}"
                )
            }
            ComplaintKind::Unreadable { error } => {
                write!(f, "cannot be read: {}; using {used}", one_line(error))
            }
            ComplaintKind::NotUtf8 => {
                write!(f, "not UTF-8 text; unreadable characters are replaced")
            }
            ComplaintKind::More(count) => write!(f, "{count} further complaints left out"),
        }
    }
}

/// `text` fit for one line of a terminal: control characters escaped, cut when it is long.
fn one_line(text: &str) -> String {
    const MAX_BYTES: usize = 120;
    let mut line = String::new();
    for (index, c) in text.chars().enumerate() {
        if index == MAX_BYTES {
            line.push('…');
            break;
        }
        if c.is_control() {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    line
}
