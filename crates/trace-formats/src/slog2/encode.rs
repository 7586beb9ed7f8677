//! The bytes of basic types, and of the parts of a file that are not nodes: header, category map, line ID maps, tree
//! directory.
//!
//! Texts and lists that would not fit the 16 bits of their lengths are cut; none that a log can hold is that long.

use super::types::{
    DirEntry, FileBlockPtr, HEADER_SIZE, LineIdMap, Slog2Header, Slog2Layout, TreeNodeId,
};
use trace_model::{Category, Text, TimeBBox};

/// Writes the header; 108 bytes with a version string of 10 characters.
pub(super) fn header(header: &Slog2Header) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER_SIZE);
    text(&mut out, &header.version);
    out.extend_from_slice(&header.children_per_node.to_be_bytes());
    out.extend_from_slice(&header.leaf_byte_size.to_be_bytes());
    out.extend_from_slice(&header.max_depth.to_be_bytes());
    out.extend_from_slice(&header.max_buffer_size.to_be_bytes());
    for ptr in [
        header.categories,
        header.method_defs,
        header.line_id_maps,
        header.tree_root,
        header.tree_dir,
        header.annotations,
        header.postamble,
    ] {
        write_ptr(&mut out, ptr);
    }
    out
}

/// Writes the category map, in the order given.
pub(super) fn categories<'c>(
    categories: impl ExactSizeIterator<Item = &'c Category>,
    layout: Slog2Layout,
) -> Vec<u8> {
    let mut out = Vec::new();
    write_count(&mut out, categories.len());
    for category in categories {
        out.extend_from_slice(&category.index.to_be_bytes());
        text(&mut out, &category.name);
        out.extend_from_slice(&category.topology.number().to_be_bytes());
        out.extend_from_slice(&category.color.0.to_be_bytes());
        out.push(category.is_color_changeable.into());
        out.push(category.width as u8);
        for key in short_list(&mut out, &category.info_keys) {
            text(&mut out, key);
        }
        let types = short_list(&mut out, &category.info_types);
        out.extend_from_slice(types);
        for id in short_list(&mut out, &category.method_ids) {
            out.extend_from_slice(&id.to_be_bytes());
        }
        if layout == Slog2Layout::V206 {
            write_f32(&mut out, category.summary.inclusive);
            write_f32(&mut out, category.summary.exclusive);
            out.extend_from_slice(&category.summary.count.to_be_bytes());
        }
    }
    out
}

/// Writes the list of views.
pub(super) fn line_id_maps(maps: &[LineIdMap]) -> Vec<u8> {
    let mut out = Vec::new();
    write_count(&mut out, maps.len());
    for map in maps {
        text(&mut out, &map.title);
        write_count(&mut out, map.column_labels.len());
        for label in &map.column_labels {
            text(&mut out, label);
        }
        write_count(&mut out, map.rows().len());
        for cell in map.rows().flatten() {
            out.extend_from_slice(&cell.to_be_bytes());
        }
        for id in short_list(&mut out, &map.method_ids) {
            out.extend_from_slice(&id.to_be_bytes());
        }
    }
    out
}

/// Writes the tree directory: the root first, then level by level, from left to right. Sorts the entries so.
pub(super) fn directory(entries: &mut [DirEntry]) -> Vec<u8> {
    entries.sort_by_key(|entry| (std::cmp::Reverse(entry.id.depth), entry.id.xpos));
    let mut out = Vec::with_capacity(4 + DIRECTORY_ENTRY_BYTES * entries.len());
    write_count(&mut out, entries.len());
    for entry in entries {
        directory_entry(&mut out, entry);
    }
    out
}

/// Bytes of an entry of the tree directory.
pub(super) const DIRECTORY_ENTRY_BYTES: usize = 34;

/// Writes an entry of the tree directory.
pub(super) fn directory_entry(out: &mut Vec<u8>, entry: &DirEntry) {
    write_node_id(out, entry.id);
    write_bounds(out, entry.bounds);
    write_ptr(out, entry.ptr);
}

pub(super) fn text(out: &mut Vec<u8>, text: &Text) {
    let bytes = short_list(out, &text.0);
    out.extend_from_slice(bytes);
}

/// Writes a length of 16 bits and gives the items it counts.
fn short_list<'l, T>(out: &mut Vec<u8>, list: &'l [T]) -> &'l [T] {
    let length = list.len().min(i16::MAX as usize);
    out.extend_from_slice(&(length as i16).to_be_bytes());
    &list[..length]
}

/// Writes a count of 32 bits; counts that were read, or that fit in a node of less than 2^31 bytes, always fit.
pub(super) fn write_count(out: &mut Vec<u8>, count: usize) {
    out.extend_from_slice(&(count as u32).to_be_bytes());
}

/// The bytes of a double, with Java's only NaN for all NaNs.
#[inline]
pub(super) fn f64_bytes(value: f64) -> [u8; 8] {
    let bits = if value.is_nan() {
        0x7ff8 << 48
    } else {
        value.to_bits()
    };
    bits.to_be_bytes()
}

/// Writes a double; see [`f64_bytes`].
pub(super) fn write_f64(out: &mut Vec<u8>, value: f64) {
    out.extend_from_slice(&f64_bytes(value));
}

/// Writes a float, with Java's only NaN for all NaNs.
pub(super) fn write_f32(out: &mut Vec<u8>, value: f32) {
    let bits = if value.is_nan() {
        0x7fc0 << 16
    } else {
        value.to_bits()
    };
    out.extend_from_slice(&bits.to_be_bytes());
}

pub(super) fn write_bounds(out: &mut Vec<u8>, bounds: TimeBBox) {
    write_f64(out, bounds.earliest);
    write_f64(out, bounds.latest);
}

pub(super) fn write_node_id(out: &mut Vec<u8>, id: TreeNodeId) {
    out.extend_from_slice(&id.depth.to_be_bytes());
    out.extend_from_slice(&id.xpos.to_be_bytes());
}

pub(super) fn write_ptr(out: &mut Vec<u8>, ptr: FileBlockPtr) {
    out.extend_from_slice(&ptr.offset.to_be_bytes());
    out.extend_from_slice(&ptr.size.to_be_bytes());
}
