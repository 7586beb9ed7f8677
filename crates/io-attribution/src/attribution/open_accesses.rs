//! The accesses of a rank that are not complete, found by their call, and by the bytes of the file that they ask for.

use std::collections::{BTreeMap, BTreeSet};
use trace_model::hash::Map;

/// Key of a group of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// The calls of all processes that opened the file together: key of the file handle, number of the access.
    Collective(u128, u64),
    /// One call alone.
    Single(u64),
}

/// An access that has begun and is not complete.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenAccess {
    pub key: Key,
    pub call: u64,
    pub handle: u32,
    pub file: u32,
    pub writes: bool,
    /// Whether work may go on in other calls.
    pub outlasts: bool,
    pub start: i64,
    /// Where the bytes are that the access asks for.
    pub asked: AskedBytes,
}

/// Where the bytes of a file are that an access asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AskedBytes {
    /// The call asks for no bytes.
    None,
    /// From the first offset to before the second one.
    Within(u64, u64),
    /// The place of the bytes is known only of the whole group, or not at all.
    Unknown,
}

/// The incomplete accesses of one rank, in order of their start.
#[derive(Debug, Default)]
pub(super) struct OpenAccesses {
    /// By number in order of their start.
    all: BTreeMap<u64, OpenAccess>,
    /// Numbers by call.
    by_call: Map<u64, u64>,
    /// Accesses whose work may go on in other calls, by file and direction, then by handle.
    outlasting: Map<(u32, bool), BTreeMap<u32, OutlastingAccesses>>,
    next: u64,
}

impl OpenAccesses {
    /// An access has begun, at the earliest when the latest one did.
    pub fn begin(&mut self, access: OpenAccess) {
        let number = self.next;
        self.next += 1;
        if access.outlasts {
            let of_file = self.outlasting.entry((access.file, access.writes));
            let handles = of_file.or_default();
            handles
                .entry(access.handle)
                .or_default()
                .add(number, access.asked);
        }
        self.by_call.insert(access.call, number);
        self.all.insert(number, access);
    }

    /// The access that a call has begun.
    pub fn of_call(&self, call: u64) -> Option<&OpenAccess> {
        self.all.get(self.by_call.get(&call)?)
    }

    /// An access is complete.
    pub fn complete(&mut self, call: u64) -> Option<OpenAccess> {
        let number = *self.by_call.get(&call)?;
        self.remove(number)
    }

    /// Takes out the accesses of a handle.
    pub fn close(&mut self, handle: u32) -> Vec<OpenAccess> {
        let of_handle = self.all.iter().filter(|(_, a)| a.handle == handle);
        let numbers: Vec<u64> = of_handle.map(|(&number, _)| number).collect();
        let removed = numbers.into_iter().map(|number| self.remove(number));
        removed.flatten().collect()
    }

    fn remove(&mut self, number: u64) -> Option<OpenAccess> {
        let access = self.all.remove(&number)?;
        self.by_call.remove(&access.call);
        let of_file = (access.file, access.writes);
        if let Some(handles) = self
            .outlasting
            .get_mut(&of_file)
            .filter(|_| access.outlasts)
        {
            if let Some(accesses) = handles.get_mut(&access.handle) {
                accesses.remove(number, access.asked);
                if accesses.numbers.is_empty() {
                    handles.remove(&access.handle);
                }
            }
            if handles.is_empty() {
                self.outlasting.remove(&of_file);
            }
        }
        Some(access)
    }

    /// Writes of a file whose work may go on in other calls.
    pub fn outlasting_writes(&self, file: u32) -> impl Iterator<Item = &OpenAccess> {
        let handles = self.outlasting.get(&(file, true));
        let accesses = handles.into_iter().flat_map(BTreeMap::values);
        let numbers = accesses.flat_map(|a| &a.numbers);
        numbers.filter_map(|number| self.all.get(number))
    }

    /// Accesses whose work may go on in other calls and that can have asked for bytes of `range`, in order of their start. The
    /// first of all is always among them.
    pub fn outlasting(
        &self,
        (file, writes): (u32, bool),
        handle: Option<u32>,
        range: (u64, u64),
    ) -> impl Iterator<Item = &OpenAccess> {
        let handles = self.outlasting.get(&(file, writes));
        let mut numbers = BTreeSet::new();
        match handle {
            Some(handle) => {
                if let Some(accesses) = handles.and_then(|handles| handles.get(&handle)) {
                    accesses.add_asking(range, &mut numbers);
                }
            }
            None => {
                for accesses in handles.into_iter().flat_map(BTreeMap::values) {
                    accesses.add_asking(range, &mut numbers);
                }
            }
        }
        numbers
            .into_iter()
            .filter_map(|number| self.all.get(&number))
    }
}

/// Numbers of accesses of one file, handle and direction.
#[derive(Debug, Default)]
struct OutlastingAccesses {
    numbers: BTreeSet<u64>,
    /// Accesses of which it is not known where their bytes are.
    unknown: BTreeSet<u64>,
    /// By the binary logarithm of the length, then by start: the ends of the others. Of one length, only those that start less than
    /// twice this length before a place can reach it.
    by_length: BTreeMap<u32, BTreeMap<(u64, u64), u64>>,
}

impl OutlastingAccesses {
    fn add(&mut self, number: u64, asked: AskedBytes) {
        self.numbers.insert(number);
        match asked {
            AskedBytes::None => {}
            AskedBytes::Within(low, high) => {
                let length = length_class(low, high);
                let of_length = self.by_length.entry(length).or_default();
                of_length.insert((low, number), high);
            }
            AskedBytes::Unknown => {
                self.unknown.insert(number);
            }
        }
    }

    fn remove(&mut self, number: u64, asked: AskedBytes) {
        self.numbers.remove(&number);
        match asked {
            AskedBytes::None => {}
            AskedBytes::Within(low, high) => {
                let length = length_class(low, high);
                if let Some(of_length) = self.by_length.get_mut(&length) {
                    of_length.remove(&(low, number));
                    if of_length.is_empty() {
                        self.by_length.remove(&length);
                    }
                }
            }
            AskedBytes::Unknown => {
                self.unknown.remove(&number);
            }
        }
    }

    /// Adds the accesses that can have asked for bytes of a range, and the first one.
    fn add_asking(&self, (from, to): (u64, u64), numbers: &mut BTreeSet<u64>) {
        numbers.extend(self.numbers.first());
        numbers.extend(&self.unknown);
        for (&length, of_length) in &self.by_length {
            let longest = 2_u64.saturating_pow(length + 1);
            let first = from.saturating_sub(longest);
            for (&(low, number), &high) in of_length.range((first, 0)..(to.max(first), 0)) {
                if low < to && high > from {
                    numbers.insert(number);
                }
            }
        }
    }
}

/// Binary logarithm of the length of a range.
fn length_class(low: u64, high: u64) -> u32 {
    high.saturating_sub(low).checked_ilog2().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What asks for bytes of a range is found as if each access were looked at.
        #[test]
        fn accesses_are_found_by_their_bytes(
            begun in prop::collection::vec((0..3_u32, 0..2_u32, any::<bool>(), any::<bool>(), 0..200_u64, 0..70_u64, 0..9_u8), 0..40),
            complete in prop::collection::vec(0..40_u64, 0..20),
            (file, handle, writes) in (0..2_u32, prop::option::of(0..3_u32), any::<bool>()),
            (from, length) in (0..250_u64, 0..50_u64),
        ) {
            let (mut accesses, mut truth) = (OpenAccesses::default(), Vec::new());
            for (call, (handle, file, writes, outlasts, low, length, kind)) in (0..).zip(begun) {
                let asked = match (kind, length) {
                    (0, _) => AskedBytes::Unknown,
                    (_, 0) => AskedBytes::None,
                    _ => AskedBytes::Within(low, low + length),
                };
                let key = Key::Single(call);
                let access = OpenAccess { key, call, handle, file, writes, outlasts, start: 0, asked };
                accesses.begin(access);
                truth.push(access);
            }
            for call in complete {
                let is_there = truth.iter().any(|a| a.call == call);
                truth.retain(|a| a.call != call);
                prop_assert_eq!(accesses.complete(call).map(|a| a.call), is_there.then_some(call));
            }
            let is_of = |a: &&OpenAccess| {
                a.outlasts && a.file == file && a.writes == writes && handle.is_none_or(|h| h == a.handle)
            };
            let to = from + length;
            let asks = |a: &OpenAccess| match a.asked {
                AskedBytes::None => false,
                AskedBytes::Within(low, high) => low < to && high > from,
                AskedBytes::Unknown => true,
            };
            let found: Vec<&OpenAccess> = accesses.outlasting((file, writes), handle, (from, to)).collect();
            let mine: Vec<&OpenAccess> = truth.iter().filter(is_of).collect();
            prop_assert_eq!(found.first().map(|a| a.call), mine.first().map(|a| a.call));
            prop_assert!(found.is_sorted_by_key(|a| a.call));
            let calls = |list: &[&OpenAccess]| -> Vec<u64> {
                list.iter().filter(|a| asks(a)).map(|a| a.call).collect()
            };
            prop_assert_eq!(calls(&found), calls(&mine));
            let mut writing: Vec<u64> = accesses.outlasting_writes(file).map(|a| a.call).collect();
            writing.sort_unstable();
            let is_writing = |a: &&OpenAccess| a.outlasts && a.writes && a.file == file;
            let expected: Vec<u64> = truth.iter().filter(is_writing).map(|a| a.call).collect();
            prop_assert_eq!(writing, expected);
            let of_handle: Vec<u64> = truth.iter().filter(|a| a.handle == 1).map(|a| a.call).collect();
            let closed: Vec<u64> = accesses.close(1).iter().map(|a| a.call).collect();
            prop_assert_eq!(closed, of_handle);
        }
    }
}
