//! What the infos of calls tell about roots, requests, and files and windows: `root=`, `request=`, `completes=`, `handle=`.

use trace_model::{Category, InfoValue, info_values};

/// Requests that one call names at most.
const MAX_NAMED: usize = 1 << 16;

/// The keys that a category has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RequestInfo {
    has_any: bool,
}

/// What the info of a call says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CallInfo {
    /// Rank of the root in the communicator of the call.
    pub root: Option<i32>,
    /// Number of the request that the call makes.
    pub request: Option<u32>,
    /// Numbers of the requests that the call completes.
    pub completes: Vec<u32>,
    /// Number of the file or window of the call among those of its process.
    pub handle: Option<u32>,
}

impl RequestInfo {
    pub(super) fn of(category: &Category) -> RequestInfo {
        let named = |key: &[u8]| {
            let wanted = [&b"root="[..], b"request=", b"completes="];
            wanted.iter().any(|wanted| key.ends_with(wanted)) || is_handle(key)
        };
        RequestInfo {
            has_any: category.info_keys.iter().any(|key| named(&key.0)),
        }
    }

    pub(super) fn read(self, category: &Category, info: &[u8]) -> CallInfo {
        let mut found = CallInfo::default();
        if !self.has_any {
            return found;
        }
        for (key, value) in info_values(category, info) {
            match value {
                InfoValue::Integer(number) if key.0.ends_with(b"root=") => {
                    found.root = i32::try_from(number).ok();
                }
                InfoValue::Integer(number) if key.0.ends_with(b"request=") => {
                    found.request = u32::try_from(number).ok();
                }
                InfoValue::Integer(number) if key.0.ends_with(b"completes=") => {
                    found.completes.extend(u32::try_from(number).ok());
                }
                InfoValue::Integer(number) if is_handle(&key.0) => {
                    found.handle = u32::try_from(number).ok();
                }
                InfoValue::Text(text) if key.0.ends_with(b"completes=") => {
                    found.completes = numbers(text);
                }
                _ => {}
            }
        }
        found
    }
}

/// Whether a value is the number of a file or window: `handle=`, and what arguments of DUMPI's calls are named.
fn is_handle(key: &[u8]) -> bool {
    let names = [&b"handle="[..], b"file=", b"win="];
    names.iter().any(|name| key.ends_with(name))
}

/// The numbers that `3,7-9` stands for: 3, 7, 8, 9. What is no such text stands for none.
fn numbers(text: &[u8]) -> Vec<u32> {
    let text = std::str::from_utf8(text).unwrap_or_default();
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) {
            let room = MAX_NAMED - numbers.len();
            numbers.extend((first..=last).take(room));
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_requests_are_read() {
        assert_eq!(numbers(b"3,7-9"), [3, 7, 8, 9]);
        assert_eq!(numbers(b""), []);
        assert_eq!(numbers(b"x,4,9-"), [4]);
        assert_eq!(numbers(b"0-4294967295").len(), MAX_NAMED);
    }
}
