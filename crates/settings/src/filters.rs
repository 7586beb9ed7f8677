//! The kinds of options that leave calls out: classes of functions, ranks, ranges of sizes, numbers and times, and what becomes
//! of polling and of MPI_Pcontrol.

use std::{collections::BTreeMap, fmt, marker::PhantomData};

use wrappers::Class;

use super::values::{OptionKind, Setting, size, size_text, words};

words! {
    /// Treatment of calls that ask again and again for what is not there, or for the time.
    Polling {
        /// All such calls are recorded.
        All: "all",
        /// First and last of a row of such calls are recorded, and the number of the others.
        Sample: "sample",
    }
}

words! {
    /// Whether MPI_Pcontrol has an effect.
    Pcontrol {
        /// MPI_Pcontrol switches recording and annotates.
        Obey: "obey",
        /// MPI_Pcontrol is a call like any other.
        Ignore: "ignore",
    }
}

/// Settings of classes of functions.
pub struct ClassSettings;

/// Words for several classes.
const GROUPS: &[(&str, &[Class])] = &[
    (
        "p2p",
        &[
            Class::Send,
            Class::Recv,
            Class::Sendrecv,
            Class::Isend,
            Class::Irecv,
            Class::Isendrecv,
            Class::SendInit,
            Class::RecvInit,
            Class::PsendInit,
            Class::PrecvInit,
            Class::Partition,
            Class::Start,
            Class::Complete,
            Class::Test,
            Class::Probe,
            Class::Request,
            Class::Buffer,
        ],
    ),
    (
        "collectives",
        &[
            Class::Collective,
            Class::Icollective,
            Class::CollectiveInit,
            Class::Neighbor,
            Class::Ineighbor,
            Class::NeighborInit,
        ],
    ),
    (
        "onesided",
        &[
            Class::Rma,
            Class::RmaRequest,
            Class::RmaSync,
            Class::WinCreate,
            Class::WinFree,
            Class::WinInfo,
        ],
    ),
    (
        "files",
        &[
            Class::FileOpen,
            Class::FileClose,
            Class::FileMeta,
            Class::FileAccess,
        ],
    ),
    (
        "local",
        &[
            Class::Status,
            Class::TypeInfo,
            Class::Op,
            Class::Group,
            Class::CommInfo,
            Class::Attr,
            Class::Topo,
            Class::Env,
            Class::Memory,
            Class::Errhandler,
            Class::Info,
            Class::Tool,
        ],
    ),
];

impl OptionKind for ClassSettings {
    type Value = BTreeMap<Class, Setting>;

    const ACCUMULATES: bool = true;
    const LIST: bool = true;

    fn take(value: &mut BTreeMap<Class, Setting>, text: &str) -> Option<()> {
        let mut new = value.clone();
        let (mut named, mut any): (Vec<Class>, bool) = (Vec::new(), false);
        let words = text.split([',', '=', ' ', '\t', '\n']);
        for word in words.filter(|word| !word.is_empty()) {
            let mut setting = Setting::Enable;
            if Setting::take(&mut setting, word).is_some() {
                if named.is_empty() {
                    return None;
                }
                new.extend(named.drain(..).map(|class| (class, setting)));
                any = true;
            } else if let Some(class) = Class::from_word(word) {
                named.push(class);
            } else {
                let (_, classes) = GROUPS.iter().find(|(group, _)| *group == word)?;
                named.extend_from_slice(classes);
            }
        }
        if !any || !named.is_empty() {
            return None;
        }
        *value = new;
        Some(())
    }

    fn texts(value: &BTreeMap<Class, Setting>) -> Vec<String> {
        let text = |(class, setting): (&Class, &Setting)| format!("{} {setting}", class.word());
        value.iter().map(text).collect()
    }

    fn allowed() -> String {
        "classes or groups of functions, then disable, success or enable".into()
    }
}

/// Ranks: numbers and ranges, separated by commas; `None` for all.
pub struct RankList;

impl OptionKind for RankList {
    type Value = Option<Vec<(u32, u32)>>;

    const LIST: bool = true;

    fn take(value: &mut Option<Vec<(u32, u32)>>, text: &str) -> Option<()> {
        if text == "all" {
            *value = None;
            return Some(());
        }
        let words = text.split([',', ' ', '\t', '\n']);
        let mut ranges = Vec::new();
        for word in words.filter(|word| !word.is_empty()) {
            let (first, last) = word.split_once('-').unwrap_or((word, word));
            let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
            if first > last {
                return None;
            }
            ranges.push((first, last));
        }
        if ranges.is_empty() {
            return None;
        }
        *value = Some(ranges);
        Some(())
    }

    fn texts(value: &Option<Vec<(u32, u32)>>) -> Vec<String> {
        let Some(ranges) = value else {
            return vec!["all".into()];
        };
        let text = |&(first, last): &(u32, u32)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        };
        vec![ranges.iter().map(text).collect::<Vec<_>>().join(",")]
    }

    fn allowed() -> String {
        "all, ranks and ranges of ranks, such as 0-3,8".into()
    }
}

/// Notation of the ends of a range.
pub trait RangeEnd {
    /// The number that `text` gives.
    fn number(text: &str) -> Option<u64>;
    /// The text that gives `number`.
    fn text(number: u64) -> String;
    /// An example of a range.
    const EXAMPLE: &str;
}

/// Whole numbers.
pub struct WholeNumber;

impl RangeEnd for WholeNumber {
    fn number(text: &str) -> Option<u64> {
        text.parse().ok()
    }

    fn text(number: u64) -> String {
        number.to_string()
    }

    const EXAMPLE: &str = "2-16, 100-, -8";
}

/// Bytes; K, M, G, T stand for powers of 1024.
pub struct ByteNumber;

impl RangeEnd for ByteNumber {
    fn number(text: &str) -> Option<u64> {
        size(text)
    }

    fn text(number: u64) -> String {
        size_text(number)
    }

    const EXAMPLE: &str = "1K-64K, 1M-, -100";
}

/// Seconds with up to nine decimals; kept in ns.
pub struct Moment;

impl RangeEnd for Moment {
    fn number(text: &str) -> Option<u64> {
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let digits = part.len();
        if !(1..=9).contains(&digits) || !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let part: u64 = format!("{part:0<9}").parse().ok()?;
        let whole: u32 = whole.parse().ok()?;
        Some(u64::from(whole) * 1_000_000_000 + part)
    }

    fn text(number: u64) -> String {
        let (whole, part) = (number / 1_000_000_000, number % 1_000_000_000);
        match part {
            0 => whole.to_string(),
            _ => format!("{whole}.{part:09}").trim_end_matches('0').into(),
        }
    }

    const EXAMPLE: &str = "10-20.5, 60-, -1";
}

/// A range with both its ends; an end that is left out is the last possible number. `None` for all.
pub struct RangeFilter<E>(PhantomData<E>);

impl<E: RangeEnd> OptionKind for RangeFilter<E> {
    type Value = Option<(u64, u64)>;

    fn take(value: &mut Option<(u64, u64)>, text: &str) -> Option<()> {
        if text == "all" {
            *value = None;
            return Some(());
        }
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        if first.is_empty() && last.is_empty() {
            return None;
        }
        let end = |text: &str, without| match text {
            "" => Some(without),
            text => E::number(text),
        };
        let (first, last) = (end(first, 0)?, end(last, u64::MAX)?);
        if first > last {
            return None;
        }
        *value = Some((first, last)).filter(|&range| range != (0, u64::MAX));
        Some(())
    }

    fn texts(value: &Option<(u64, u64)>) -> Vec<String> {
        let text = match *value {
            None => "all".into(),
            Some((0, last)) => format!("-{}", E::text(last)),
            Some((first, u64::MAX)) => format!("{}-", E::text(first)),
            Some((first, last)) => format!("{}-{}", E::text(first), E::text(last)),
        };
        vec![text]
    }

    fn allowed() -> String {
        format!("all, a range such as {}", E::EXAMPLE)
    }
}

/// A number of calls, or `all`.
pub struct FirstCalls;

impl OptionKind for FirstCalls {
    type Value = Option<u32>;

    fn take(value: &mut Option<u32>, text: &str) -> Option<()> {
        *value = match text {
            "all" => None,
            text => Some(text.parse().ok()?),
        };
        Some(())
    }

    fn texts(value: &Option<u32>) -> Vec<String> {
        vec![value.map_or("all".into(), |n| n.to_string())]
    }

    fn allowed() -> String {
        "all, a number of calls".into()
    }
}
