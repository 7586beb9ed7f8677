//! Values that come with the end of a state.

use super::cargo::Cargo;
use trace_formats::clog2::CARGO_SIZE;

/// Bytes of values that need no memory of their own: with them a record takes 80 bytes.
const SHORT_BYTES: usize = 37;

/// Values of the info of a state, big-endian: first the data of its end event, as CLOG2 has them, behind them what only SLOG2 has room
/// for, as the details of its definition say; and what performance counters have counted in it.
#[derive(Clone, Debug, PartialEq)]
pub struct StateInfo(Stored);

#[derive(Clone, Debug, PartialEq)]
enum Stored {
    /// So many bytes, `data` of them data of the end event.
    Short {
        data: u8,
        length: u8,
        bytes: [u8; SHORT_BYTES],
    },
    Long(Box<LongInfo>),
}

/// More bytes, or some with counts.
#[derive(Clone, Debug, PartialEq)]
struct LongInfo {
    data: u8,
    bytes: Vec<u8>,
    counts: Option<Box<[i64]>>,
}

impl Default for StateInfo {
    #[inline]
    fn default() -> StateInfo {
        StateInfo(Stored::Short {
            data: 0,
            length: 0,
            bytes: [0; SHORT_BYTES],
        })
    }
}

impl StateInfo {
    /// Appends data of the end event, of which there are at most 32 bytes; before all details. What is missing is zero in CLOG2.
    #[inline]
    pub fn push_data(&mut self, more: &[u8]) {
        self.push(more);
        self.set_data_bytes(self.bytes().len());
    }

    /// Says how many of the values are data of the end event: no more than there are, and at most 32.
    #[inline]
    pub(super) fn set_data_bytes(&mut self, bytes: usize) {
        let length = bytes.min(self.bytes().len()).min(CARGO_SIZE) as u8;
        match &mut self.0 {
            Stored::Short { data, .. } => *data = length,
            Stored::Long(long) => long.data = length,
        }
    }

    /// Appends details.
    #[inline]
    pub fn push(&mut self, more: &[u8]) {
        if let Stored::Short { length, bytes, .. } = &mut self.0 {
            let begin = usize::from(*length);
            if let Some(room) = bytes.get_mut(begin..begin + more.len()) {
                room.copy_from_slice(more);
                *length += more.len() as u8;
                return;
            }
        }
        self.long().bytes.extend_from_slice(more);
    }

    /// Sets what performance counters have counted in the state, in the order of the names that the ranks have agreed on; empty if nothing was
    /// counted.
    pub fn set_counts(&mut self, counts: Box<[i64]>) {
        self.long().counts = Some(counts);
    }

    #[cold]
    fn long(&mut self) -> &mut LongInfo {
        if let Stored::Short { data, .. } = self.0 {
            let bytes = self.bytes().to_vec();
            self.0 = Stored::Long(Box::new(LongInfo {
                data,
                bytes,
                counts: None,
            }));
        }
        match &mut self.0 {
            Stored::Long(long) => long,
            Stored::Short { .. } => unreachable!("it was made long just now"),
        }
    }

    /// Whether the values need memory of their own.
    #[inline]
    pub(super) fn is_long(&self) -> bool {
        matches!(self.0, Stored::Long(_))
    }

    /// All values but the counts.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match &self.0 {
            Stored::Short { length, bytes, .. } => &bytes[..usize::from(*length).min(SHORT_BYTES)],
            Stored::Long(long) => &long.bytes,
        }
    }

    /// Bytes of the data of the end event among the values; 0 if it has none.
    #[inline]
    pub fn data_bytes(&self) -> usize {
        match &self.0 {
            Stored::Short { data, .. } => usize::from(*data),
            Stored::Long(long) => usize::from(long.data),
        }
    }

    /// Data of the end event; `None` if it has none.
    #[inline]
    pub fn cargo(&self) -> Option<Cargo> {
        let data = self.bytes().get(..self.data_bytes())?;
        let mut cargo = [0; CARGO_SIZE];
        cargo.get_mut(..data.len())?.copy_from_slice(data);
        (!data.is_empty()).then_some(cargo)
    }

    /// Counts of performance counters; `None` in a trace without.
    #[inline]
    pub fn counts(&self) -> Option<&[i64]> {
        match &self.0 {
            Stored::Short { .. } => None,
            Stored::Long(long) => long.counts.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_of_the_end_event_stand_before_the_details() {
        let mut info = StateInfo::default();
        assert_eq!((info.cargo(), info.bytes()), (None, &[][..]));
        info.push_data(&7u64.to_be_bytes());
        info.push(&[1, 2, 3]);
        let mut expected = [0; CARGO_SIZE];
        expected[7] = 7;
        assert_eq!(info.cargo(), Some(expected));
        assert_eq!(info.bytes(), [0, 0, 0, 0, 0, 0, 0, 7, 1, 2, 3]);
        // Many values, and counts, need memory of their own.
        let text = [b'x'; 100];
        info.push(&text);
        info.set_counts([1, -2].into());
        info.push(&[4]);
        assert_eq!(info.cargo(), Some(expected));
        assert_eq!(info.bytes().len(), 112);
        assert_eq!(info.bytes().last(), Some(&4));
        assert_eq!(info.counts(), Some(&[1, -2][..]));
    }

    #[test]
    fn details_alone_are_no_data() {
        let mut info = StateInfo::default();
        info.push(&[9; 4]);
        assert_eq!((info.cargo(), info.bytes()), (None, &[9; 4][..]));
        let cargo = [5; CARGO_SIZE];
        let mut info = StateInfo::default();
        info.push_data(&cargo);
        assert_eq!((info.cargo(), info.bytes()), (Some(cargo), &cargo[..]));
    }
}
