//! Calendar time, as file names and the header's text need it.

use system::{broken_down, seconds_of};

/// Time zone of the times in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Zone {
    /// The zone of the process (environment variable TZ, else the system's).
    #[default]
    Local,
    /// Universal time; for texts that have to come out the same everywhere.
    Utc,
}

/// A date and a time of day, as C has it.
#[derive(Clone, Copy, Debug, Default)]
struct Date {
    tm_sec: i32,
    tm_min: i32,
    tm_hour: i32,
    tm_mday: i32,
    tm_mon: i32,
    tm_year: i32,
    tm_wday: i32,
}

#[cfg(unix)]
mod system {
    use super::{Date, Zone};
    use std::mem::MaybeUninit;

    pub fn broken_down(seconds: u64, zone: Zone) -> Option<Date> {
        let seconds = libc::time_t::try_from(seconds).ok()?;
        let mut tm = MaybeUninit::<libc::tm>::uninit();
        // SAFETY: both functions read one time_t and write one tm, whose addresses are valid for that; a non-null result
        // says that it was written.
        let tm = unsafe {
            let done = match zone {
                Zone::Local => libc::localtime_r(&seconds, tm.as_mut_ptr()),
                Zone::Utc => libc::gmtime_r(&seconds, tm.as_mut_ptr()),
            };
            if done.is_null() {
                return None;
            }
            tm.assume_init()
        };
        Some(Date {
            tm_sec: tm.tm_sec,
            tm_min: tm.tm_min,
            tm_hour: tm.tm_hour,
            tm_mday: tm.tm_mday,
            tm_mon: tm.tm_mon,
            tm_year: tm.tm_year,
            tm_wday: tm.tm_wday,
        })
    }

    /// Seconds since 1970; below 0 if there is no such time.
    pub fn seconds_of(date: Date, zone: Zone) -> i64 {
        // SAFETY: a tm is made of numbers and a pointer, which may all be zero.
        let mut tm: libc::tm = unsafe { MaybeUninit::zeroed().assume_init() };
        tm.tm_sec = date.tm_sec;
        tm.tm_min = date.tm_min;
        tm.tm_hour = date.tm_hour;
        tm.tm_mday = date.tm_mday;
        tm.tm_mon = date.tm_mon;
        tm.tm_year = date.tm_year;
        tm.tm_isdst = -1;
        // SAFETY: both functions read and normalise the tm whose address they get.
        unsafe {
            match zone {
                Zone::Local => libc::mktime(&mut tm),
                Zone::Utc => libc::timegm(&mut tm),
            }
        }
    }
}

/// In a page there are neither time zones nor runs that would have a time.
#[cfg(not(unix))]
mod system {
    use super::{Date, Zone};

    pub fn broken_down(_: u64, _: Zone) -> Option<Date> {
        None
    }

    pub fn seconds_of(_: Date, _: Zone) -> i64 {
        -1
    }
}

const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// `Fri Nov 20 05:32:58 2026`, as ctime writes it; `None` for a time beyond all calendars.
pub(super) fn ctime(seconds: u64, zone: Zone) -> Option<String> {
    let tm = broken_down(seconds, zone)?;
    let day = DAYS.get(usize::try_from(tm.tm_wday).ok()?)?;
    let month = MONTHS.get(usize::try_from(tm.tm_mon).ok()?)?;
    let year = i64::from(tm.tm_year) + 1900;
    Some(format!(
        "{day} {month} {:2} {:02}:{:02}:{:02} {year}",
        tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec
    ))
}

/// Seconds since 1970 of a time as [`ctime`] writes it. Of an hour that the end of summer time repeats, either one.
pub(super) fn from_ctime(text: &str, zone: Zone) -> Option<u64> {
    let mut words = text.split_ascii_whitespace();
    let _day = words.next().filter(|word| DAYS.contains(word))?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| *name == month)?;
    let day = words.next()?.parse().ok()?;
    let mut clock = words.next()?.split(':').map(|part| part.parse().ok());
    let [hour, minute, second] = [clock.next()??, clock.next()??, clock.next()??];
    let year: i32 = words.next()?.parse().ok()?;
    if words.next().is_some() || clock.next().is_some() {
        return None;
    }
    let date = Date {
        tm_sec: second,
        tm_min: minute,
        tm_hour: hour,
        tm_mday: day,
        tm_mon: i32::try_from(month).ok()?,
        tm_year: year.checked_sub(1900)?,
        tm_wday: 0,
    };
    let seconds = seconds_of(date, zone);
    // A time before 1970, an error's -1 among them, is no start time.
    u64::try_from(seconds).ok()
}

/// `2026.11.20.05.32.58`, the time stamp in the file names of a run.
pub(super) fn stamp(seconds: u64, zone: Zone) -> Option<String> {
    let tm = broken_down(seconds, zone)?;
    let year = i64::from(tm.tm_year) + 1900;
    let month = tm.tm_mon + 1;
    Some(format!(
        "{year:04}.{month:02}.{:02}.{:02}.{:02}.{:02}",
        tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        assert_eq!(
            ctime(1_795_152_778, Zone::Utc).as_deref(),
            Some("Fri Nov 20 05:32:58 2026")
        );
        assert_eq!(
            ctime(0, Zone::Utc).as_deref(),
            Some("Thu Jan  1 00:00:00 1970")
        );
        assert_eq!(
            stamp(1_795_152_778, Zone::Utc).as_deref(),
            Some("2026.11.20.05.32.58")
        );
        assert_eq!(ctime(u64::MAX, Zone::Utc), None);
    }

    #[test]
    fn texts_are_read_back() {
        for zone in [Zone::Utc, Zone::Local] {
            for seconds in [0, 1_795_152_778, 951_782_400, 1 << 36] {
                let text = ctime(seconds, zone).expect("a time of the calendar");
                assert_eq!(from_ctime(&text, zone), Some(seconds), "{text}");
            }
        }
        for wrong in [
            "",
            "Fri Nov 20 05:32:58",
            "Fri Non 20 05:32:58 2026",
            "Fri Nov 20 05:32 2026",
        ] {
            assert_eq!(from_ctime(wrong, Zone::Utc), None);
        }
    }
}
