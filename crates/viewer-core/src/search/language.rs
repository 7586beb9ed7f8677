//! The language of searches: words for names, conditions for the rest, all of which must hold.
//!
//! | | |
//! |---|---|
//! | `send`, `MPI_*all`, `"I/O access"` | the name of the category contains it; with `*`, which is any text, it is the whole name; `send\|recv` is either |
//! | `dur>1ms`, `t>=2.5s` | duration, start; `ns` `us` `ms` `s` `min`, seconds without a unit |
//! | `rank:0-63,70`, `thread:1`, `comm:2` | of the line; of an arrow, of one of its ends |
//! | `is:state`, `class:io` | `state` `event` `arrow`; a class as in the legend |
//! | `size>=1M`, `tag=7`, `offset<4k` | a value by its key, or by the end of its key; `k` `M` `G` `T` are powers of 1024 |
//! | `file:"*.h5"`, `function=MPI_File_open` | a text, with `*` for any text |
//! | `callid:0x12` | everything with this CallID |
//! | `!` before any of them | not so |

use crate::base::error::Refusal;
use crate::trace::class::Class;
use trace_formats::slog2::Topology;

/// Terms of a query at most.
const MOST_TERMS: usize = 64;

/// A search as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms(pub Vec<Term>);

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Whether it must not hold.
    pub not: bool,
    /// What it says.
    pub says: Says,
}

/// What a condition says.
#[derive(Clone, Debug, PartialEq)]
pub enum Says {
    /// The name is or contains one of these.
    Name(Vec<String>),
    /// Seconds.
    Duration(Compare, f64),
    /// Start, seconds.
    Time(Compare, f64),
    /// Ranges of ranks, threads or communicators.
    Line(Of, Vec<(i64, i64)>),
    /// What it is.
    Is(Topology),
    /// Class of the kind.
    Class(Class),
    /// A number in the info.
    Number(String, Compare, f64),
    /// A text in the info, or a number that was written as one.
    Text(String, String),
    /// A CallID.
    CallId(u64),
}

/// What a number of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Rank in MPI_COMM_WORLD.
    Rank,
    /// Thread.
    Thread,
    /// Communicator.
    Comm,
}

/// How two numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `=` or `:`
    Equal,
    /// `!=`
    Other,
    /// `>=`
    AtLeast,
    /// `>`
    More,
}

impl Compare {
    /// Whether it holds.
    pub fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Compare::Less => left < right,
            Compare::AtMost => left <= right,
            Compare::Equal => left == right,
            Compare::Other => left != right,
            Compare::AtLeast => left >= right,
            Compare::More => left > right,
        }
    }
}

const OPERATORS: [(&str, Compare); 7] = [
    (">=", Compare::AtLeast),
    ("<=", Compare::AtMost),
    ("!=", Compare::Other),
    (">", Compare::More),
    ("<", Compare::Less),
    ("=", Compare::Equal),
    (":", Compare::Equal),
];

impl Terms {
    /// Reads a query.
    ///
    /// # Errors
    /// What was expected, and at which character.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let mut terms = Vec::new();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let at = text.len() - rest.len();
            let wrong = |at: usize, expected: &str| {
                let place = text.get(..at).unwrap_or(text).chars().count() + 1;
                Refusal::wrong(format!("q: expected {expected} at character {place}"))
            };
            if terms.len() == MOST_TERMS {
                return Err(wrong(at, "at most 64 conditions"));
            }
            let (not, body) = match rest.strip_prefix('!') {
                Some(body) => (true, body),
                None => (false, rest),
            };
            let key = body.len() - body.trim_start_matches(is_key).len();
            let operator = OPERATORS.iter().find(|(o, _)| body[key..].starts_with(o));
            let (says, behind) = match operator {
                Some((sign, compare)) if key > 0 => {
                    let from = &body[key + sign.len()..];
                    let at = text.len() - from.len();
                    let (value, behind) = token(from).ok_or_else(|| wrong(at, "a closing \""))?;
                    if value.is_empty() {
                        return Err(wrong(at, "a value"));
                    }
                    let says = condition(&body[..key].to_lowercase(), *compare, &value)
                        .map_err(|expected| wrong(at, expected))?;
                    (says, behind)
                }
                _ => {
                    let at = text.len() - body.len();
                    let (word, behind) = token(body).ok_or_else(|| wrong(at, "a closing \""))?;
                    let words: Vec<String> = word.split('|').map(str::to_owned).collect();
                    if words.iter().any(String::is_empty) {
                        return Err(wrong(at, "a name"));
                    }
                    (Says::Name(words), behind)
                }
            };
            terms.push(Term { not, says });
            rest = behind.trim_start();
        }
        if terms.is_empty() {
            let expected = "q: expected a name, or a condition such as dur>1ms or rank:0-63";
            return Err(Refusal::wrong(expected));
        }
        Ok(Terms(terms))
    }
}

fn is_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The text up to the next blank, or the one between quotes, and what stands behind. `None` if a quote is not closed.
fn token(text: &str) -> Option<(String, &str)> {
    if let Some(quoted) = text.strip_prefix('"') {
        let end = quoted.find('"')?;
        return Some((quoted[..end].to_owned(), &quoted[end + 1..]));
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    Some((text[..end].to_owned(), &text[end..]))
}

fn condition(key: &str, compare: Compare, value: &str) -> Result<Says, &'static str> {
    let equal = compare == Compare::Equal;
    Ok(match key {
        "dur" | "duration" => Says::Duration(compare, seconds(value)?),
        "t" | "time" => Says::Time(compare, seconds(value)?),
        "rank" | "thread" | "comm" => {
            let of = match key {
                "rank" => Of::Rank,
                "thread" => Of::Thread,
                _ => Of::Comm,
            };
            let numbers = match compare {
                Compare::Equal => ranges(value)?,
                _ => {
                    let number: i64 = value.parse().map_err(|_| "a number")?;
                    match compare {
                        Compare::Less => vec![(i64::MIN, number.saturating_sub(1))],
                        Compare::AtMost => vec![(i64::MIN, number)],
                        Compare::AtLeast => vec![(number, i64::MAX)],
                        Compare::More => vec![(number.saturating_add(1), i64::MAX)],
                        _ => vec![
                            (i64::MIN, number.saturating_sub(1)),
                            (number.saturating_add(1), i64::MAX),
                        ],
                    }
                }
            };
            Says::Line(of, numbers)
        }
        "is" | "type" if equal => match value {
            "state" => Says::Is(Topology::State),
            "event" => Says::Is(Topology::Event),
            "arrow" => Says::Is(Topology::Arrow),
            _ => return Err("state, event or arrow"),
        },
        "class" if equal => {
            let found = Class::ALL.into_iter().find(|class| class.name() == value);
            Says::Class(found.ok_or("a class, such as p2p, collective, wait, io, rma or user")?)
        }
        "callid" if equal => {
            let found = match value.strip_prefix("0x").or(value.strip_prefix("0X")) {
                Some(digits) => u64::from_str_radix(digits, 16),
                None => value.parse(),
            };
            Says::CallId(found.map_err(|_| "a CallID, such as 0x12")?)
        }
        _ => match (size(value), compare) {
            (Some(number), _) => Says::Number(key.to_owned(), compare, number),
            (None, Compare::Equal) => Says::Text(key.to_owned(), value.to_owned()),
            (None, _) => return Err("a number, such as 1M"),
        },
    })
}

/// `3,7-9`.
fn ranges(text: &str) -> Result<Vec<(i64, i64)>, &'static str> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last).then_some((first, last))
    };
    let ranges: Option<Vec<_>> = text.split(',').map(range).collect();
    ranges.ok_or("numbers, such as 0-63,70")
}

/// A number and the unit behind it.
fn with_unit(text: &str) -> Option<(f64, &str)> {
    let end = text.trim_end_matches(|c: char| c.is_alphabetic()).len();
    // The e of an exponent has digits behind it, so it is not among the letters at the end.
    let number: f64 = text[..end].parse().ok()?;
    number.is_finite().then_some((number, &text[end..]))
}

fn seconds(text: &str) -> Result<f64, &'static str> {
    let expected = "a time, such as 1.5ms";
    let (number, unit) = with_unit(text).ok_or(expected)?;
    // Divided, not multiplied: 3 µs are then the float that 3e-6 is.
    Ok(match unit {
        "" | "s" => number,
        "ms" => number / 1e3,
        "us" | "µs" | "μs" => number / 1e6,
        "ns" => number / 1e9,
        "min" => number * 60.0,
        _ => return Err(expected),
    })
}

fn size(text: &str) -> Option<f64> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().map(|n| n as f64);
    }
    let (number, unit) = with_unit(text)?;
    let unit = unit
        .strip_suffix("iB")
        .or(unit.strip_suffix('B'))
        .unwrap_or(unit);
    let power = match unit {
        "" => 0,
        "k" | "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return None,
    };
    Some(number * 1024_f64.powi(power))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Vec<Term> {
        Terms::parse(text).unwrap().0
    }

    fn one(text: &str) -> Says {
        let mut terms = parse(text);
        assert_eq!(terms.len(), 1, "{text}");
        terms.remove(0).says
    }

    #[test]
    fn conditions() {
        assert_eq!(one("dur>1ms"), Says::Duration(Compare::More, 1e-3));
        assert_eq!(one("dur<=3µs"), Says::Duration(Compare::AtMost, 3e-6));
        assert_eq!(one("t>=1e-3"), Says::Time(Compare::AtLeast, 1e-3));
        let ranges = vec![(0, 63), (70, 70)];
        assert_eq!(one("rank:0-63,70"), Says::Line(Of::Rank, ranges));
        assert_eq!(one("comm=2"), Says::Line(Of::Comm, vec![(2, 2)]));
        assert_eq!(one("thread>0"), Says::Line(Of::Thread, vec![(1, i64::MAX)]));
        let million = f64::from(1 << 20);
        let size = |sign| Says::Number("size".into(), sign, million);
        assert_eq!(one("size>=1M"), size(Compare::AtLeast));
        assert_eq!(one("size!=1MiB"), size(Compare::Other));
        assert_eq!(
            one("tag=7"),
            Says::Number("tag".into(), Compare::Equal, 7.0)
        );
        let text = Says::Text("file".into(), "a b*.h5".into());
        assert_eq!(one("file:\"a b*.h5\""), text);
        assert_eq!(one("CallID:0x1f"), Says::CallId(31));
        assert_eq!(one("is:arrow"), Says::Is(Topology::Arrow));
        assert_eq!(one("class:io"), Says::Class(Class::Io));
        assert_eq!(one("\"I/O access\""), Says::Name(vec!["I/O access".into()]));
        assert_eq!(
            one("send|recv"),
            Says::Name(vec!["send".into(), "recv".into()])
        );
        let terms = parse("  !MPI_Send !rank:1  dur>0 ");
        assert_eq!(
            terms.iter().map(|t| t.not).collect::<Vec<_>>(),
            [true, true, false]
        );
    }

    #[test]
    fn errors_name_the_place() {
        for (text, at) in [
            ("", ""),
            ("   ", ""),
            ("dur>", "character 5"),
            ("MPI_Send dur>x", "character 14"),
            ("é rank:1-", "character 8"),
            ("rank:5-3", "character 6"),
            ("file:\"a", "character 6"),
            ("is:thing", "character 4"),
            ("class:none", "character 7"),
            ("size>big", "character 6"),
            ("a||b", "character 1"),
            ("callid:0xg", "character 8"),
            ("dur>1mm", "character 5"),
        ] {
            let refusal = Terms::parse(text).unwrap_err();
            assert_eq!(refusal.status, 400);
            assert!(refusal.message.ends_with(at), "{text}: {refusal}");
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "\\PC*", near in "[a-z!\"<>=:|,*0-9km. éµ-]{0,40}") {
            for text in [text, near] {
                match Terms::parse(&text) {
                    Ok(terms) => prop_assert!(!terms.0.is_empty()),
                    Err(refusal) => prop_assert!(refusal.message.starts_with("q: expected")),
                }
            }
        }
    }
}
