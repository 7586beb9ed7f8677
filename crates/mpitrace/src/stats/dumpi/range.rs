//! Stretches of time as `dumpistats -b` has them: `all`, `mpi`, or `A to B`, each with `by T` for bins of that width.

use regex::Regex;
use std::sync::LazyLock;

const SECOND: i64 = 1_000_000_000;

/// Begin or end of a stretch of time. Each but the last has a bias in ns, which is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    /// The first time stamp of the rank.
    Start(i64),
    /// The last time stamp of the rank.
    End(i64),
    /// Entry into MPI_Init.
    Init(i64),
    /// Return from MPI_Finalize.
    Finalize(i64),
    /// A time on the clock of the trace, in ns.
    Time(i64),
}

/// A stretch of time, to be found in each rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankTimeRange {
    /// Text of the range as the user gave it.
    pub text: String,
    from: Bound,
    to: Bound,
    /// Width of the bins in ns; 0 is one bin for all.
    pub width: i64,
}

/// The times of a rank that bounds refer to, in ns.
#[derive(Clone, Copy, Debug, Default)]
pub struct Marks {
    pub first: i64,
    pub last: i64,
    pub init: Option<i64>,
    pub finalize: Option<i64>,
}

/// A range in a rank, ns: from the first up to, without, the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRange {
    pub from: i64,
    pub to: i64,
}

const TIME: &str = r"(?:(?:\d+:)?\d+:)?\d+(?:\.\d*)?";

static RANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = "begin|start|end|stop|init|mpi_init|finalize|mpi_finalize";
    let bound = format!(r"({words}|{TIME})\s*(?:([+-])\s*({TIME}))?");
    let range = format!(r"(?:(all|mpi)|{bound}\s*(?:\bto\b|upto\b|=>|->)\s*{bound})");
    let bins = format!(r"(?:\s*(?:by|binsize|binwidth|%)\s*({TIME}))?");
    Regex::new(&format!(r"(?i)^\s*{range}{bins}\s*$")).ok()
});

impl RankTimeRange {
    /// Reads a range as `dumpistats -b` takes it.
    ///
    /// # Errors
    /// The text is none: says what was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text:?}: expected all, mpi or A to B, then perhaps by T, as in \"init+1.5 to end by 0.1\""
            )
        };
        let parts = RANGE
            .as_ref()
            .and_then(|range| range.captures(text))
            .ok_or_else(wrong)?;
        let part = |nth: usize| parts.get(nth).map(|part| part.as_str());
        let width = match part(8) {
            Some(width) => time(width).filter(|&width| width > 0).ok_or_else(wrong)?,
            None => 0,
        };
        let (from, to) = match part(1).map(str::to_ascii_lowercase).as_deref() {
            Some("mpi") => (Bound::Init(0), Bound::Finalize(0)),
            Some(_) => (Bound::Start(0), Bound::End(0)),
            None => {
                let bound = |word, sign, bias| bound(part(word)?, part(sign), part(bias));
                let from = bound(2, 3, 4).ok_or_else(wrong)?;
                (from, bound(5, 6, 7).ok_or_else(wrong)?)
            }
        };
        Ok(RankTimeRange {
            text: text.to_owned(),
            from,
            to,
            width,
        })
    }

    /// The range in a rank's time. Without bins it includes its last nanosecond.
    pub fn of(&self, marks: &Marks) -> TimeRange {
        let at = |bound| match bound {
            Bound::Start(bias) => marks.first.saturating_add(bias),
            Bound::End(bias) => marks.last.saturating_add(bias),
            Bound::Init(bias) => marks.init.unwrap_or(marks.first).saturating_add(bias),
            Bound::Finalize(bias) => marks.finalize.unwrap_or(marks.last).saturating_add(bias),
            Bound::Time(time) => time,
        };
        TimeRange {
            from: at(self.from),
            to: at(self.to).saturating_add(i64::from(self.width == 0)),
        }
    }
}

fn bound(word: &str, sign: Option<&str>, bias: Option<&str>) -> Option<Bound> {
    let bias = match bias {
        Some(bias) if sign == Some("-") => -time(bias)?,
        Some(bias) => time(bias)?,
        None => 0,
    };
    Some(match word.to_ascii_lowercase().as_str() {
        "begin" | "start" => Bound::Start(bias),
        "end" | "stop" => Bound::End(bias),
        "init" | "mpi_init" => Bound::Init(bias),
        "finalize" | "mpi_finalize" => Bound::Finalize(bias),
        absolute => Bound::Time(time(absolute)?.checked_add(bias)?),
    })
}

/// `[[hh:]mm:]ss[.fraction]` in ns.
fn time(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut seconds = 0i64;
    for part in whole.split(':') {
        seconds = seconds.checked_mul(60)?.checked_add(part.parse().ok()?)?;
    }
    let digits = fraction.bytes().take(9).map(|digit| digit - b'0');
    let ns = digits.chain(std::iter::repeat(0)).take(9);
    let ns = ns.fold(0, |ns, digit| 10 * ns + i64::from(digit));
    seconds.checked_mul(SECOND)?.checked_add(ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_original_understands() {
        let marks = Marks {
            first: 10 * SECOND,
            last: 20 * SECOND,
            init: Some(11 * SECOND),
            finalize: Some(19 * SECOND),
        };
        let found = |text: &str| {
            let range = RankTimeRange::parse(text).unwrap();
            let TimeRange { from, to } = range.of(&marks);
            (from, to - i64::from(range.width == 0), range.width)
        };
        let s = |seconds: f64| (seconds * 1e9).round() as i64;
        assert_eq!(found("all"), (s(10.0), s(20.0), 0));
        assert_eq!(found(" ALL By 0.05"), (s(10.0), s(20.0), s(0.05)));
        assert_eq!(found("mpi%1:00"), (s(11.0), s(19.0), s(60.0)));
        assert_eq!(found("begin+1.5 to stop-0.25"), (s(11.5), s(19.75), 0));
        assert_eq!(found("mpi_init - 0.5=>MPI_Finalize"), (s(10.5), s(19.0), 0));
        assert_eq!(
            found("12.5->1:01:01.000000001 binsize 2"),
            (s(12.5), 3661 * SECOND + 1, s(2.0))
        );
        assert_eq!(
            found("start upto 15+1 binwidth 3"),
            (s(10.0), s(16.0), s(3.0))
        );
    }

    #[test]
    fn what_it_does_not() {
        for text in [
            "",
            "some",
            "start",
            "start to",
            "to end",
            "all by",
            "all by 0",
            "start+x to end",
            "startto end",
            "1:2:3:4 to end",
            "99999999999999999999 to end",
        ] {
            assert!(RankTimeRange::parse(text).is_err(), "{text}");
        }
    }
}
