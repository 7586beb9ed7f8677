//! The kernel's ring buffer as `trace_pipe_raw` gives it: pages of events, of one processor each.
//!
//! ```text
//! 0    u64 time of the first event, u64 bytes of events (bit 31: events were lost before this page, bit 30: their number
//!      stands behind the events)
//! 16   events: u32 of 5 bits type or length and 27 bits time since the last one, then by type
//!      0: u32 length + 4, data | 1 to 28: 4 times as many bytes of data | 29: nothing, for u32 bytes or to the end
//!      30: u32 upper part of the time | 31: u32 upper part of an absolute time
//! ```
//!
//! (`events/header_page` and `events/header_event`, and kernel/trace/ring_buffer.c)

/// Bytes in front of the events of a page.
const PAGE_HEADER_BYTES: usize = 16;
const MISSED: u64 = 1 << 31;
const MISSED_STORED: u64 = 1 << 30;
/// The bits of the second word that tell how many bytes of events there are.
const PAGE_LENGTH_MASK: u64 = (1 << 27) - 1;

/// The u32 at `at`.
pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_ne_bytes(*bytes))
}

/// The u64 at `at`.
pub fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u64::from_ne_bytes(*bytes))
}

/// Events that the kernel had to throw away, at least.
pub type Missed = u64;

/// Gives time in ns and data of each event on a page to `put`. What is not as it should be ends the page.
pub fn page(page: &[u8], mut put: impl FnMut(u64, &[u8])) -> Missed {
    let (Some(mut time), Some(commit)) = (u64_at(page, 0), u64_at(page, 8)) else {
        return 0;
    };
    let length = ((commit & PAGE_LENGTH_MASK) as usize).min(page.len() - PAGE_HEADER_BYTES);
    let mut rest = &page[PAGE_HEADER_BYTES..PAGE_HEADER_BYTES + length];
    while let Some(head) = u32_at(rest, 0) {
        let (kind, delta) = (head & 31, u64::from(head >> 5));
        let word = u32_at(rest, 4);
        let (skip, data) = match (kind, word) {
            (0, Some(size)) => (4 + size as usize, 8),
            (29, Some(size)) if delta != 0 => (4 + size as usize, usize::MAX),
            (30, Some(upper)) => {
                time = time
                    .wrapping_add(delta)
                    .wrapping_add(u64::from(upper) << 27);
                rest = rest.get(8..).unwrap_or_default();
                continue;
            }
            (31, Some(upper)) => {
                // The uppermost bits do not fit and stay as they were.
                time = time & !((1 << 59) - 1) | u64::from(upper) << 27 | delta;
                rest = rest.get(8..).unwrap_or_default();
                continue;
            }
            (1..=28, _) => (4 + 4 * kind as usize, 4),
            _ => break,
        };
        time = time.wrapping_add(delta);
        if skip < 4 {
            break;
        }
        if data != usize::MAX
            && let Some(bytes) = rest.get(data..skip)
        {
            put(time, bytes);
        }
        rest = rest.get(skip..).unwrap_or_default();
    }
    match commit & (MISSED | MISSED_STORED) {
        0 => 0,
        both if both & MISSED_STORED != 0 => {
            u64_at(page, PAGE_HEADER_BYTES + length).unwrap_or(1).max(1)
        }
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    fn made(time: u64, flags: u64, events: &[u32], behind: &[u8]) -> Vec<u8> {
        let events = words(events);
        let mut bytes = time.to_ne_bytes().to_vec();
        bytes.extend((events.len() as u64 | flags).to_ne_bytes());
        bytes.extend(events);
        bytes.extend(behind);
        bytes.resize(4096, 0);
        bytes
    }

    fn events(bytes: &[u8]) -> (Vec<(u64, Vec<u8>)>, Missed) {
        let mut found = Vec::new();
        let missed = page(bytes, |time, data| found.push((time, data.to_vec())));
        (found, missed)
    }

    #[test]
    fn every_type_of_event() {
        let bytes = made(
            1000,
            0,
            &[
                2 | 5 << 5, // two words, 5 ns later
                7,
                8,
                29 | 3 << 5, // thrown away: a word besides its length
                4 + 4,
                99,
                30 | 1 << 5, // much later
                2,
                9 << 5, // a large one of one word
                4 + 4,
                77,
                31 | 6 << 5, // at this time
                1,
                1, // at once
                55,
                29, // nothing to the end
                1,
            ],
            &[],
        );
        let after = 1000 + 5 + 3 + 1 + (2 << 27) + 9;
        assert_eq!(
            events(&bytes),
            (
                vec![
                    (1005, words(&[7, 8])),
                    (after, words(&[77])),
                    (6 + (1 << 27), words(&[55])),
                ],
                0
            )
        );
    }

    #[test]
    fn losses() {
        assert_eq!(events(&made(1, MISSED, &[1, 2], &[])).1, 1);
        let counted = made(1, MISSED | MISSED_STORED, &[1, 2], &300u64.to_ne_bytes());
        assert_eq!(events(&counted), (vec![(1, words(&[2]))], 300));
    }

    #[test]
    fn damage_ends_the_page() {
        let good = made(
            1,
            0,
            &[3, 1, 2, 3, 0, 12, 5, 6, 30, 1, 29 | 1 << 5, 4, 1, 9],
            &[],
        );
        for at in 0..80 {
            for value in [0, 1, 29, 30, 31, 0x7F, 0xFF] {
                let mut bytes = good.clone();
                bytes[at] = value;
                events(&bytes);
                events(&bytes[..at]);
            }
        }
    }
}
