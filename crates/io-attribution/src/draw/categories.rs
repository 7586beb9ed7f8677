//! The categories of operations, edges, calls and files: numbers, names, colours and what their infos hold.

use blockfile::operation::{Effect, FIRST, KINDS, Layer, OperationKind};

use crate::record::Relation;
use trace_model::{Category, Color, Topology};

/// Maximum number of categories that the drawer makes.
pub const COUNT: i32 = 2 + 4 * KINDS.len() as i32;

/// Name of the events of calls.
const ACCESS: &str = "I/O access";
const FILE: &str = "file";
/// Suffix of the category name of operations without a known call.
const NO_CALL: &str = " (no call)";

pub(super) const FILE_OFFSET: i32 = 0;
pub(super) const ACCESS_OFFSET: i32 = 1;

/// Pixels of an arrow, as of messages.
const WIDTH: i8 = 3;

const OPERATION_FORMAT: &str =
    "file=%d, fd=%d, offset=%l, size=%l, result=%l, filler=%l, errno=%d, details=%s, operation=%l";
const ACCESS_FORMAT: &str = "CallID=0x%X, function=%s, file=%d, sequence=%l, bytes=%l, first=%l, behind=%l, pieces=%l, lasts=%l ns, complete=%l ns, writes=%d, number=%d";
const EDGE_FORMAT: &str = "CallID=0x%X, bytes=%l, precision=%s, operation=%l";
const FILE_FORMAT: &str = "file=%d, role=%s, path=%s, device=0x%X, inode=%l";

/// Attribution record that the drawables of a category stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DrawableMeaning {
    File,
    Access,
    /// Number of the kind, and whether the call is known.
    Operation(u16, bool),
    /// Number of the kind.
    Edge(u16, Relation),
}

fn position(kind: u16) -> Option<i32> {
    let position = kind.checked_sub(FIRST)?;
    (usize::from(position) < KINDS.len()).then_some(i32::from(position))
}

/// Offset of an operation's category from the first one; `None` for an unknown kind.
pub(super) fn state(kind: u16, has_call: bool) -> Option<i32> {
    Some(2 + 4 * position(kind)? + i32::from(!has_call))
}

/// Offset of an edge's category from the first one; `None` for an unknown kind.
pub(super) fn arrow(kind: u16, relation: Relation) -> Option<i32> {
    let carries = relation == Relation::Carries;
    Some(4 + 4 * position(kind)? + i32::from(carries))
}

/// Meaning of the category at an offset from the first one; `None` if there is none.
fn what(offset: i32) -> Option<DrawableMeaning> {
    let kind = |at: i32| {
        let position = u16::try_from(at / 4).ok()?;
        (usize::from(position) < KINDS.len()).then_some(FIRST + position)
    };
    Some(match offset {
        FILE_OFFSET => DrawableMeaning::File,
        ACCESS_OFFSET => DrawableMeaning::Access,
        _ => {
            let at = offset - 2;
            let kind = kind(at)?;
            match at % 4 {
                0 => DrawableMeaning::Operation(kind, true),
                1 => DrawableMeaning::Operation(kind, false),
                2 => DrawableMeaning::Edge(kind, Relation::Triggers),
                _ => DrawableMeaning::Edge(kind, Relation::Carries),
            }
        }
    })
}

/// The category at an offset from the first one, which has the number `first`.
pub(super) fn category(first: i32, offset: i32) -> Category {
    let index = first.saturating_add(offset);
    let of = |name: &str, topology, color, format: &str| {
        let mut category = Category::new(index, name.into(), topology, color);
        category.set_info_format(format.as_bytes());
        category
    };
    let kind = |number: u16| blockfile::operation::kind(number).unwrap_or(&KINDS[0]);
    match what(offset) {
        None | Some(DrawableMeaning::File) => {
            of(FILE, Topology::Event, Color::rgb(0xffd700), FILE_FORMAT)
        }
        Some(DrawableMeaning::Access) => {
            of(ACCESS, Topology::Event, Color::rgb(0x87cefa), ACCESS_FORMAT)
        }
        Some(DrawableMeaning::Operation(number, true)) => {
            let format = format!("CallID=0x%X, {OPERATION_FORMAT}");
            let kind = kind(number);
            of(kind.name, Topology::State, color(kind), &format)
        }
        Some(DrawableMeaning::Operation(number, false)) => {
            let kind = kind(number);
            let name = format!("{}{NO_CALL}", kind.name);
            of(&name, Topology::State, color(kind), OPERATION_FORMAT)
        }
        Some(DrawableMeaning::Edge(number, relation)) => {
            let kind = kind(number);
            let name = format!("{} {}", verb(relation), kind.name);
            let mut arrow = of(&name, Topology::Arrow, color(kind), EDGE_FORMAT);
            arrow.width = WIDTH;
            arrow
        }
    }
}

fn verb(relation: Relation) -> &'static str {
    match relation {
        Relation::Triggers => "triggers",
        Relation::Carries => "carries",
    }
}

/// Meaning of a category of a trace; `None` if its name, topology or info layout is not one of the drawer's.
pub(super) fn recognise(found: &Category) -> Option<DrawableMeaning> {
    let name = found.name.to_str();
    let kind = |name: &str| {
        let position = KINDS.iter().position(|kind| kind.name == name)?;
        Some(FIRST + position as u16)
    };
    let offset = match &*name {
        FILE => FILE_OFFSET,
        ACCESS => ACCESS_OFFSET,
        name => {
            let edge = [Relation::Triggers, Relation::Carries]
                .into_iter()
                .find_map(|relation| {
                    let rest = name.strip_prefix(verb(relation))?.strip_prefix(' ')?;
                    Some((kind(rest)?, relation))
                });
            match (edge, name.strip_suffix(NO_CALL)) {
                (Some((kind, relation)), _) => arrow(kind, relation)?,
                (None, Some(name)) => state(kind(name)?, false)?,
                (None, None) => state(kind(name)?, true)?,
            }
        }
    };
    let expected = category(0, offset);
    let same = found.topology == expected.topology && found.info_types == expected.info_types;
    // Readers may have dropped an empty key at the end.
    let keys = expected.info_types.len();
    let same = same && found.info_keys.get(..keys) == expected.info_keys.get(..keys);
    what(offset).filter(|_| same)
}

/// Reads are green, writes orange, waiting for the device red, locks magenta; what looks after names and sizes is pale. Layers differ in
/// brightness. MPI-IO calls, around and above all this, are blue, pink and brown.
fn color(kind: &OperationKind) -> Color {
    let at = match kind.layer {
        Layer::Libc => 0,
        Layer::Request => 1,
        Layer::Stripe => 2,
        Layer::Device => 3,
    };
    let shades: [u32; 4] = match kind.effect {
        Effect::Read => [0x00e676, 0x9ccc65, 0xc5e1a5, 0x2e7d32],
        Effect::Write => [0xff9100, 0xffc107, 0xffe082, 0xe65100],
        Effect::StartRead => [0x64ffda; 4],
        Effect::StartWrite => [0xffd180; 4],
        Effect::Complete => [0xfff59d; 4],
        Effect::Open => [0xb39ddb, 0xd1c4e9, 0xd1c4e9, 0xd1c4e9],
        Effect::Close => [0x9575cd, 0xb0a0d8, 0xb0a0d8, 0xb0a0d8],
        Effect::Sync => [0xff1744, 0xff5252, 0xff8a80, 0xb71c1c],
        Effect::Lock => [0xe040fb; 4],
        Effect::Resize => [0xbcaaa4, 0xd7ccc8, 0xefebe9, 0x8d6e63],
        Effect::Name => [0xcfd8dc, 0xeceff1, 0xeceff1, 0xb0bec5],
        Effect::Seek => [0xf0f4c3; 4],
        Effect::Map => [0x80deea; 4],
    };
    Color::rgb(shades[at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Names of arrows end in a direction in SLOG-1, and have keys after `mpitrace arrows`.
    #[test]
    fn arrows_to_operations_are_no_messages() {
        use super::super::is_message;
        for name in [
            "triggers pwrite forward",
            "carries fsync backward",
            "triggers x",
        ] {
            let mut made = Category::new(7, name.into(), Topology::Arrow, Color::WHITE);
            assert!(is_message(&made), "{name}");
            made.set_info_format(b"CallID=0x%X, bytes=%l");
            assert!(!is_message(&made), "{name}");
        }
        assert!(is_message(&Category::message()));
    }

    #[test]
    fn every_category_is_recognised_as_what_it_is() {
        let mut names = HashSet::new();
        for offset in 0..COUNT {
            let made = category(1000, offset);
            assert_eq!(made.index, 1000 + offset);
            assert!(
                names.insert(made.name.to_str().into_owned()),
                "{:?}",
                made.name
            );
            assert_eq!(recognise(&made), what(offset), "{:?}", made.name);
            let mut other = made.clone();
            other.info_types.pop();
            assert_eq!(recognise(&other), None);
        }
        assert_eq!(what(COUNT), None);
    }
}
