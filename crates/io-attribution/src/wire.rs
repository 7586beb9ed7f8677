//! Attribution events as bytes, as MPI_Finalize sends them from rank to rank: the fields in order, numbers in the machine's byte order.

use super::event::{
    AccessEvent, AccessPosition, AttributionEvent, AttributionEventKind, EnclosingCall,
    ExtentsPart, OpenedHandle, OperationEvent, SeenFile, UnrecordedAccesses, ViewPart,
};
use super::record::{Actor, FileRole};
use blockfile::args::ByteCursor;
use blockfile::define::{Extents, FileView};
use blockfile::operation as op;
use blockfile::runs::EvenRun;

impl AttributionEvent {
    /// Appends the encoded event to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.put(out);
    }

    /// Decodes an event from exactly these bytes; `None` if they are damaged.
    pub fn decode(bytes: &[u8]) -> Option<AttributionEvent> {
        let b = &mut ByteCursor::new(bytes);
        let item = AttributionEvent::take(b)?;
        b.rest().is_empty().then_some(item)
    }
}

/// Types that can be encoded.
trait Wire: Sized {
    fn put(&self, out: &mut Vec<u8>);
    fn take(b: &mut ByteCursor<'_>) -> Option<Self>;
}

macro_rules! numbers {
    ($($type:ty)*) => {$(
        impl Wire for $type {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_ne_bytes());
            }

            fn take(b: &mut ByteCursor<'_>) -> Option<Self> {
                let bytes = b.take(size_of::<$type>())?;
                Some(<$type>::from_ne_bytes(bytes.try_into().ok()?))
            }
        }
    )*};
}

numbers! { u8 u16 u32 u64 u128 i32 i64 }

/// Structures as their fields.
macro_rules! structures {
    ($($type:ident { $($field:ident)* })*) => {$(
        impl Wire for $type {
            fn put(&self, out: &mut Vec<u8>) {
                $(self.$field.put(out);)*
            }

            fn take(b: &mut ByteCursor<'_>) -> Option<Self> {
                Some($type { $($field: Wire::take(b)?,)* })
            }
        }
    )*};
}

structures! {
    AttributionEvent { actor thread what }
    OpenedHandle { handle key members rank name }
    ViewPart { handle first last view }
    FileView { file displacement etype extent size bounding_extent converted runs }
    EvenRun { offset length count stride }
    UnrecordedAccesses { handle first collective outlasts }
    AccessEvent { call function start stop handle sequence writes position bytes outlasts failed }
    SeenFile { seen handle role device inode name }
    EnclosingCall { call function start }
    OperationEvent { kind lane start stop error record file inside outstanding arrived }
    ExtentsPart { ns extents }
    Extents { device inode path extents }
}

impl Wire for bool {
    fn put(&self, out: &mut Vec<u8>) {
        u8::from(*self).put(out);
    }

    fn take(b: &mut ByteCursor<'_>) -> Option<Self> {
        Some(u8::take(b)? != 0)
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }

    fn take(b: &mut ByteCursor<'_>) -> Option<Self> {
        Some(if bool::take(b)? {
            Some(T::take(b)?)
        } else {
            None
        })
    }
}

impl Wire for String {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn take(b: &mut ByteCursor<'_>) -> Option<Self> {
        let size = u32::take(b)? as usize;
        String::from_utf8(b.take(size)?.to_vec()).ok()
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        self.iter().for_each(|value| value.put(out));
    }

    fn take(b: &mut ByteCursor<'_>) -> Option<Self> {
        // No room is made before the values are seen to be there.
        let mut values = Vec::new();
        for _ in 0..u32::take(b)? {
            values.push(T::take(b)?);
        }
        Some(values)
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take(b: &mut ByteCursor<'_>) -> Option<Self> {
        Some((A::take(b)?, B::take(b)?))
    }
}

impl<A: Wire, B: Wire, C: Wire> Wire for (A, B, C) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
        self.2.put(out);
    }

    fn take(b: &mut ByteCursor<'_>) -> Option<Self> {
        Some((A::take(b)?, B::take(b)?, C::take(b)?))
    }
}

impl Wire for op::OperationRecord {
    fn put(&self, out: &mut Vec<u8>) {
        let (bytes, size) = self.encode();
        (size as u8).put(out);
        out.extend_from_slice(&bytes[..size]);
    }

    fn take(b: &mut ByteCursor<'_>) -> Option<Self> {
        let size = usize::from(u8::take(b)?);
        op::OperationRecord::decode(b.take(size)?)
    }
}

impl Wire for Actor {
    fn put(&self, out: &mut Vec<u8>) {
        let (kind, number) = match *self {
            Actor::Rank(n) => (0u8, n),
            Actor::FrontEnd(n) => (1, n),
            Actor::DataServer(n) => (2, n),
            Actor::Device(n) => (3, n),
        };
        (kind, number).put(out);
    }

    fn take(b: &mut ByteCursor<'_>) -> Option<Self> {
        let (kind, number) = <(u8, u32)>::take(b)?;
        Some(match kind {
            0 => Actor::Rank(number),
            1 => Actor::FrontEnd(number),
            2 => Actor::DataServer(number),
            3 => Actor::Device(number),
            _ => return None,
        })
    }
}

const ROLES: [FileRole; 4] = [
    FileRole::Data,
    FileRole::SharedPointer,
    FileRole::Side,
    FileRole::Other,
];

impl Wire for FileRole {
    fn put(&self, out: &mut Vec<u8>) {
        let number = ROLES.iter().position(|role| role == self);
        (number.unwrap_or(0) as u8).put(out);
    }

    fn take(b: &mut ByteCursor<'_>) -> Option<Self> {
        ROLES.get(usize::from(u8::take(b)?)).copied()
    }
}

impl Wire for AccessPosition {
    fn put(&self, out: &mut Vec<u8>) {
        match *self {
            AccessPosition::At(etypes) => (0u8, etypes).put(out),
            AccessPosition::Ordered => 1u8.put(out),
            AccessPosition::Unknown => 2u8.put(out),
        }
    }

    fn take(b: &mut ByteCursor<'_>) -> Option<Self> {
        Some(match u8::take(b)? {
            0 => AccessPosition::At(Wire::take(b)?),
            1 => AccessPosition::Ordered,
            2 => AccessPosition::Unknown,
            _ => return None,
        })
    }
}

impl Wire for AttributionEventKind {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            AttributionEventKind::Thread { tid, machine } => (0u8, *tid, *machine).put(out),
            AttributionEventKind::Opened(opened) => with(1, opened, out),
            AttributionEventKind::Closed { handle } => with(2, handle, out),
            AttributionEventKind::View(part) => with(3, part, out),
            AttributionEventKind::Access(access) => with(4, access, out),
            AttributionEventKind::Complete {
                call,
                moved,
                failed,
            } => {
                (5u8, *call, *moved).put(out);
                failed.put(out);
            }
            AttributionEventKind::File(file) => with(6, file, out),
            AttributionEventKind::Begins(operation) => with(7, operation, out),
            AttributionEventKind::Operation(operation) => with(8, operation, out),
            AttributionEventKind::Returned(inside) => with(9, inside, out),
            AttributionEventKind::Extents(part) => with(10, part, out),
            AttributionEventKind::LeftOut(left_out) => with(11, left_out, out),
        }
    }

    fn take(b: &mut ByteCursor<'_>) -> Option<Self> {
        Some(match u8::take(b)? {
            0 => AttributionEventKind::Thread {
                tid: Wire::take(b)?,
                machine: Wire::take(b)?,
            },
            1 => AttributionEventKind::Opened(Wire::take(b)?),
            2 => AttributionEventKind::Closed {
                handle: Wire::take(b)?,
            },
            3 => AttributionEventKind::View(Wire::take(b)?),
            4 => AttributionEventKind::Access(Wire::take(b)?),
            5 => AttributionEventKind::Complete {
                call: Wire::take(b)?,
                moved: Wire::take(b)?,
                failed: Wire::take(b)?,
            },
            6 => AttributionEventKind::File(Wire::take(b)?),
            7 => AttributionEventKind::Begins(Wire::take(b)?),
            8 => AttributionEventKind::Operation(Wire::take(b)?),
            9 => AttributionEventKind::Returned(Wire::take(b)?),
            10 => AttributionEventKind::Extents(Wire::take(b)?),
            11 => AttributionEventKind::LeftOut(Wire::take(b)?),
            _ => return None,
        })
    }
}

fn with(number: u8, value: &impl Wire, out: &mut Vec<u8>) {
    number.put(out);
    value.put(out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn items() -> Vec<AttributionEvent> {
        let inside = EnclosingCall {
            call: 1 << 40,
            function: 7,
            start: -5,
        };
        let operation = OperationEvent {
            kind: op::PWRITE,
            lane: 2,
            start: 10,
            stop: 20,
            error: 28,
            record: op::OperationRecord {
                fd: 9,
                offset: -1,
                size: 1 << 50,
                call: Some(3),
                ..op::OperationRecord::default()
            },
            file: Some(4),
            inside: Some(inside),
            outstanding: true,
            arrived: 9,
        };
        let view = FileView {
            file: 1,
            displacement: 2,
            etype: 8,
            extent: 64,
            size: 16,
            bounding_extent: false,
            converted: true,
            runs: vec![EvenRun::piece(0, 8), EvenRun::piece(-32, 8)],
        };
        let access = AccessEvent {
            call: 3,
            function: 20,
            start: 1,
            stop: 2,
            handle: Some(0),
            sequence: None,
            writes: true,
            position: AccessPosition::At(-1),
            bytes: Some(u64::MAX),
            outlasts: false,
            failed: true,
        };
        let whats = [
            AttributionEventKind::Thread {
                tid: 5,
                machine: u64::MAX,
            },
            AttributionEventKind::Opened(OpenedHandle {
                handle: 1,
                key: u128::MAX - 3,
                members: 2,
                rank: 1,
                name: "dä/x".to_owned(),
            }),
            AttributionEventKind::Closed { handle: 1 },
            AttributionEventKind::View(ViewPart {
                handle: 1,
                first: true,
                last: false,
                view,
            }),
            AttributionEventKind::Access(access.clone()),
            AttributionEventKind::Access(AccessEvent {
                position: AccessPosition::Ordered,
                ..access
            }),
            AttributionEventKind::Complete {
                call: 3,
                moved: Some(8),
                failed: true,
            },
            AttributionEventKind::File(SeenFile {
                seen: 0,
                handle: None,
                role: FileRole::Side,
                device: 1,
                inode: 2,
                name: String::new(),
            }),
            AttributionEventKind::Begins(operation.clone()),
            AttributionEventKind::Operation(operation),
            AttributionEventKind::Returned(inside),
            AttributionEventKind::Extents(ExtentsPart {
                ns: 77,
                extents: Extents {
                    device: 1,
                    inode: 2,
                    path: "p".to_owned(),
                    extents: vec![(0, 4096, 8192)],
                },
            }),
        ];
        let actors = [
            Actor::Rank(3),
            Actor::FrontEnd(0),
            Actor::DataServer(1),
            Actor::Device(2),
        ];
        let numbered = whats.into_iter().zip(actors.iter().cycle());
        numbered
            .map(|(what, actor)| AttributionEvent {
                actor: *actor,
                thread: 6,
                what,
            })
            .collect()
    }

    #[test]
    fn items_round_trip_and_no_part_of_one_is_taken_for_a_whole() {
        for item in items() {
            let mut bytes = Vec::new();
            item.encode(&mut bytes);
            for cut in 0..bytes.len() {
                assert_eq!(AttributionEvent::decode(&bytes[..cut]), None);
            }
            assert_eq!(AttributionEvent::decode(&bytes), Some(item));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_item_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = AttributionEvent::decode(&bytes);
        }

        #[test]
        fn damaged_items_are_other_items_or_none(which in 0usize..12, at in 0usize..400, value: u8) {
            let mut bytes = Vec::new();
            items()[which].encode(&mut bytes);
            let at = at % bytes.len();
            bytes[at] = value;
            let _ = AttributionEvent::decode(&bytes);
        }
    }
}
