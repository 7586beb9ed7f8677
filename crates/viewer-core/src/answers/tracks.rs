//! `tracks`: what all ranks do together over time, in equal columns of a window.

use serde::Serialize;
use trace_formats::slog2::TimeBBox;

use super::answer::Answer;
use super::viewer::Viewer;
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;
use crate::base::query::ApiQuery;
use crate::statistics::in_order::in_order;
use crate::tracks::collector::{TrackCollector, waiting};
use crate::tracks::column_sums::TrackColumns;
use crate::tracks::roles::TrackRoles;
use crate::tracks::totals::{ColumnsOfWhole, TrackSums};

/// Columns at most.
const MAX_COLUMNS: u32 = 4096;

/// Tracks of a window: what all ranks do together, in equal columns of time.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct TracksAnswer {
    /// Begin of the window, seconds.
    t0: f64,
    /// End of the window, seconds.
    t1: f64,
    /// Number of columns.
    columns: u32,
    /// `pending` while the trace is read, of which so long a window is too much to be read for an answer; `unknown` if nobody reads it.
    #[cfg_attr(test, ts(type = "\"known\" | \"pending\" | \"unknown\""))]
    state: &'static str,
    /// Number of ranks.
    ranks: u32,
    /// What the main threads of ranks do.
    r#use: Option<RanksByUse>,
    /// Messages sent per second.
    messages: Option<Vec<f32>>,
    /// Bytes of messages per second, each message spread over the time from its send to its receive.
    bytes: Option<Vec<f32>>,
    /// Bytes per second from and to files.
    io: Option<TransferRates>,
    /// Rates of the counters that were asked for.
    counters: Vec<CounterRate>,
    /// Whether columns are exact; otherwise what is known of longer ones is spread evenly in these.
    exact: bool,
}

/// Ranks by what their main threads do, each the mean of a column. The rest computes.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct RanksByUse {
    /// Waiting for other ranks; nothing as long as that is not known, and then those that wait are among the others.
    waiting: Option<Vec<f32>>,
    /// In MPI without waiting.
    mpi: Vec<f32>,
    /// In MPI-IO without waiting, and in file operations outside of MPI.
    files: Vec<f32>,
    /// In calls that start MPI or end it, which no share counts.
    starting: Vec<f32>,
    /// Whether waits too short to be kept are missing.
    lacks_short_waits: bool,
}

/// Bytes per second, each operation spread over its time.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct TransferRates {
    /// From files.
    read: Vec<f32>,
    /// To files.
    written: Vec<f32>,
}

/// How fast a performance counter counts in calls of MPI, all threads together.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct CounterRate {
    /// Name of the counter.
    name: String,
    /// Counts per second.
    rate: Vec<f32>,
}

impl Viewer<'_> {
    /// The tracks that the trace has: `ranks`, `messages`, `bytes`, `io`, and `counter:NAME` for each counter.
    pub(super) fn track_names(&self) -> Vec<String> {
        let roles = self.track_roles();
        let mut names = Vec::new();
        for (name, is_there) in [
            ("ranks", roles.ranks > 1),
            ("messages", roles.has_messages()),
            ("bytes", roles.has_messages()),
            ("io", roles.has_io()),
        ] {
            if is_there {
                names.push(name.to_owned());
            }
        }
        let counters = roles.counter_names.iter();
        names.extend(counters.map(|name| format!("counter:{name}")));
        names
    }

    /// Answers `tracks`: those of parameter `show`, joined by commas, in `w` columns.
    pub(super) fn tracks_answer(
        &self,
        query: &ApiQuery,
        cancel: Cancel<'_>,
    ) -> Result<Answer, ApiError> {
        let window = self.window(query)?;
        let number: u32 = query.number("w", 512)?;
        if number == 0 || number > MAX_COLUMNS {
            let message = format!("w={number}: expected 1 to {MAX_COLUMNS}");
            return Err(ApiError::bad_request(message));
        }
        let shown: Vec<&str> = query.text("show").split(',').collect();
        let roles = self.track_roles();
        let head = TracksAnswer {
            t0: window.earliest,
            t1: window.latest,
            columns: number,
            ranks: roles.ranks,
            ..TracksAnswer::default()
        };
        let is_pending = self.is_summing();
        let Some((found, exact)) = self.tracks_of(window, number, cancel)? else {
            let state = if is_pending { "pending" } else { "unknown" };
            return Answer::json(&TracksAnswer { state, ..head }, false);
        };
        let answer = self.told(&shown, &found, window, head, exact);
        // Waits may become known.
        Answer::json(&answer, exact && self.waits().is_some())
    }

    /// The columns of a window, and whether they are exact; `None` if it is too much to be read and nobody has read the trace.
    fn tracks_of(
        &self,
        window: TimeBBox,
        number: u32,
        cancel: Cancel<'_>,
    ) -> Result<Option<(TrackSums, bool)>, ApiError> {
        let bounds = self.trace().bounds();
        let of_whole = ColumnsOfWhole::new(window, number, bounds);
        let totals = self.tracks();
        if let Some(totals) = totals.filter(|_| of_whole.is_aligned) {
            return Ok(Some((totals.window(&of_whole), true)));
        }
        if self.trace().reader().bytes_in(window)? <= self.limits().tree_bytes {
            let roles = self.track_roles();
            let columns = TrackColumns::new(window, number, bounds);
            let collector = TrackCollector::new(self.trace(), roles, columns, number);
            let collector = std::cell::RefCell::new(collector);
            let read = in_order(
                self.trace(),
                self.budget(window, cancel),
                &mut || collector.borrow_mut().clear(),
                &mut |drawable| collector.borrow_mut().put(drawable),
            );
            match read {
                Ok(()) => return Ok(Some((collector.into_inner().finish(), true))),
                // It takes too long.
                Err(error) if error.is_cancelled() && totals.is_some() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(totals.map(|totals| (totals.window(&of_whole), false)))
    }

    /// What was asked for, as rates.
    fn told(
        &self,
        shown: &[&str],
        found: &TrackSums,
        window: TimeBBox,
        head: TracksAnswer,
        exact: bool,
    ) -> TracksAnswer {
        let roles = self.track_roles();
        let seconds = window.duration() / f64::from(head.columns);
        let rates =
            |sums: &[f64]| -> Vec<f32> { sums.iter().map(|sum| (sum / seconds) as f32).collect() };
        let is_shown = |name: &str| shown.contains(&name);
        let counters = roles.counter_names.iter().zip(&found.counters);
        let counters = counters.filter(|(name, _)| is_shown(&format!("counter:{name}")));
        TracksAnswer {
            state: "known",
            r#use: is_shown("ranks").then(|| self.by_use(found, window, head.columns, roles)),
            messages: is_shown("messages").then(|| rates(&found.messages)),
            bytes: is_shown("bytes").then(|| rates(&found.bytes)),
            io: is_shown("io").then(|| TransferRates {
                read: rates(&found.read),
                written: rates(&found.written),
            }),
            counters: counters
                .map(|(name, sums)| CounterRate {
                    name: name.clone(),
                    rate: rates(sums),
                })
                .collect(),
            exact,
            ..head
        }
    }

    fn by_use(
        &self,
        found: &TrackSums,
        window: TimeBBox,
        number: u32,
        roles: &TrackRoles,
    ) -> RanksByUse {
        let plain = |of: &[f64]| of.iter().map(|&ranks| ranks as f32).collect();
        let Some(waits) = self.waits() else {
            return RanksByUse {
                waiting: None,
                mpi: plain(&found.calls),
                files: plain(&found.files),
                starting: plain(&found.starting),
                lacks_short_waits: false,
            };
        };
        let columns = TrackColumns::new(window, number, self.trace().bounds());
        let [in_calls, in_files] = waiting(waits, roles, &columns, number);
        let without = |all: &[f64], waiting: &[f64]| {
            let both = all.iter().zip(waiting);
            both.map(|(all, waiting)| (all - waiting).max(0.0) as f32)
                .collect()
        };
        let both = in_calls.iter().zip(&in_files);
        RanksByUse {
            waiting: Some(both.map(|(calls, files)| (calls + files) as f32).collect()),
            mpi: without(&found.calls, &in_calls),
            files: without(&found.files, &in_files),
            starting: plain(&found.starting),
            lacks_short_waits: waits.shortest() > 0.0,
        }
    }
}
