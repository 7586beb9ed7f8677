//! Form of an argument in a record ([`Carrier`]): decided by the table alone, so that the wrappers that write records and
//! the readers of records agree without looking at an `mpi.h`.

use crate::kind::{CType, Direction, Kind};

/// Form of one argument in a record. Scalars that the call changes stand as they were before the call if they are handles,
/// else before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Carrier {
    /// Not in the record: data, callbacks, addresses.
    Nothing,
    /// 4-byte integer.
    I32,
    /// 8-byte integer.
    I64,
    /// Two 4-byte integers: before and after the call.
    I32InOut,
    /// Two 8-byte integers: before and after the call.
    I64InOut,
    /// 8-byte floating-point number.
    F64,
    /// Handle, as wide as the ABI family's.
    Handle,
    /// Handle that is a pointer in every family.
    Pointer,
    /// Status.
    Status,
    /// Text.
    Text,
    /// Length, then elements.
    Array(ElementForm),
    /// Two such arrays: before and after the call.
    ArrayInOut(ElementForm),
}

/// Form of an element of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementForm {
    /// 4-byte integer.
    I32,
    /// 8-byte integer.
    I64,
    /// Handle, as wide as the ABI family's.
    Handle,
    /// Handle that is a pointer in every family.
    Pointer,
    /// Status.
    Status,
    /// Text. In an array of argument vectors a NULL text ends each vector.
    Text,
}

impl Kind {
    /// Whether handles of this kind are pointers in every ABI family.
    pub fn is_pointer(self) -> bool {
        matches!(
            self,
            Kind::File
                | Kind::TEnum
                | Kind::TCvar
                | Kind::TPvar
                | Kind::TPvarSession
                | Kind::TEventRegistration
                | Kind::TEventInstance
        )
    }
}

impl Carrier {
    /// Form in a record of an argument of this kind, whose C type is `ctype`, or an array of them.
    pub(crate) fn of(kind: Kind, ctype: CType, direction: Direction, array: bool) -> Carrier {
        let both = direction == Direction::InOut;
        let elem = match kind {
            Kind::String => return Carrier::Text,
            Kind::Strings | Kind::Argv | Kind::Argvs | Kind::Argvp => {
                return Carrier::Array(ElementForm::Text);
            }
            Kind::Argc => return Carrier::I32,
            Kind::FStatus | Kind::F08Status => return Carrier::Nothing,
            _ => match ctype {
                CType::Int | CType::Enum | CType::Fint => ElementForm::I32,
                CType::Aint | CType::Offset | CType::Count => ElementForm::I64,
                CType::Handle if kind.is_pointer() => ElementForm::Pointer,
                CType::Handle => ElementForm::Handle,
                CType::Status => ElementForm::Status,
                CType::Double if array => return Carrier::Nothing,
                CType::Double => return Carrier::F64,
                CType::F08Status | CType::Char | CType::Void | CType::Function => {
                    return Carrier::Nothing;
                }
            },
        };
        match (elem, array) {
            (ElementForm::I32 | ElementForm::I64, true) if both => Carrier::ArrayInOut(elem),
            (_, true) => Carrier::Array(elem),
            (ElementForm::I32, false) if both => Carrier::I32InOut,
            (ElementForm::I64, false) if both => Carrier::I64InOut,
            (ElementForm::I32, false) => Carrier::I32,
            (ElementForm::I64, false) => Carrier::I64,
            (ElementForm::Handle, false) => Carrier::Handle,
            (ElementForm::Pointer, false) => Carrier::Pointer,
            (ElementForm::Status, false) => Carrier::Status,
            (ElementForm::Text, false) => Carrier::Text,
        }
    }
}
