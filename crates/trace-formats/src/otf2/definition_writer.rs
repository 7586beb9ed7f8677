//! The writer of the definitions of a whole archive.

use std::ffi::CString;

use super::checked::check;
use super::error::Otf2Error;
use super::library::{ErrorCode, Functions, Object};
use super::numbers::{
    ASYNCHRONOUS, CPU_THREAD, DECIMAL, OTHER_METRIC, PARADIGM_OF_PROCESSES, PROCESS,
    RECORDED_BY_CPU, UNDEFINED_REF, UNDEFINED_TIME, WINDOW_EVENTS, paradigm,
};

/// A region as it is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RegionDefinition {
    /// Reference of the name.
    pub name: u32,
    /// Reference of a text that says whether it has a duration: [`super::numbers::description`].
    pub description: u32,
    pub role: u8,
    pub paradigm: u8,
}

/// A handle as it is defined, by references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HandleDefinition {
    pub name: u32,
    pub file: u32,
    pub paradigm: u8,
    pub comm: u32,
    pub parent: u32,
}

/// Writes global definitions. Whatever a definition refers to must be written before it. All numbers are references but those that their names
/// tell.
pub(super) struct DefinitionWriter {
    f: &'static Functions,
    writer: Object,
}

impl DefinitionWriter {
    /// A writer that the library has given.
    pub(super) fn new(f: &'static Functions, writer: Object) -> Self {
        DefinitionWriter { f, writer }
    }

    fn call(
        &self,
        function: &'static str,
        write: impl FnOnce(&Functions, Object) -> ErrorCode,
    ) -> Result<(), Otf2Error> {
        check(self.f, function, write(self.f, self.writer))
    }

    /// Times are ns; `first` is the time of the first event, `length` the time until after the last one.
    pub(super) fn clock(&self, first: u64, length: u64) -> Result<(), Otf2Error> {
        self.call("OTF2_GlobalDefWriter_WriteClockProperties", |f, w| {
            // SAFETY: The writer is open.
            unsafe { (f.define_clock)(w, 1_000_000_000, first, length, UNDEFINED_TIME) }
        })
    }

    pub(super) fn string(&self, reference: u32, text: &str) -> Result<(), Otf2Error> {
        let bytes: Vec<u8> = text.bytes().filter(|&byte| byte != 0).collect();
        let text = CString::new(bytes).unwrap_or_default();
        self.call("OTF2_GlobalDefWriter_WriteString", |f, w| {
            // SAFETY: The writer is open, and copies the text, which ends with a zero.
            unsafe { (f.define_string)(w, reference, text.as_ptr()) }
        })
    }

    pub(super) fn mpi_paradigm(&self, name: u32) -> Result<(), Otf2Error> {
        self.call("OTF2_GlobalDefWriter_WriteParadigm", |f, w| {
            // SAFETY: The writer is open.
            unsafe { (f.define_paradigm)(w, paradigm::MPI, name, PARADIGM_OF_PROCESSES) }
        })
    }

    pub(super) fn region(
        &self,
        reference: u32,
        region: &RegionDefinition,
    ) -> Result<(), Otf2Error> {
        let RegionDefinition {
            name,
            description,
            role,
            paradigm,
        } = *region;
        self.call("OTF2_GlobalDefWriter_WriteRegion", |f, w| {
            // SAFETY: The writer is open.
            unsafe {
                (f.define_region)(
                    w,
                    reference,
                    name,
                    name,
                    description,
                    role,
                    paradigm,
                    0,
                    0,
                    0,
                    0,
                )
            }
        })
    }

    pub(super) fn attribute(
        &self,
        reference: u32,
        name: u32,
        value_type: u8,
    ) -> Result<(), Otf2Error> {
        self.call("OTF2_GlobalDefWriter_WriteAttribute", |f, w| {
            // SAFETY: The writer is open.
            unsafe { (f.define_attribute)(w, reference, name, 0, value_type) }
        })
    }

    /// A node of the system tree, in another one or the root, which is a node of this domain.
    pub(super) fn node(
        &self,
        reference: u32,
        name: u32,
        class: u32,
        parent: Option<u32>,
        domain: u8,
    ) -> Result<(), Otf2Error> {
        let parent = parent.unwrap_or(UNDEFINED_REF);
        self.call("OTF2_GlobalDefWriter_WriteSystemTreeNode", |f, w| {
            // SAFETY: The writer is open.
            unsafe { (f.define_node)(w, reference, name, class, parent) }
        })?;
        self.call("OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain", |f, w| {
            // SAFETY: The writer is open.
            unsafe { (f.define_domain)(w, reference, domain) }
        })
    }

    pub(super) fn process(&self, reference: u32, name: u32, node: u32) -> Result<(), Otf2Error> {
        self.call("OTF2_GlobalDefWriter_WriteLocationGroup", |f, w| {
            // SAFETY: The writer is open.
            unsafe { (f.define_process)(w, reference, name, PROCESS, node, UNDEFINED_REF) }
        })
    }

    pub(super) fn location(
        &self,
        id: u64,
        name: u32,
        events: u64,
        process: u32,
    ) -> Result<(), Otf2Error> {
        self.call("OTF2_GlobalDefWriter_WriteLocation", |f, w| {
            // SAFETY: The writer is open.
            unsafe { (f.define_location)(w, id, name, CPU_THREAD, events, process) }
        })
    }

    /// A group of MPI, of a type of [`super::numbers::group_type`].
    pub(super) fn group(
        &self,
        reference: u32,
        name: u32,
        group_type: u8,
        members: &[u64],
    ) -> Result<(), Otf2Error> {
        let count = u32::try_from(members.len()).unwrap_or(u32::MAX);
        let first = members.as_ptr();
        self.call("OTF2_GlobalDefWriter_WriteGroup", |f, w| {
            // SAFETY: The writer is open, and copies the members, of which there are `count` or more.
            unsafe {
                (f.define_group)(
                    w,
                    reference,
                    name,
                    group_type,
                    paradigm::MPI,
                    0,
                    count,
                    first,
                )
            }
        })
    }

    pub(super) fn comm(&self, reference: u32, name: u32, group: u32) -> Result<(), Otf2Error> {
        self.call("OTF2_GlobalDefWriter_WriteComm", |f, w| {
            // SAFETY: The writer is open.
            unsafe { (f.define_comm)(w, reference, name, group, UNDEFINED_REF, 0) }
        })
    }

    pub(super) fn intercomm(
        &self,
        reference: u32,
        name: u32,
        groups: [u32; 2],
    ) -> Result<(), Otf2Error> {
        let [one, other] = groups;
        self.call("OTF2_GlobalDefWriter_WriteInterComm", |f, w| {
            // SAFETY: The writer is open.
            unsafe { (f.define_intercomm)(w, reference, name, one, other, UNDEFINED_REF, 0) }
        })
    }

    /// A window, whose making and freeing events tell.
    pub(super) fn window(&self, reference: u32, name: u32, comm: u32) -> Result<(), Otf2Error> {
        self.call("OTF2_GlobalDefWriter_WriteRmaWin", |f, w| {
            // SAFETY: The writer is open.
            unsafe { (f.define_window)(w, reference, name, comm, WINDOW_EVENTS) }
        })
    }

    /// A metric with one member, both of this reference. `mode` is one of [`super::numbers::metric_mode`].
    pub(super) fn metric(
        &self,
        reference: u32,
        name: u32,
        mode: u8,
        value_type: u8,
        unit: u32,
    ) -> Result<(), Otf2Error> {
        self.call("OTF2_GlobalDefWriter_WriteMetricMember", |f, w| {
            // SAFETY: The writer is open.
            unsafe {
                (f.define_metric_member)(
                    w,
                    reference,
                    name,
                    0,
                    OTHER_METRIC,
                    mode,
                    value_type,
                    DECIMAL,
                    0,
                    unit,
                )
            }
        })?;
        self.call("OTF2_GlobalDefWriter_WriteMetricClass", |f, w| {
            // SAFETY: The writer is open, and copies the one member.
            unsafe {
                (f.define_metric_class)(w, reference, 1, &reference, ASYNCHRONOUS, RECORDED_BY_CPU)
            }
        })
    }

    /// A file that the nodes below `scope` see.
    pub(super) fn file(&self, reference: u32, name: u32, scope: u32) -> Result<(), Otf2Error> {
        self.call("OTF2_GlobalDefWriter_WriteIoRegularFile", |f, w| {
            // SAFETY: The writer is open.
            unsafe { (f.define_file)(w, reference, name, scope) }
        })
    }

    /// An interface to files. `class` is one of [`super::numbers::io_class`].
    pub(super) fn io_paradigm(
        &self,
        reference: u8,
        name: u32,
        class: u8,
        flags: u32,
    ) -> Result<(), Otf2Error> {
        let (types, values) = (std::ptr::null(), std::ptr::null());
        self.call("OTF2_GlobalDefWriter_WriteIoParadigm", |f, w| {
            // SAFETY: The writer is open, and there are no properties.
            unsafe {
                (f.define_io_paradigm)(
                    w, reference, name, name, class, flags, 0, types, types, values,
                )
            }
        })
    }

    pub(super) fn handle(
        &self,
        reference: u32,
        handle: &HandleDefinition,
    ) -> Result<(), Otf2Error> {
        let HandleDefinition {
            name,
            file,
            paradigm,
            comm,
            parent,
        } = *handle;
        self.call("OTF2_GlobalDefWriter_WriteIoHandle", |f, w| {
            // SAFETY: The writer is open.
            unsafe { (f.define_io_handle)(w, reference, name, file, paradigm, 0, comm, parent) }
        })
    }
}
