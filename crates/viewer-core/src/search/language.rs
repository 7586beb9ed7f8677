//! The language of searches: words for names, conditions for the rest, all of which must hold.
//!
//! | | |
//! |---|---|
//! | `send`, `MPI_*all`, `"I/O access"` | the name of the category contains it; with `*`, which is any text, it is the whole name; `send\|recv` is either |
//! | `name:send` | the same as the word alone |
//! | `sender:0`, `receiver:1-3` | rank of an end of a message |
//! | `category:"MPI_Send"` | this is the whole name of the category; between quotes, `""` is a quote |
//! | `dur>1ms`, `t>=2.5s` | duration, start; `ns` `us` `ms` `s` `min`, seconds without a unit |
//! | `wait>1ms`, `wait:"late sender"`, `waitsfor:3`, `waitsfor:3.1` | the call waits so long, for this reason, for this rank, for thread 1 of it; several of these are about one wait |
//! | `rank:0-63,70`, `thread:1`, `comm:2` | of the line; of an arrow, of one of its ends; `rank!=3` is `!rank:3`: of none |
//! | `is:state`, `class:io` | `state` `event` `arrow`; a class as in the legend |
//! | `size>=1M`, `tag=7`, `page-faults>10` | a value by its key, or by the end of its key; `k` `M` `G` `T` are powers of 1024 |
//! | `file:"*.h5"`, `function=MPI_File_open` | a text, with `*` for any text |
//! | `callid:0x12` | everything with this CallID |
//! | `!` before any of them | not so |

use crate::base::error::ApiError;
use crate::trace::class::ActivityClass;
use trace_formats::slog2::Topology;

/// Terms of a query at most.
const MAX_TERMS: usize = 64;

/// A search as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchTerms(pub Vec<SearchTerm>);

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchTerm {
    /// Whether it must not hold.
    pub not: bool,
    /// The condition.
    pub condition: Condition,
}

/// A condition of a search.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// The name is or contains one of these.
    Name(Vec<String>),
    /// The name is this one.
    Category(String),
    /// Seconds.
    Duration(Comparison, f64),
    /// Start, seconds.
    Time(Comparison, f64),
    /// Seconds of a wait of the call.
    Wait(Comparison, f64),
    /// Why the call waits.
    WaitPattern(String),
    /// Ranges of ranks that the call waits for, and perhaps the number of their thread.
    WaitsFor(Vec<(i64, i64)>, Option<i64>),
    /// Ranges of ranks, threads or communicators.
    Line(LineNumber, Vec<(i64, i64)>),
    /// Ranges of ranks of the sender of a message; of anything else, of itself.
    Sender(Vec<(i64, i64)>),
    /// Ranges of ranks of the receiver of a message.
    Receiver(Vec<(i64, i64)>),
    /// Topology of the drawable.
    Is(Topology),
    /// Class of the kind.
    ActivityClass(ActivityClass),
    /// A number in the info.
    Number(String, Comparison, f64),
    /// A text in the info, or a number that was written as one.
    Text(String, String),
    /// A CallID.
    CallId(u64),
}

/// Meaning of a number of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineNumber {
    /// Rank in MPI_COMM_WORLD.
    Rank,
    /// Thread.
    Thread,
    /// Communicator.
    Comm,
}

/// Comparison of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
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

impl Comparison {
    /// Whether it holds.
    pub fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Comparison::Less => left < right,
            Comparison::AtMost => left <= right,
            Comparison::Equal => left == right,
            Comparison::Other => left != right,
            Comparison::AtLeast => left >= right,
            Comparison::More => left > right,
        }
    }
}

const OPERATORS: [(&str, Comparison); 7] = [
    (">=", Comparison::AtLeast),
    ("<=", Comparison::AtMost),
    ("!=", Comparison::Other),
    (">", Comparison::More),
    ("<", Comparison::Less),
    ("=", Comparison::Equal),
    (":", Comparison::Equal),
];

impl SearchTerms {
    /// Whether a condition is about waits of calls.
    pub(crate) fn ask_for_waits(&self) -> bool {
        let mut terms = self.0.iter();
        terms.any(|term| {
            matches!(
                term.condition,
                Condition::Wait(..) | Condition::WaitPattern(_) | Condition::WaitsFor(..)
            )
        })
    }

    /// Reads a query.
    ///
    /// # Errors
    /// The text cannot be parsed: says what was expected, and at which character.
    pub fn parse(text: &str) -> Result<Self, ApiError> {
        let mut terms = Vec::new();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let at = text.len() - rest.len();
            let wrong = |at: usize, expected: &str| {
                let place = text.get(..at).unwrap_or(text).chars().count() + 1;
                ApiError::bad_request(format!("q: expected {expected} at character {place}"))
            };
            if terms.len() == MAX_TERMS {
                return Err(wrong(at, "at most 64 conditions"));
            }
            let (mut not, body) = match rest.strip_prefix('!') {
                Some(body) => (true, body),
                None => (false, rest),
            };
            let key = body.len() - body.trim_start_matches(is_key).len();
            let operator = OPERATORS.iter().find(|(o, _)| body[key..].starts_with(o));
            let (condition, behind) = match operator {
                Some((sign, compare)) if key > 0 => {
                    let from = &body[key + sign.len()..];
                    let at = text.len() - from.len();
                    let (value, behind) = token(from).ok_or_else(|| wrong(at, "a closing \""))?;
                    if value.is_empty() {
                        return Err(wrong(at, "a value"));
                    }
                    let key = body[..key].to_lowercase();
                    // An arrow is on two lines: one that has another number is not enough for `rank!=3`.
                    let is_line = matches!(key.as_str(), "rank" | "thread" | "comm");
                    let compare = match (*compare, is_line) {
                        (Comparison::Other, true) => {
                            not = !not;
                            Comparison::Equal
                        }
                        (compare, _) => compare,
                    };
                    let condition =
                        condition(&key, compare, &value).map_err(|expected| wrong(at, expected))?;
                    (condition, behind)
                }
                _ => {
                    let at = text.len() - body.len();
                    let (word, behind) = token(body).ok_or_else(|| wrong(at, "a closing \""))?;
                    let words: Vec<String> = word.split('|').map(str::to_owned).collect();
                    if words.iter().any(String::is_empty) {
                        return Err(wrong(at, "a name"));
                    }
                    (Condition::Name(words), behind)
                }
            };
            terms.push(SearchTerm { not, condition });
            rest = behind.trim_start();
        }
        if terms.is_empty() {
            let expected = "q: expected a name, or a condition such as dur>1ms or rank:0-63";
            return Err(ApiError::bad_request(expected));
        }
        Ok(SearchTerms(terms))
    }
}

/// Whether a letter may stand in the key of a value; names of performance counters have a `-`.
pub(super) fn is_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// A text between quotes, as the language reads it: a quote in it stands twice.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// The text up to the next blank, or the one between quotes, in which a quote stands twice, and what stands behind. `None` if a quote is not closed.
fn token(text: &str) -> Option<(String, &str)> {
    if let Some(mut rest) = text.strip_prefix('"') {
        let mut found = String::new();
        loop {
            let end = rest.find('"')?;
            found.push_str(&rest[..end]);
            rest = &rest[end + 1..];
            match rest.strip_prefix('"') {
                Some(behind) => {
                    found.push('"');
                    rest = behind;
                }
                None => return Some((found, rest)),
            }
        }
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    Some((text[..end].to_owned(), &text[end..]))
}

fn condition(key: &str, compare: Comparison, value: &str) -> Result<Condition, &'static str> {
    let equal = compare == Comparison::Equal;
    Ok(match key {
        "dur" | "duration" => Condition::Duration(compare, seconds(value)?),
        "t" | "time" => Condition::Time(compare, seconds(value)?),
        "wait" => match (seconds(value), equal) {
            (Ok(seconds), _) => Condition::Wait(compare, seconds),
            (Err(_), true) => Condition::WaitPattern(value.to_owned()),
            (Err(expected), false) => return Err(expected),
        },
        "sender" if equal => Condition::Sender(ranges(value)?),
        "receiver" if equal => Condition::Receiver(ranges(value)?),
        "name" if equal => {
            let words: Vec<String> = value.split('|').map(str::to_owned).collect();
            if words.iter().any(String::is_empty) {
                return Err("a name");
            }
            Condition::Name(words)
        }
        "waitsfor" if equal => {
            let (ranks, thread) = value
                .split_once('.')
                .map_or((value, None), |(ranks, thread)| (ranks, Some(thread)));
            let thread = thread.map(|thread| {
                thread
                    .parse()
                    .map_err(|_| "ranks, such as 0-63,70, and perhaps a thread, such as 3.1")
            });
            Condition::WaitsFor(ranges(ranks)?, thread.transpose()?)
        }
        "rank" | "thread" | "comm" => {
            let of = match key {
                "rank" => LineNumber::Rank,
                "thread" => LineNumber::Thread,
                _ => LineNumber::Comm,
            };
            let numbers = match compare {
                Comparison::Equal => ranges(value)?,
                _ => {
                    let number: i64 = value.parse().map_err(|_| "a number")?;
                    match compare {
                        Comparison::Less => vec![(i64::MIN, number.saturating_sub(1))],
                        Comparison::AtMost => vec![(i64::MIN, number)],
                        Comparison::AtLeast => vec![(number, i64::MAX)],
                        _ => vec![(number.saturating_add(1), i64::MAX)],
                    }
                }
            };
            Condition::Line(of, numbers)
        }
        "is" | "type" if equal => match value {
            "state" => Condition::Is(Topology::State),
            "event" => Condition::Is(Topology::Event),
            "arrow" => Condition::Is(Topology::Arrow),
            _ => return Err("state, event or arrow"),
        },
        "class" if equal => {
            let found = ActivityClass::ALL
                .into_iter()
                .find(|class| class.name() == value);
            Condition::ActivityClass(
                found.ok_or("a class, such as p2p, collective, wait, io, rma or user")?,
            )
        }
        "category" if equal => Condition::Category(value.to_owned()),
        "callid" if equal => {
            let found = match value.strip_prefix("0x").or(value.strip_prefix("0X")) {
                Some(digits) => u64::from_str_radix(digits, 16),
                None => value.parse(),
            };
            Condition::CallId(found.map_err(|_| "a CallID, such as 0x12")?)
        }
        _ => match (size(value), compare) {
            (Some(number), _) => Condition::Number(key.to_owned(), compare, number),
            (None, Comparison::Equal) => Condition::Text(key.to_owned(), value.to_owned()),
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

    fn parse(text: &str) -> Vec<SearchTerm> {
        SearchTerms::parse(text).unwrap().0
    }

    fn one(text: &str) -> Condition {
        let mut terms = parse(text);
        assert_eq!(terms.len(), 1, "{text}");
        terms.remove(0).condition
    }

    #[test]
    fn conditions() {
        assert_eq!(one("dur>1ms"), Condition::Duration(Comparison::More, 1e-3));
        assert_eq!(
            one("dur<=3µs"),
            Condition::Duration(Comparison::AtMost, 3e-6)
        );
        assert_eq!(one("t>=1e-3"), Condition::Time(Comparison::AtLeast, 1e-3));
        let ranges = vec![(0, 63), (70, 70)];
        assert_eq!(
            one("rank:0-63,70"),
            Condition::Line(LineNumber::Rank, ranges)
        );
        assert_eq!(
            one("comm=2"),
            Condition::Line(LineNumber::Comm, vec![(2, 2)])
        );
        assert_eq!(
            one("thread>0"),
            Condition::Line(LineNumber::Thread, vec![(1, i64::MAX)])
        );
        let million = f64::from(1 << 20);
        let size = |sign| Condition::Number("size".into(), sign, million);
        assert_eq!(one("size>=1M"), size(Comparison::AtLeast));
        assert_eq!(one("size!=1MiB"), size(Comparison::Other));
        assert_eq!(
            one("tag=7"),
            Condition::Number("tag".into(), Comparison::Equal, 7.0)
        );
        let text = Condition::Text("file".into(), "a b*.h5".into());
        assert_eq!(one("file:\"a b*.h5\""), text);
        assert_eq!(one("CallID:0x1f"), Condition::CallId(31));
        assert_eq!(one("is:arrow"), Condition::Is(Topology::Arrow));
        assert_eq!(one("class:io"), Condition::ActivityClass(ActivityClass::Io));
        assert_eq!(
            one("\"I/O access\""),
            Condition::Name(vec!["I/O access".into()])
        );
        let wait = Condition::Wait(Comparison::More, 1e-3);
        assert_eq!(one("wait>1ms"), wait);
        let pattern = Condition::WaitPattern("late sender".into());
        assert_eq!(one("wait:\"late sender\""), pattern);
        assert_eq!(
            one("waitsfor:3,5-6"),
            Condition::WaitsFor(vec![(3, 3), (5, 6)], None)
        );
        let whole = Condition::Category("I/O access".into());
        assert_eq!(one("category:\"I/O access\""), whole);
        for name in ["say \"hello\" now", "\"", "\"\"", "a|b*c?d:e>f", "dur>1ms"] {
            let text = format!("category:{}", quoted(name));
            assert_eq!(one(&text), Condition::Category(name.into()), "{text}");
        }
        assert_eq!(
            one("send|recv"),
            Condition::Name(vec!["send".into(), "recv".into()])
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
            ("file:\"a\"\"", "character 6"),
            ("is:thing", "character 4"),
            ("class:none", "character 7"),
            ("size>big", "character 6"),
            ("a||b", "character 1"),
            ("callid:0xg", "character 8"),
            ("dur>1mm", "character 5"),
            ("wait>late", "character 6"),
        ] {
            let error = SearchTerms::parse(text).unwrap_err();
            assert_eq!(error.status, 400);
            assert!(error.message.ends_with(at), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "\\PC*", near in "[a-z!\"<>=:|,*0-9km. éµ-]{0,40}") {
            for text in [text, near] {
                match SearchTerms::parse(&text) {
                    Ok(terms) => prop_assert!(!terms.0.is_empty()),
                    Err(error) => prop_assert!(error.message.starts_with("q: expected")),
                }
            }
        }
    }
}
