//! Numbers of the parts of a whole that several jobs make, which do not see each other.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// Number of one of several parts of a whole: the `nth`, from 1 on, `of` so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PartNumber {
    nth: u32,
    of: u32,
}

impl PartNumber {
    /// The only part.
    pub const WHOLE: PartNumber = PartNumber { nth: 1, of: 1 };

    /// Part `nth`, from 1 on, of `of`; `None` if there is no such part.
    pub fn new(nth: u32, of: u32) -> Option<PartNumber> {
        (1..=of).contains(&nth).then_some(PartNumber { nth, of })
    }

    /// Number of the part, from 1 on.
    pub fn nth(self) -> u32 {
        self.nth
    }

    /// Number of all parts, not 0.
    pub fn of(self) -> u32 {
        self.of
    }

    /// The share of this part of `count` things in a row, by position. Each thing is in the share of one part.
    pub fn share(self, count: u64) -> Range<u64> {
        let border = |nth: u32| {
            let border = u128::from(count) * u128::from(nth) / u128::from(self.of);
            border as u64
        };
        border(self.nth - 1)..border(self.nth)
    }

    /// End of the name of the file or folder that the part is in: `part-3-of-8`.
    pub fn name(self) -> String {
        format!("part-{}-of-{}", self.nth, self.of)
    }

    /// The part of such a name; `None` for any other text, also one with zeros in front of numbers.
    pub fn of_name(name: &str) -> Option<PartNumber> {
        let (nth, of) = name.strip_prefix("part-")?.split_once("-of-")?;
        let part = PartNumber::new(nth.parse().ok()?, of.parse().ok()?)?;
        (part.name() == name).then_some(part)
    }
}

/// As `3/8`, the third of eight.
impl fmt::Display for PartNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.nth, self.of)
    }
}

impl FromStr for PartNumber {
    type Err = String;

    /// `3/8` is the third of eight.
    fn from_str(text: &str) -> Result<PartNumber, String> {
        let numbers = text.split_once('/');
        let numbers = numbers.and_then(|(nth, of)| Some((nth.parse().ok()?, of.parse().ok()?)));
        let part = numbers.and_then(|(nth, of)| PartNumber::new(nth, of));
        part.ok_or_else(|| "expected I/N, such as 3/8, where I is from 1 to N".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_told_as_it_is_named() {
        let part: PartNumber = "3/8".parse().expect("a part");
        assert_eq!(
            (part.to_string(), part.name()),
            ("3/8".into(), "part-3-of-8".into())
        );
        for bad in [
            "", "3", "/", "0/8", "9/8", "3/8/1", "1/0", "-1/2", "3/", "a/b",
        ] {
            bad.parse::<PartNumber>().expect_err(bad);
        }
        assert_eq!(PartNumber::of_name("part-3-of-8"), Some(part));
        for bad in [
            "part-03-of-8",
            "part-3-of-+8",
            "part-0-of-8",
            "part-9-of-8",
            "part-3",
        ] {
            assert_eq!(PartNumber::of_name(bad), None, "{bad}");
        }
    }

    #[test]
    fn shares_are_all_things_once() {
        for of in 1..9 {
            for count in [0, 1, 5, 8, 1000, u64::MAX] {
                let mut next = 0;
                for nth in 1..=of {
                    let share = PartNumber { nth, of }.share(count);
                    assert_eq!(share.start, next);
                    next = share.end;
                }
                assert_eq!(next, count);
            }
        }
    }
}
