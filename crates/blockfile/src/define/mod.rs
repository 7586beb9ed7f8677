//! Definition records: what a reader must know besides the calls. Each is written when it becomes known, before the records
//! that need it, so that a stream cut off anywhere can still be read.
//!
//! Payloads are sequences of integers in the machine's byte order and of strings, which are a u32 length and bytes.

mod files;
mod mpi;
mod process;
mod unrecorded;

#[cfg(test)]
mod tests;

pub use crate::numbers::{
    ANNOTATION, CHOICE, CLOCK, COMM, CONSTANT, COUNTERS, COUNTS, ENTER, EXIT, EXTENTS, FILE,
    FRAGMENT, FUNCTION, GAP, GROUP, IGNORED, LEFT_OUT, LOST, MATCHING_ONLY, MESSAGES, MODULE,
    NEIGHBOURS, POSITION, PREDEFINED, PROCESS, SERVER, SETTINGS, SKIPPED, SYNC, THREAD_END,
    TIME_BASE, TYPE, USER_CATEGORY, USER_EVENT, VIEW, is_lasting,
};
pub use files::{Extents, FileView, OpenFileDefinition};
pub use mpi::{
    CommCreation, CommDefinition, CommDefinitionKind, DatatypeDefinition, Neighbours,
    PredefinedHandle,
};
pub use process::{ClockReading, Module, ProcessDefinition, ServerDefinition, ServerKind, Sync};
pub use unrecorded::{MATCHING_ONLY_HEAD_BYTES, SkippedPolls, matching_only_call};

use crate::args::ByteCursor;
use crate::payload::{put_text, put_texts, put_u32, put_u64, text, texts};
use crate::user::UserCategory;

/// A decoded definition record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    /// Name of a function outside the table ([`FUNCTION`]).
    Function {
        /// Number of the function.
        number: u16,
        /// Name of the function.
        name: String,
    },
    /// A communicator ([`COMM`]).
    Comm(CommDefinition),
    /// Neighbours in a topology ([`NEIGHBOURS`]).
    Neighbours(Neighbours),
    /// Members of the group that the next call names ([`GROUP`]): ranks in MPI_COMM_WORLD, −1 for processes outside of it.
    Group(Vec<i32>),
    /// A datatype ([`TYPE`]).
    Type(DatatypeDefinition),
    /// A predefined handle ([`PREDEFINED`]).
    Predefined(PredefinedHandle),
    /// A constant of the MPI library ([`CONSTANT`]).
    Constant {
        /// Name in `mpi.h`.
        name: String,
        /// Value.
        value: i64,
    },
    /// A reading of all clocks ([`CLOCK`]).
    Clock(ClockReading),
    /// A clock comparison with rank 0 ([`SYNC`]).
    Sync(Sync),
    /// The process that writes the file ([`PROCESS`]).
    Process(ProcessDefinition),
    /// Records that were lost ([`LOST`]).
    Lost {
        /// Number of lost records.
        count: u64,
        /// Why they were lost.
        reason: String,
    },
    /// Calls that were counted only ([`IGNORED`]).
    Ignored {
        /// Function number.
        function: u16,
        /// Number of calls.
        calls: u64,
    },
    /// An annotation ([`ANNOTATION`]).
    Annotation {
        /// The program's own key, or one counted up from 4096.
        key: u64,
        /// Text of the annotation.
        text: String,
    },
    /// The file that a descriptor stands for ([`FILE`]).
    File(OpenFileDefinition),
    /// A view of a file ([`VIEW`]).
    View(FileView),
    /// Position of an individual file pointer ([`POSITION`]).
    Position {
        /// Raw handle of the MPI_File.
        file: u64,
        /// Etypes of the view; -1 if the library did not tell.
        etypes: i64,
    },
    /// Accesses to a file that were not recorded ([`LEFT_OUT`]).
    LeftOut {
        /// Raw handle of the MPI_File.
        file: u64,
        /// Number of collective accesses since the previous record of this kind.
        collective: u32,
        /// Whether work of some accesses may go on after they have returned: nonblocking ones, first halves of split ones.
        outlasts: bool,
    },
    /// A process or device that is no rank ([`SERVER`]).
    Server(ServerDefinition),
    /// Extents of a file on a device ([`EXTENTS`]).
    Extents(Extents),
    /// Polls that were only counted ([`SKIPPED`]).
    Skipped(SkippedPolls),
    /// Sizes of the messages that are recorded ([`MESSAGES`]).
    Messages {
        /// Fewest bytes of a message.
        least: u64,
        /// Most bytes of a message.
        most: u64,
    },
    /// Functions of the program that are shown ([`CHOICE`]).
    Choice {
        /// Patterns of names that are shown; if empty, every name is.
        include: Vec<String>,
        /// Patterns of names that are left out.
        exclude: Vec<String>,
    },
    /// The settings of the run that are not the defaults, in the lines of `dumpi.conf` ([`SETTINGS`]).
    Settings(String),
    /// The thread has ended ([`THREAD_END`]).
    ThreadEnd,
    /// A category of the program's own events ([`USER_CATEGORY`]).
    UserCategory(UserCategory),
    /// A loaded object ([`MODULE`]).
    Module(Module),
    /// Performance counters ([`COUNTERS`]).
    Counters {
        /// Names of the counters, in the order of the values.
        names: Vec<String>,
    },
}

impl Definition {
    /// Number of the record that holds it.
    pub fn number(&self) -> u16 {
        match self {
            Definition::Function { .. } => FUNCTION,
            Definition::Comm(_) => COMM,
            Definition::Neighbours(_) => NEIGHBOURS,
            Definition::Group(_) => GROUP,
            Definition::Type(_) => TYPE,
            Definition::Predefined(_) => PREDEFINED,
            Definition::Constant { .. } => CONSTANT,
            Definition::Clock(_) => CLOCK,
            Definition::Sync(_) => SYNC,
            Definition::Process(_) => PROCESS,
            Definition::Lost { .. } => LOST,
            Definition::Ignored { .. } => IGNORED,
            Definition::Annotation { .. } => ANNOTATION,
            Definition::File(_) => FILE,
            Definition::View(_) => VIEW,
            Definition::Position { .. } => POSITION,
            Definition::LeftOut { .. } => LEFT_OUT,
            Definition::Server(_) => SERVER,
            Definition::Extents(_) => EXTENTS,
            Definition::Skipped(_) => SKIPPED,
            Definition::Messages { .. } => MESSAGES,
            Definition::UserCategory(_) => USER_CATEGORY,
            Definition::Module(_) => MODULE,
            Definition::Counters { .. } => COUNTERS,
            Definition::Choice { .. } => CHOICE,
            Definition::Settings(_) => SETTINGS,
            Definition::ThreadEnd => THREAD_END,
        }
    }

    /// Payload of the record.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Definition::UserCategory(category) => return category.encode(),
            Definition::Function { number, name } => {
                put_u32(&mut out, u32::from(*number));
                put_text(&mut out, name);
            }
            Definition::Comm(comm) => comm.encode(&mut out),
            Definition::Neighbours(neighbours) => neighbours.encode(&mut out),
            Definition::Group(members) => mpi::put_ranks(&mut out, members),
            Definition::Type(datatype) => datatype.encode(&mut out),
            Definition::Predefined(handle) => handle.encode(&mut out),
            Definition::Constant { name, value } => {
                put_text(&mut out, name);
                put_u64(&mut out, *value as u64);
            }
            Definition::Clock(reading) => reading.encode(&mut out),
            Definition::Sync(sync) => sync.encode(&mut out),
            Definition::Process(process) => process.encode(&mut out),
            Definition::Lost { count, reason } => {
                put_u64(&mut out, *count);
                put_text(&mut out, reason);
            }
            Definition::Ignored { function, calls } => {
                put_u32(&mut out, u32::from(*function));
                put_u64(&mut out, *calls);
            }
            Definition::Annotation { key, text } => {
                put_u64(&mut out, *key);
                put_text(&mut out, text);
            }
            Definition::File(file) => file.encode(&mut out),
            Definition::View(view) => view.encode(&mut out),
            Definition::Skipped(skipped) => out.extend_from_slice(&skipped.encode()),
            Definition::Messages { least, most } => {
                put_u64(&mut out, *least);
                put_u64(&mut out, *most);
            }
            Definition::Position { file, etypes } => {
                put_u64(&mut out, *file);
                put_u64(&mut out, *etypes as u64);
            }
            Definition::LeftOut {
                file,
                collective,
                outlasts,
            } => {
                put_u64(&mut out, *file);
                put_u32(&mut out, *collective);
                put_u32(&mut out, u32::from(*outlasts));
            }
            Definition::Server(server) => server.encode(&mut out),
            Definition::Extents(extents) => extents.encode(&mut out),
            Definition::Module(module) => module.encode(&mut out),
            Definition::Counters { names } => put_texts(&mut out, names),
            Definition::Choice { include, exclude } => {
                put_texts(&mut out, include);
                put_texts(&mut out, exclude);
            }
            Definition::Settings(lines) => put_text(&mut out, lines),
            Definition::ThreadEnd => {}
        }
        out
    }

    /// Decodes the payload of definition record `number`; `None` if it is damaged or of a kind unknown here.
    pub fn decode(number: u16, payload: &[u8]) -> Option<Definition> {
        let b = &mut ByteCursor::new(payload);
        Some(match number {
            USER_CATEGORY => Definition::UserCategory(UserCategory::decode(b)?),
            FUNCTION => Definition::Function {
                number: b.u32()?.try_into().ok()?,
                name: text(b)?,
            },
            COMM => Definition::Comm(CommDefinition::decode(b)?),
            NEIGHBOURS => Definition::Neighbours(Neighbours::decode(b)?),
            GROUP => Definition::Group(mpi::ranks(b)?),
            TYPE => Definition::Type(DatatypeDefinition::decode(b)?),
            PREDEFINED => Definition::Predefined(PredefinedHandle::decode(b)?),
            CONSTANT => Definition::Constant {
                name: text(b)?,
                value: b.i64()?,
            },
            CLOCK => Definition::Clock(ClockReading::decode(b)?),
            SYNC => Definition::Sync(Sync::decode(b)?),
            PROCESS => Definition::Process(ProcessDefinition::decode(b)?),
            LOST => Definition::Lost {
                count: b.u64()?,
                reason: text(b)?,
            },
            IGNORED => Definition::Ignored {
                function: b.u32()?.try_into().ok()?,
                calls: b.u64()?,
            },
            ANNOTATION => Definition::Annotation {
                key: b.u64()?,
                text: text(b)?,
            },
            FILE => Definition::File(OpenFileDefinition::decode(b)?),
            VIEW => Definition::View(FileView::decode(b)?),
            POSITION => Definition::Position {
                file: b.u64()?,
                etypes: b.i64()?,
            },
            LEFT_OUT => Definition::LeftOut {
                file: b.u64()?,
                collective: b.u32()?,
                outlasts: b.u32()? != 0,
            },
            SKIPPED => Definition::Skipped(SkippedPolls::decode(b)?),
            MESSAGES => Definition::Messages {
                least: b.u64()?,
                most: b.u64()?,
            },
            SERVER => Definition::Server(ServerDefinition::decode(b)?),
            EXTENTS => Definition::Extents(Extents::decode(b)?),
            MODULE => Definition::Module(Module::decode(b)?),
            COUNTERS => Definition::Counters { names: texts(b)? },
            CHOICE => Definition::Choice {
                include: texts(b)?,
                exclude: texts(b)?,
            },
            SETTINGS => Definition::Settings(text(b)?),
            THREAD_END => Definition::ThreadEnd,
            _ => return None,
        })
    }
}
