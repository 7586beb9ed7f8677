//! The kinds of options whose values are sets or lists of words: outputs, counters, tracing, debug.

use super::{names::escape, values::OptionKind};

/// The files that a run writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputSet {
    /// DUMPI's `.bin` per rank and `.meta`.
    pub dumpi: bool,
    /// Whether to write one CLOG2 file.
    pub clog2: bool,
    /// Whether to write one SLOG2 file.
    pub slog2: bool,
    /// Whether to write an OTF2 archive. It is made of the SLOG2 file, which is written then, too.
    pub otf2: bool,
    /// Whether nobody has asked for these: then what suits the run is written ([`OutputSet::for_ranks`]).
    pub is_auto: bool,
}

/// Ranks above which no DUMPI files are written unless somebody asks for them: so many files in one folder are a burden to a file
/// system.
pub const MAX_DUMPI_RANKS: u32 = 4096;

impl OutputSet {
    /// All that the recorder writes itself.
    pub const ALL: OutputSet = OutputSet {
        dumpi: true,
        clog2: true,
        slog2: true,
        otf2: false,
        is_auto: false,
    };
    /// What is written unless something else is asked for. CLOG2 is twice as large as either of these, and SLOG2 has all that it has for a
    /// viewer.
    pub const AUTO: OutputSet = OutputSet {
        clog2: false,
        is_auto: true,
        ..OutputSet::ALL
    };
    /// None of them.
    pub const NONE: OutputSet = OutputSet {
        dumpi: false,
        clog2: false,
        slog2: false,
        otf2: false,
        is_auto: false,
    };

    /// What is written in a run of so many ranks.
    pub fn for_ranks(self, ranks: u32) -> OutputSet {
        OutputSet {
            dumpi: self.dumpi && !(self.is_auto && ranks > MAX_DUMPI_RANKS),
            ..self
        }
    }

    /// Names of the formats in it, as the setting has them.
    pub fn names(self) -> Vec<&'static str> {
        let named = [
            (self.dumpi, "dumpi"),
            (self.clog2, "clog2"),
            (self.slog2, "slog2"),
            (self.otf2, "otf2"),
        ];
        let wanted = named.iter().filter(|(is_wanted, _)| *is_wanted);
        wanted.map(|(_, name)| *name).collect()
    }
}

impl OptionKind for OutputSet {
    type Value = OutputSet;

    const LIST: bool = true;

    fn take(value: &mut OutputSet, text: &str) -> Option<()> {
        let (mut outputs, mut any, mut none) = (OutputSet::NONE, false, false);
        for word in text.split([',', ' ', '\t']).filter(|word| !word.is_empty()) {
            match word {
                "dumpi" => outputs.dumpi = true,
                "clog2" => outputs.clog2 = true,
                "slog2" => outputs.slog2 = true,
                "otf2" => (outputs.slog2, outputs.otf2) = (true, true),
                "all" => {
                    outputs = OutputSet {
                        otf2: outputs.otf2,
                        ..OutputSet::ALL
                    }
                }
                "auto" => outputs = OutputSet::AUTO,
                "none" => none = true,
                _ => return None,
            }
            any = true;
        }
        // `none` or `auto` beside a format is a contradiction, an empty list says nothing.
        if !any
            || (none && outputs != OutputSet::NONE)
            || (outputs.is_auto && outputs != OutputSet::AUTO)
        {
            return None;
        }
        *value = outputs;
        Some(())
    }

    fn texts(value: &OutputSet) -> Vec<String> {
        let words = value.names();
        vec![if value.is_auto {
            "auto".into()
        } else if words.is_empty() {
            "none".into()
        } else {
            words.join(",")
        }]
    }

    fn allowed() -> String {
        "a comma list of dumpi, clog2, slog2, otf2; all, none, auto".into()
    }
}

/// Patterns of file names, in the order given.
pub struct PatternList;

impl OptionKind for PatternList {
    type Value = Vec<String>;

    const ACCUMULATES: bool = true;
    const LIST: bool = true;

    fn take(value: &mut Vec<String>, text: &str) -> Option<()> {
        let separators = [',', ' ', '\t', '\n'];
        let words = text.split(separators).filter(|word| !word.is_empty());
        let before = value.len();
        value.extend(words.map(escape));
        (value.len() > before).then_some(())
    }

    fn texts(value: &Vec<String>) -> Vec<String> {
        value.clone()
    }

    fn allowed() -> String {
        "names, with patterns".into()
    }
}

/// Names of performance counters, in the order given.
pub struct CounterNames;

/// Most performance counters a DUMPI record can carry.
const MAX_COUNTERS: usize = 128;

/// DUMPI's bound on the length of a counter's name, in bytes, itself not allowed.
const COUNTER_LENGTH: usize = 80;

impl OptionKind for CounterNames {
    type Value = Vec<String>;

    const ACCUMULATES: bool = true;

    fn take(value: &mut Vec<String>, text: &str) -> Option<()> {
        let separators = [' ', '\t', '=', '#', ','];
        let fits = !text.is_empty() && text.len() < COUNTER_LENGTH && value.len() < MAX_COUNTERS;
        if !fits || text.contains(separators) || text.contains(char::is_control) {
            return None;
        }
        value.push(text.into());
        Some(())
    }

    fn texts(value: &Vec<String>) -> Vec<String> {
        value.clone()
    }

    fn allowed() -> String {
        format!("{MAX_COUNTERS} counter names shorter than {COUNTER_LENGTH} characters")
    }
}

/// The annotations that become function-enter and function-exit records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnnotationTracing {
    /// Function-enter records.
    pub enter: bool,
    /// Function-exit records.
    pub exit: bool,
}

impl OptionKind for AnnotationTracing {
    type Value = AnnotationTracing;

    const ACCUMULATES: bool = true;

    fn take(value: &mut AnnotationTracing, text: &str) -> Option<()> {
        match text {
            "enable" => {
                *value = AnnotationTracing {
                    enter: true,
                    exit: true,
                }
            }
            "disable" => {
                *value = AnnotationTracing {
                    enter: false,
                    exit: false,
                }
            }
            "enter" => value.enter = true,
            "exit" => value.exit = true,
            _ => return None,
        }
        Some(())
    }

    fn texts(value: &AnnotationTracing) -> Vec<String> {
        let words: &[&str] = match (value.enter, value.exit) {
            (true, true) => &["enable"],
            (false, false) => &["disable"],
            (true, false) => &["disable", "enter"],
            (false, true) => &["disable", "exit"],
        };
        words.iter().map(|word| word.to_string()).collect()
    }

    fn allowed() -> String {
        "enable, disable, enter, exit".into()
    }
}

/// The diagnostics that go to stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DebugSet {
    /// Files: opening, writing, merging.
    pub traceio: bool,
    /// Entry to and return from each MPI call.
    pub mpicalls: bool,
    /// The library's own steps.
    pub libdumpi: bool,
}

impl DebugSet {
    /// Nothing.
    pub const NONE: DebugSet = DebugSet {
        traceio: false,
        mpicalls: false,
        libdumpi: false,
    };
    /// Everything.
    pub const ALL: DebugSet = DebugSet {
        traceio: true,
        mpicalls: true,
        libdumpi: true,
    };
}

impl OptionKind for DebugSet {
    type Value = DebugSet;

    const ACCUMULATES: bool = true;

    fn take(value: &mut DebugSet, text: &str) -> Option<()> {
        match text {
            "none" | "off" => *value = DebugSet::NONE,
            "all" => *value = DebugSet::ALL,
            "traceio" => value.traceio = true,
            "mpicalls" => value.mpicalls = true,
            "libdumpi" => value.libdumpi = true,
            _ => return None,
        }
        Some(())
    }

    fn texts(value: &DebugSet) -> Vec<String> {
        let named = [
            (value.traceio, "traceio"),
            (value.mpicalls, "mpicalls"),
            (value.libdumpi, "libdumpi"),
        ];
        match *value {
            DebugSet::NONE => vec!["none".into()],
            DebugSet::ALL => vec!["all".into()],
            _ => named
                .iter()
                .filter(|(on, _)| *on)
                .map(|(_, word)| word.to_string())
                .collect(),
        }
    }

    fn allowed() -> String {
        "none, off, all, traceio, mpicalls, libdumpi".into()
    }
}
