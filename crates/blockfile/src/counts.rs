//! Values of performance counters: one record in front of that of the call, with a pair for each counter that the latest
//! [`COUNTERS`](crate::define::COUNTERS) record names.
//!
//! ```text
//! head   COUNTS, start and duration of the call
//! 0      for each counter i64 value when the call began, i64 when it had returned
//! ```

/// Maximum number of counters of a process: DUMPI counts them in 7 bits.
pub const MAX_COUNTERS: usize = 128;
/// Bytes of a pair.
pub const PAIR_BYTES: usize = 16;

/// The pairs of values in this payload. Bytes at the end that make no whole pair are ignored.
pub fn decode(payload: &[u8]) -> impl Iterator<Item = (i64, i64)> + '_ {
    let value = |bytes: &[u8]| bytes.first_chunk().map_or(0, |b| i64::from_ne_bytes(*b));
    payload
        .chunks_exact(PAIR_BYTES)
        .take(MAX_COUNTERS)
        .map(move |pair| (value(pair), value(&pair[8..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_as_written() {
        let pairs = [(1, 2), (-3, i64::MAX)];
        let bytes: Vec<u8> = pairs
            .iter()
            .flat_map(|(a, b): &(i64, i64)| [a.to_ne_bytes(), b.to_ne_bytes()].concat())
            .collect();
        assert!(decode(&bytes).eq(pairs));
        assert!(decode(&bytes[..31]).eq(pairs[..1].iter().copied()));
        assert_eq!(decode(&vec![0; 200 * PAIR_BYTES]).count(), MAX_COUNTERS);
    }
}
