//! Numbers of the requests of a process, by which infos say what a call completes.

/// The longest text of an info, bytes.
const MAX_TEXT: usize = i16::MAX as usize;

/// Numbers of the requests that a process makes, and those that the call has to do with that is looked at.
#[derive(Debug, Default)]
pub(super) struct RequestNumbers {
    /// Number of the last request; the first has 1.
    last: u32,
    /// The request that the call has made.
    pub made: Option<u32>,
    pub completed: Vec<u32>,
    /// The list of numbers as text.
    text: Vec<u8>,
}

impl RequestNumbers {
    /// The request that a call has started when it began.
    #[inline]
    pub fn begun(&mut self) -> Option<u32> {
        self.made.take()
    }

    /// A call ends that has started this request when it began.
    #[inline]
    pub fn end_call(&mut self, begun: Option<u32>) {
        self.made = begun;
        self.completed.clear();
    }

    /// The call makes a request. Gives its number.
    #[inline]
    pub fn make(&mut self) -> u32 {
        self.last = self.last.wrapping_add(1);
        self.made = Some(self.last);
        self.last
    }

    /// The call has completed the operation of the request with this number; 0 is one without.
    #[inline]
    pub fn complete(&mut self, number: u32) {
        if number > 0 {
            self.completed.push(number);
        }
    }

    /// The numbers of completed requests as a text such as `3,7-9`, cut behind a number if it is too long.
    pub fn completed_text(&mut self) -> &[u8] {
        self.text.clear();
        self.completed.sort_unstable();
        for run in self.completed.chunk_by(|a, b| a.wrapping_add(1) == *b) {
            let (Some(first), Some(last)) = (run.first(), run.last()) else {
                continue;
            };
            let begin = self.text.len();
            if begin > 0 {
                self.text.push(b',');
            }
            push_decimal(&mut self.text, *first);
            if last != first {
                self.text.push(b'-');
                push_decimal(&mut self.text, *last);
            }
            if self.text.len() > MAX_TEXT {
                self.text.truncate(begin);
                break;
            }
        }
        &self.text
    }
}

/// Appends the digits of a number.
fn push_decimal(text: &mut Vec<u8>, number: u32) {
    let mut digits = [0; 10];
    let mut first = digits.len();
    let mut rest = number;
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[first..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completed_requests_are_listed_in_runs() {
        let mut numbers = RequestNumbers::default();
        for number in [9, 3, 7, 8, 0, u32::MAX] {
            numbers.complete(number);
        }
        assert_eq!(numbers.completed_text(), b"3,7-9,4294967295");
        numbers.end_call(None);
        assert_eq!(numbers.completed_text(), b"");
        (0..20_000).for_each(|number| numbers.complete(3 * number + 1));
        let text = numbers.completed_text();
        assert!(text.len() <= MAX_TEXT && text.len() > MAX_TEXT - 10);
        assert!(text.last().is_some_and(u8::is_ascii_digit));
    }
}
