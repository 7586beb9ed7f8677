//! What the OTF2 library calls for each global definition: the definition is noted.

use std::ffi::{CStr, c_char, c_int};

use super::super::numbers::BINARY;
use super::super::read_functions::{GO_ON, ReadFunctions, UserData};
use super::super::symbols::{ErrorCode, Object};
use super::definitions::{
    Comm, GlobalDefinitions, Group, IoHandle, Location, LocationGroup, MetricMember, Node, Region,
};

/// Declares callbacks of definitions that note something in what `$found` is.
macro_rules! callbacks {
    ($($name:ident($found:ident $(, $argument:ident: $type:ty)*) $note:block)*) => {
        $(
            unsafe extern "C" fn $name(found: UserData $(, $argument: $type)*) -> c_int {
                // SAFETY: The library passes the address that was registered with the callbacks.
                let $found = unsafe { &mut *found.cast::<GlobalDefinitions>() };
                $note;
                GO_ON
            }
        )*
    };
}

/// Copies what the library gives as an address and a number.
///
/// # Safety
/// There are so many values at the address, or it is null.
unsafe fn copied<T: Copy>(first: *const T, count: usize) -> Vec<T> {
    match first.is_null() || count == 0 {
        true => Vec::new(),
        // SAFETY: The caller has promised it.
        false => unsafe { std::slice::from_raw_parts(first, count) }.to_vec(),
    }
}

callbacks! {
    clock(found, resolution: u64, offset: u64, _length: u64, _real: u64) {
        (found.resolution, found.offset) = (resolution, offset);
    }
    string(found, id: u32, text: *const c_char) {
        if !text.is_null() {
            // SAFETY: The library passes a text that ends with a zero.
            let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
            found.strings.entry(id).or_insert(text);
        }
    }
    attribute(found, id: u32, name: u32, _description: u32, kind: u8) {
        found.attributes.entry(id).or_insert((name, kind));
    }
    node(found, id: u32, name: u32, class: u32, parent: u32) {
        found.nodes.entry(id).or_insert(Node { name, class, parent });
    }
    location_group(found, id: u32, name: u32, kind: u8, node: u32, creator: u32) {
        found.location_groups.entry(id).or_insert(LocationGroup { name, kind, node, creator });
    }
    location(found, id: u64, name: u32, kind: u8, events: u64, group: u32) {
        found.locations.push(Location { id, name, kind, events, group });
    }
    region(
        found, id: u32, name: u32, _canonical: u32, description: u32, _role: u8, paradigm: u8, _flags: u32, _file: u32,
        _first: u32, _last: u32
    ) {
        found.regions.entry(id).or_insert(Region { name, description, paradigm });
    }
    group(found, id: u32, _name: u32, kind: u8, paradigm: u8, _flags: u32, count: u32, members: *const u64) {
        // SAFETY: The library passes so many members.
        let members = unsafe { copied(members, count as usize) };
        found.groups.entry(id).or_insert(Group { kind, paradigm, members });
    }
    metric_member(
        found, id: u32, name: u32, _description: u32, _type: u8, mode: u8, value_type: u8, base: u8, exponent: i64,
        _unit: u32
    ) {
        let is_binary = base == BINARY;
        found.metric_members.entry(id).or_insert(MetricMember { name, mode, value_type, is_binary, exponent });
    }
    metric_class(found, id: u32, count: u8, members: *const u32, _occurrence: u8, _recorder: u8) {
        // SAFETY: The library passes so many members.
        let members = unsafe { copied(members, count.into()) };
        found.metrics.entry(id).or_insert(members);
    }
    metric_instance(found, id: u32, class: u32, _recorder: u64, _kind: u8, _scope: u64) {
        let members = found.members_of(class).to_vec();
        found.metrics.entry(id).or_insert(members);
    }
    comm(found, id: u32, name: u32, group: u32, _parent: u32, _flags: u32) {
        found.comms.entry(id).or_insert(Comm { name, group, remote: None });
    }
    inter_comm(found, id: u32, name: u32, group: u32, remote: u32, _common: u32, _flags: u32) {
        found.comms.entry(id).or_insert(Comm { name, group, remote: Some(remote) });
    }
    window(found, id: u32, _name: u32, comm: u32, _flags: u32) {
        found.windows.entry(id).or_insert(comm);
    }
    file(found, id: u32, name: u32, _node: u32) {
        found.files.entry(id).or_insert(name);
    }
    io_handle(found, id: u32, _name: u32, file: u32, _paradigm: u8, _flags: u32, comm: u32, _parent: u32) {
        found.io_handles.entry(id).or_insert(IoHandle { file, comm });
    }
}

/// Has the library call back for the definitions that matter. Gives what each of its functions returned.
///
/// # Safety
/// `set` is the library's own set of callbacks.
pub(super) unsafe fn set_callbacks(
    f: &ReadFunctions,
    set: Object,
) -> impl IntoIterator<Item = ErrorCode> {
    // SAFETY: The caller has promised it, and the callbacks have the types that the library calls.
    unsafe {
        [
            (f.on_clock)(set, clock),
            (f.on_string)(set, string),
            (f.on_attribute)(set, attribute),
            (f.on_node)(set, node),
            (f.on_location_group)(set, location_group),
            (f.on_location)(set, location),
            (f.on_region)(set, region),
            (f.on_group)(set, group),
            (f.on_metric_member)(set, metric_member),
            (f.on_metric_class)(set, metric_class),
            (f.on_metric_instance)(set, metric_instance),
            (f.on_comm)(set, comm),
            (f.on_inter_comm)(set, inter_comm),
            (f.on_window)(set, window),
            (f.on_file)(set, file),
            (f.on_folder)(set, file),
            (f.on_io_handle)(set, io_handle),
        ]
    }
}
