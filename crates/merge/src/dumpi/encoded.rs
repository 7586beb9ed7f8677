//! Encoded arguments of the calls written last. Programs make the same calls over and over, and equal arguments have equal fields
//! as long as no definition comes between: handle numbers are never taken back.

/// Bytes of arguments, as recorded, that an entry has room for.
const MAX_PAYLOAD: usize = 64;
/// Bytes of fields that an entry has room for.
const MAX_FIELDS: usize = 112;
/// Entries; a power of two.
const ENTRIES: usize = 512;

/// Arguments of one call, as recorded and as fields of a record.
#[derive(Clone, Copy, Debug)]
struct EncodedCall {
    /// [`EncodedCalls::generation`] when it was kept; 0 in an entry that is empty.
    generation: u64,
    function: u16,
    id: u16,
    payload_bytes: u16,
    field_bytes: u16,
    payload: [u8; MAX_PAYLOAD],
    fields: [u8; MAX_FIELDS],
}

impl EncodedCall {
    const EMPTY: EncodedCall = EncodedCall {
        generation: 0,
        function: 0,
        id: 0,
        payload_bytes: 0,
        field_bytes: 0,
        payload: [0; MAX_PAYLOAD],
        fields: [0; MAX_FIELDS],
    };
}

/// Where the fields of a call are, or may be kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct EncodedKey<'p> {
    entry: usize,
    function: u16,
    payload: &'p [u8],
}

impl<'p> EncodedKey<'p> {
    /// Of a call of `function` with the recorded arguments `payload`; `None` if these are too long.
    #[inline]
    pub fn new(function: u16, payload: &'p [u8]) -> Option<EncodedKey<'p>> {
        if payload.len() > MAX_PAYLOAD {
            return None;
        }
        let mut hash = u64::from(function);
        let (words, rest) = payload.as_chunks::<8>();
        for word in words {
            hash = hash.rotate_left(7) ^ u64::from_ne_bytes(*word);
        }
        // Records are of whole units of 4 bytes.
        if let Some(word) = rest.first_chunk::<4>() {
            hash = hash.rotate_left(7) ^ u64::from(u32::from_ne_bytes(*word));
        }
        let mixed = hash.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Some(EncodedKey {
            entry: (mixed >> (u64::BITS - ENTRIES.ilog2())) as usize,
            function,
            payload,
        })
    }
}

/// The calls written last, by their arguments: one in each entry, the latest.
#[derive(Debug)]
pub(super) struct EncodedCalls {
    entries: Box<[EncodedCall; ENTRIES]>,
    /// Grows with each definition that may change the fields of later calls.
    generation: u64,
}

impl EncodedCalls {
    /// None yet.
    pub fn new() -> EncodedCalls {
        EncodedCalls {
            entries: Box::new([EncodedCall::EMPTY; ENTRIES]),
            generation: 1,
        }
    }

    /// What was written so far is not to be used again.
    pub fn forget(&mut self) {
        self.generation += 1;
    }

    /// The function ID of a call with these arguments that was written before, room with its fields at the beginning, and their length.
    #[inline]
    pub fn get(&self, key: &EncodedKey<'_>) -> Option<(u16, &[u8; MAX_FIELDS], usize)> {
        let call = self.entries.get(key.entry)?;
        let is_same = call.generation == self.generation
            && call.function == key.function
            && call.payload.get(..call.payload_bytes.into()) == Some(key.payload);
        is_same.then_some((call.id, &call.fields, call.field_bytes.into()))
    }

    /// Keeps the fields of a call, if there is room for them.
    pub fn keep(&mut self, key: &EncodedKey<'_>, id: u16, fields: &[u8]) {
        let Some(call) = self.entries.get_mut(key.entry) else {
            return;
        };
        let room = call.payload.get_mut(..key.payload.len());
        let (Some(payload), Some(room)) = (room, call.fields.get_mut(..fields.len())) else {
            return;
        };
        payload.copy_from_slice(key.payload);
        room.copy_from_slice(fields);
        call.generation = self.generation;
        call.function = key.function;
        call.id = id;
        call.payload_bytes = key.payload.len() as u16;
        call.field_bytes = fields.len() as u16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_equal_arguments_are_found() {
        let mut calls = EncodedCalls::new();
        fn key(function: u16, payload: &[u8]) -> EncodedKey<'_> {
            EncodedKey::new(function, payload).expect("short")
        }
        let found = |calls: &EncodedCalls, key: &EncodedKey<'_>| {
            calls
                .get(key)
                .map(|(id, fields, bytes)| (id, fields[..bytes].to_vec()))
        };
        let send = key(5, &[1, 0, 0, 0, 9, 0, 0, 0, 7, 0, 0, 0]);
        assert_eq!(found(&calls, &send), None);
        calls.keep(&send, 3, &[1, 2, 3]);
        assert_eq!(found(&calls, &send), Some((3, vec![1, 2, 3])));
        // Other functions, other arguments, and the same with zeros behind them are other calls.
        for other in [
            key(6, &[1, 0, 0, 0, 9, 0, 0, 0, 7, 0, 0, 0]),
            key(5, &[1, 0, 0, 0, 9, 0, 0, 0, 8, 0, 0, 0]),
            key(5, &[1, 0, 0, 0, 9, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0]),
        ] {
            assert_eq!(found(&calls, &other), None);
            calls.keep(
                &EncodedKey {
                    entry: send.entry,
                    ..other
                },
                4,
                &[],
            );
            assert_eq!(found(&calls, &send), None);
            calls.keep(&send, 3, &[1, 2, 3]);
        }
        calls.forget();
        assert_eq!(found(&calls, &send), None);
    }

    #[test]
    fn what_is_too_long_is_not_kept() {
        assert!(EncodedKey::new(0, &[0; MAX_PAYLOAD + 1]).is_none());
        let longest = EncodedKey::new(0, &[7; MAX_PAYLOAD]).expect("fits");
        let mut calls = EncodedCalls::new();
        calls.keep(&longest, 1, &[1; MAX_FIELDS + 1]);
        assert!(calls.get(&longest).is_none());
        calls.keep(&longest, 1, &[1; MAX_FIELDS]);
        assert_eq!(calls.get(&longest), Some((1, &[1; MAX_FIELDS], MAX_FIELDS)));
    }
}
