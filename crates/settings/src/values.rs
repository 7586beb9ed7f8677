//! The kinds of values that options have: how each is read, written and described, and the types the recorder
//! sees. Kinds whose values are sets of words are in `sets`.

use std::{fmt, time::Duration};

use super::names::{escape, has_controls};

/// Kind of option value: how it is read from text and written as text.
pub trait OptionKind {
    /// The type of the field in [`super::Settings`].
    type Value;

    /// Whether a key may stand more than once, each value adding to those before (PAPI, tracing, debug).
    const ACCUMULATES: bool = false;

    /// Whether all words of a line belong to the value, not only the first.
    const LIST: bool = false;

    /// Takes `text` into `value`; `None`, and `value` as it was, when the text is not allowed.
    fn take(value: &mut Self::Value, text: &str) -> Option<()>;

    /// The texts that give `value` when they are taken one after the other, beginning with the default.
    fn texts(value: &Self::Value) -> Vec<String>;

    /// Text of the allowed values, for complaints and the documentation.
    fn allowed() -> String;
}

/// Declares an enumeration whose members have one word each, and perhaps others that are taken, too.
macro_rules! words {
    ($(#[doc = $doc:literal])+ $name:ident { $($(#[doc = $about:literal])+ $member:ident $(= $code:literal)? : $word:literal $(| $also:literal)*),+ $(,)? }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[doc = $about])+ $member $(= $code)?),+
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($name::$member => $word),+ })
            }
        }

        impl OptionKind for $name {
            type Value = $name;

            fn take(value: &mut $name, text: &str) -> Option<()> {
                *value = match text { $($word $(| $also)* => $name::$member,)+ _ => return None };
                Some(())
            }

            fn texts(value: &$name) -> Vec<String> {
                vec![value.to_string()]
            }

            fn allowed() -> String {
                [$($word),+].join(", ")
            }
        }
    };
}
pub(super) use words;

words! {
    /// Which time pairs DUMPI records carry; the codes are DUMPI's mask bits.
    Timestamp {
        /// No times.
        None = 0x00: "none",
        /// CPU time.
        Cpu = 0x04: "cpu",
        /// Wall-clock time.
        Wall = 0x08: "wall",
        /// Both.
        Full = 0x0C: "full",
    }
}

impl Timestamp {
    /// Whether the CPU clock has to be read around each call.
    pub fn cpu(self) -> bool {
        matches!(self, Timestamp::Cpu | Timestamp::Full)
    }

    /// Whether DUMPI records carry wall-clock times.
    pub fn wall(self) -> bool {
        matches!(self, Timestamp::Wall | Timestamp::Full)
    }
}

words! {
    /// Treatment of a function's calls, or of statuses; the codes are DUMPI's setting constants and mask bits.
    Setting {
        /// Left out.
        Disable = 0: "disable",
        /// Recorded if the call did what it was asked for: no error, and for tests and probes a true flag.
        Success = 1: "success",
        /// Recorded.
        Enable = 3: "enable",
    }
}

words! {
    /// Whether the clocks of the ranks are compared, and when.
    ClockSync {
        /// Compared in MPI_Finalize.
        Yes: "yes" | "YES" | "true" | "TRUE",
        /// Taken as one clock.
        No: "no" | "NO" | "false" | "FALSE",
        /// Compared in MPI_Finalize, unless it is rank 0's own clock.
        Auto: "auto",
        /// As `Auto`, and in MPI_Init as well.
        Twice: "twice",
    }
}

words! {
    /// Way in which the records of all ranks become one file.
    MergeWay {
        /// As `Parallel` where there are many calls, else as `Tree`.
        Auto: "auto",
        /// Passed on in a binary tree, and written by rank 0.
        Tree: "tree",
        /// Cut by time and written by all ranks.
        Parallel: "parallel",
        /// Not in MPI_Finalize: the block files stay.
        Later: "later",
    }
}

words! {
    /// Which states of CLOG2 and SLOG2 carry the CallID in their info box.
    CallIds {
        /// States of MPI_File calls.
        Io: "io",
        /// All.
        All: "all",
        /// None.
        None: "none",
    }
}

words! {
    /// Whether the handle conversions `MPI_*_c2f`, `MPI_*_f2c` and their like are recorded.
    Conversions {
        /// Recorded.
        Record: "record",
        /// Left out.
        Skip: "skip",
    }
}

words! {
    /// The signal at which a process says what its threads are doing.
    DumpSignal {
        /// None.
        Off: "off",
        /// SIGUSR1.
        Usr1: "USR1" | "SIGUSR1",
        /// SIGUSR2.
        Usr2: "USR2" | "SIGUSR2",
    }
}

words! {
    /// Action when there is no more room for blocks.
    AtLimit {
        /// Recording stops.
        Stop: "stop",
        /// The newest calls take the place of the oldest.
        Newest: "newest",
    }
}

words! {
    /// Which file calls into libc are recorded.
    Posix {
        /// File calls inside MPI_File calls, and those that happen for them later.
        Mpiio: "mpiio",
        /// The program's own as well.
        All: "all",
        /// None.
        Off: "off",
    }
}

/// `yes` or `no`; MPE's spellings of truth values are taken, too.
pub struct YesNo;

/// `on` or `off`, otherwise as [`YesNo`].
pub struct OnOff;

/// `enable` or `disable`, otherwise as [`YesNo`].
pub struct Switch;

/// The truth values as MPE spells them (`spec/clog2.md` section 15), with the words of our own keys.
fn truth(text: &str) -> Option<bool> {
    match text {
        "yes" | "YES" | "true" | "TRUE" | "on" | "enable" | "1" => Some(true),
        "no" | "NO" | "false" | "FALSE" | "off" | "disable" | "0" => Some(false),
        _ => None,
    }
}

/// Gives a kind of truth value its two words.
macro_rules! truth_kind {
    ($name:ident, $yes:literal, $no:literal) => {
        impl OptionKind for $name {
            type Value = bool;

            fn take(value: &mut bool, text: &str) -> Option<()> {
                *value = truth(text)?;
                Some(())
            }

            fn texts(value: &bool) -> Vec<String> {
                vec![if *value { $yes } else { $no }.into()]
            }

            fn allowed() -> String {
                concat!($yes, ", ", $no).into()
            }
        }
    };
}

truth_kind!(YesNo, "yes", "no");
truth_kind!(OnOff, "on", "off");
truth_kind!(Switch, "enable", "disable");

/// A whole number from `MIN` to `MAX`.
pub struct BoundedNumber<const MIN: u32, const MAX: u32>;

impl<const MIN: u32, const MAX: u32> OptionKind for BoundedNumber<MIN, MAX> {
    type Value = u32;

    fn take(value: &mut u32, text: &str) -> Option<()> {
        *value = text.parse().ok().filter(|n| (MIN..=MAX).contains(n))?;
        Some(())
    }

    fn texts(value: &u32) -> Vec<String> {
        vec![value.to_string()]
    }

    fn allowed() -> String {
        format!("{MIN} to {MAX}")
    }
}

/// A number of bytes from `MIN` to `MAX`, a multiple of `STEP`; K, M, G, T stand for powers of 1024.
pub struct BoundedSize<const MIN: u64, const MAX: u64, const STEP: u64>;

/// A [`BoundedSize`], or one word that stands for "no number given": `auto` (`AUTO`) or `0` and `none`.
pub struct MaybeSize<const MIN: u64, const MAX: u64, const AUTO: bool>;

/// The number of bytes that `text` gives.
pub(super) fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['K', 'k', 'M', 'm', 'G', 'g', 'T', 't']);
    let unit = match &text[digits.len()..] {
        "" => 1,
        "K" | "k" => 1 << 10,
        "M" | "m" => 1 << 20,
        "G" | "g" => 1 << 30,
        "T" | "t" => 1 << 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// `bytes` in the largest unit that divides it.
pub(super) fn size_text(bytes: u64) -> String {
    for (unit, letter) in [
        (1 << 40, "T"),
        (1 << 30, "G"),
        (1 << 20, "M"),
        (1 << 10, "K"),
    ] {
        if bytes > 0 && bytes.is_multiple_of(unit) {
            return format!("{}{letter}", bytes / unit);
        }
    }
    bytes.to_string()
}

impl<const MIN: u64, const MAX: u64, const STEP: u64> OptionKind for BoundedSize<MIN, MAX, STEP> {
    type Value = u64;

    fn take(value: &mut u64, text: &str) -> Option<()> {
        *value = size(text).filter(|n| (MIN..=MAX).contains(n) && n.is_multiple_of(STEP))?;
        Some(())
    }

    fn texts(value: &u64) -> Vec<String> {
        vec![size_text(*value)]
    }

    fn allowed() -> String {
        let step = if STEP > 1 {
            format!(", multiples of {STEP}")
        } else {
            String::new()
        };
        format!("{} to {} bytes{step}", size_text(MIN), size_text(MAX))
    }
}

impl<const MIN: u64, const MAX: u64, const AUTO: bool> OptionKind for MaybeSize<MIN, MAX, AUTO> {
    type Value = Option<u64>;

    fn take(value: &mut Option<u64>, text: &str) -> Option<()> {
        let absent = if AUTO {
            text == "auto"
        } else {
            text == "0" || text == "none"
        };
        *value = match absent {
            true => None,
            false => Some(size(text).filter(|n| (MIN..=MAX).contains(n))?),
        };
        Some(())
    }

    fn texts(value: &Option<u64>) -> Vec<String> {
        vec![value.map_or(if AUTO { "auto" } else { "0" }.into(), size_text)]
    }

    fn allowed() -> String {
        let absent = if AUTO { "auto" } else { "0 (none)" };
        format!("{absent}, {} to {} bytes", size_text(MIN), size_text(MAX))
    }
}

/// Whole seconds, or 0 for no limit.
pub struct Seconds;

impl OptionKind for Seconds {
    type Value = Option<Duration>;

    fn take(value: &mut Option<Duration>, text: &str) -> Option<()> {
        let seconds = if text == "none" {
            0
        } else {
            text.parse::<u32>().ok()?
        };
        *value = (seconds > 0).then(|| Duration::from_secs(seconds.into()));
        Some(())
    }

    fn texts(value: &Option<Duration>) -> Vec<String> {
        vec![value.map_or(0, |time| time.as_secs()).to_string()]
    }

    fn allowed() -> String {
        "whole seconds, 0 (none)".into()
    }
}

/// A file or directory name with patterns ([`super::expand`]).
pub struct NamePattern;

impl OptionKind for NamePattern {
    type Value = String;

    fn take(value: &mut String, text: &str) -> Option<()> {
        *value = Some(escape(text)).filter(|name| !name.is_empty() && !has_controls(name))?;
        Some(())
    }

    fn texts(value: &String) -> Vec<String> {
        vec![escape(value)]
    }

    fn allowed() -> String {
        "a name without control characters, with patterns".into()
    }
}

/// A [`NamePattern`], or `none`.
pub struct MaybeName;

impl OptionKind for MaybeName {
    type Value = Option<String>;

    fn take(value: &mut Option<String>, text: &str) -> Option<()> {
        *value = match text {
            "" => return None,
            "none" => None,
            name => Some(Some(escape(name)).filter(|name| !has_controls(name))?),
        };
        Some(())
    }

    fn texts(value: &Option<String>) -> Vec<String> {
        vec![value.as_deref().map_or("none".into(), escape)]
    }

    fn allowed() -> String {
        "none, a file name without control characters, with patterns".into()
    }
}
