//! The MPI library that was traced: its constants, its predefined handles, its datatypes.

use blockfile::define::{DatatypeDefinition, Definition, ProcessDefinition};
use std::collections::{BTreeMap, HashMap};
use trace_model::hash::Map;

/// Constants, handles and datatypes, as the definitions read so far give them.
#[derive(Clone, Debug, Default)]
pub struct Library {
    constants: HashMap<String, i64>,
    by_name: HashMap<String, u64>,
    by_handle: HashMap<u64, Vec<String>>,
    types: HashMap<u64, DatatypeDefinition>,
    sizes: Map<u64, u64>,
    functions: BTreeMap<u16, String>,
    process: ProcessDefinition,
    /// Fewest and most bytes of the messages that are wanted, if not all.
    messages: Option<(u64, u64)>,
}

impl Library {
    /// Takes in a definition. Those that are about something else are passed over.
    pub fn define(&mut self, definition: &Definition) {
        match definition {
            Definition::Constant { name, value } => {
                self.constants.insert(name.clone(), *value);
            }
            Definition::Predefined(p) => {
                self.by_name.insert(p.name.clone(), p.handle);
                let names = self.by_handle.entry(p.handle).or_default();
                if !names.contains(&p.name) {
                    names.push(p.name.clone());
                }
            }
            Definition::Type(t) => {
                self.set_type_size(t.handle, u64::try_from(t.size).ok());
                self.types.insert(t.handle, t.clone());
            }
            Definition::Function { number, name } => {
                self.functions.insert(*number, name.clone());
            }
            Definition::Process(p) => self.process = p.clone(),
            Definition::Messages { least, most } => self.messages = Some((*least, *most)),
            _ => {}
        }
    }

    /// Whether messages of so many bytes are wanted.
    #[inline]
    pub fn wants_message(&self, bytes: u64) -> bool {
        self.messages
            .is_none_or(|(least, most)| (least..=most).contains(&bytes))
    }

    /// Value of a constant of `mpi.h`, such as `MPI_ANY_SOURCE`.
    pub fn constant(&self, name: &str) -> Option<i64> {
        self.constants.get(name).copied()
    }

    /// Raw handle of that name in `mpi.h`, such as `MPI_COMM_WORLD`.
    pub fn handle(&self, name: &str) -> Option<u64> {
        self.by_name.get(name).copied()
    }

    /// Names of a predefined handle; several where kinds share a null value (MPI_REQUEST_NULL, MPI_MESSAGE_NULL).
    pub fn names(&self, handle: u64) -> &[String] {
        self.by_handle.get(&handle).map_or(&[], Vec::as_slice)
    }

    /// Bytes of data of a datatype; `None` if the trace does not tell.
    #[inline]
    pub fn type_size(&self, handle: u64) -> Option<u64> {
        self.sizes.get(&handle).copied()
    }

    /// Takes note of the bytes of a datatype; `None` where they are not known.
    pub fn set_type_size(&mut self, handle: u64, size: Option<u64>) {
        match size {
            Some(size) => self.sizes.insert(handle, size),
            None => self.sizes.remove(&handle),
        };
    }

    /// Forgets all datatypes: after a gap their handles may stand for others.
    pub fn forget_types(&mut self) {
        self.types.clear();
        self.sizes.clear();
    }

    /// The datatype that this handle stands for now. A handle may be used again after it was freed: the latest definition
    /// counts.
    pub fn datatype(&self, handle: u64) -> Option<&DatatypeDefinition> {
        self.types.get(&handle)
    }

    /// Name of a function outside the table.
    pub fn function(&self, number: u16) -> Option<&str> {
        self.functions.get(&number).map(String::as_str)
    }

    /// All functions outside the table by number.
    pub fn functions(&self) -> &BTreeMap<u16, String> {
        &self.functions
    }

    /// The process.
    pub fn process(&self) -> &ProcessDefinition {
        &self.process
    }
}
