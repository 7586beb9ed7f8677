//! What tracks are made of: sums by column; and those of a whole trace in fixed columns, which are made in one look at it and kept beside it.

use serde::{Deserialize, Serialize};
use trace_formats::slog2::TimeBBox;

/// Columns of the whole trace.
pub(crate) const TOTAL_COLUMNS: u32 = 4096;
/// Part of a column by which times of a window may differ from those of columns.
const TOLERANCE: f64 = 1e-6;

/// What was collected, by column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TrackSums {
    /// Ranks in calls of MPI but for those of MPI-IO and those that start or end MPI, in the mean of the column; those that wait are among them.
    pub calls: Vec<f64>,
    /// Ranks in calls of MPI-IO and in file operations outside of MPI likewise.
    pub files: Vec<f64>,
    /// Ranks in calls that start MPI or end it likewise.
    pub starting: Vec<f64>,
    /// Messages that are sent.
    pub messages: Vec<f64>,
    /// Bytes of messages, spread over the time from the send to the receive.
    pub bytes: Vec<f64>,
    /// Bytes that are read from files, spread over the time of the operations.
    pub read: Vec<f64>,
    /// Bytes that are written to files likewise.
    pub written: Vec<f64>,
    /// By counter what it counted, spread over the time of the calls that it was read around.
    pub counters: Vec<Vec<f64>>,
}

/// The tracks of a whole trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceTracks {
    /// What there is in each column.
    pub(crate) found: TrackSums,
}

/// Columns of a window among those of the whole trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ColumnsOfWhole {
    /// Place of the begin of the window, in columns of the whole trace.
    from: f64,
    /// Columns of the whole trace in one of the window.
    step: f64,
    number: u32,
    /// Whether columns of the window are whole ones of the trace.
    pub is_aligned: bool,
}

impl ColumnsOfWhole {
    /// So many columns of a window.
    pub(crate) fn new(window: TimeBBox, number: u32, bounds: TimeBBox) -> Self {
        let per_second = f64::from(TOTAL_COLUMNS) / bounds.duration();
        let from = (window.earliest - bounds.earliest) * per_second;
        let step = window.duration() * per_second / f64::from(number);
        let is_whole = |place: f64| (place - place.round()).abs() < TOLERANCE;
        let is_aligned = is_whole(from) && step > 0.5 && is_whole(step * f64::from(number)) && {
            let rounded = step.round();
            (step - rounded).abs() * f64::from(number) < TOLERANCE
        };
        match is_aligned {
            true => ColumnsOfWhole {
                from: from.round(),
                step: step.round(),
                number,
                is_aligned,
            },
            false => ColumnsOfWhole {
                from,
                step,
                number,
                is_aligned,
            },
        }
    }

    /// Sums of what columns of the whole trace have, spread evenly within each where that is not aligned.
    fn sums(&self, whole: &[f64]) -> Vec<f64> {
        let columns = (0..self.number).map(|column| {
            let from = self.from + f64::from(column) * self.step;
            let to = from + self.step;
            let first = from.floor().max(0.0) as usize;
            let behind = (to.ceil().max(0.0) as usize).min(whole.len());
            let parts = whole[first.min(behind)..behind].iter().zip(first..);
            let parts = parts.map(|(much, at)| {
                let part = to.min(at as f64 + 1.0) - from.max(at as f64);
                much * part.clamp(0.0, 1.0)
            });
            parts.sum()
        });
        columns.collect()
    }
}

impl TraceTracks {
    /// The columns of a window.
    pub(crate) fn window(&self, columns: &ColumnsOfWhole) -> TrackSums {
        let sums = |of: &[f64]| columns.sums(of);
        let means = |of: &[f64]| -> Vec<f64> {
            let sums = columns.sums(of).into_iter();
            sums.map(|sum| sum / columns.step).collect()
        };
        let found = &self.found;
        TrackSums {
            calls: means(&found.calls),
            files: means(&found.files),
            starting: means(&found.starting),
            messages: sums(&found.messages),
            bytes: sums(&found.bytes),
            read: sums(&found.read),
            written: sums(&found.written),
            counters: found.counters.iter().map(|of| sums(of)).collect(),
        }
    }

    /// Whether these are the tracks of a trace with so many counters.
    pub(crate) fn fits(&self, counters: usize) -> bool {
        let found = &self.found;
        let ranks = [&found.calls, &found.files, &found.starting];
        let others = [&found.messages, &found.bytes, &found.read, &found.written];
        let columns = ranks.into_iter().chain(others);
        let mut columns = columns.chain(&found.counters);
        found.counters.len() == counters && columns.all(|of| of.len() == TOTAL_COLUMNS as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(earliest: f64, latest: f64) -> TimeBBox {
        TimeBBox { earliest, latest }
    }

    #[test]
    fn columns_of_a_window_are_sums_of_those_of_the_whole() {
        let bounds = window(0.0, f64::from(TOTAL_COLUMNS));
        let mut whole = vec![0.0; TOTAL_COLUMNS as usize];
        whole[..8].copy_from_slice(&[1.0, 2.0, 3.0, 4.0, 0.0, 0.0, 8.0, 0.0]);
        let of = |from, to, number| {
            let columns = ColumnsOfWhole::new(window(from, to), number, bounds);
            (columns.is_aligned, columns.sums(&whole))
        };
        assert_eq!(of(0.0, 8.0, 4), (true, vec![3.0, 7.0, 0.0, 8.0]));
        assert_eq!(of(4.0, 6.0, 2), (true, vec![0.0, 0.0]));
        assert_eq!(of(0.5, 2.5, 1), (false, vec![4.0]));
        assert_eq!(of(0.0, 3.0, 2), (false, vec![2.0, 4.0]));
        // Finer than the whole, and outside of it.
        assert_eq!(of(2.0, 3.0, 2), (false, vec![1.5, 1.5]));
        assert_eq!(of(-2.0, 2.0, 2), (true, vec![0.0, 3.0]));
        assert_eq!(of(4094.0, 4100.0, 3), (true, vec![0.0; 3]));
    }

    #[test]
    fn time_is_a_mean_and_other_amounts_are_sums() {
        let bounds = window(0.0, 1.0);
        let tracks = TraceTracks {
            found: TrackSums {
                calls: vec![2.0; TOTAL_COLUMNS as usize],
                messages: vec![2.0; TOTAL_COLUMNS as usize],
                ..TrackSums::default()
            },
        };
        let columns = ColumnsOfWhole::new(window(0.0, 1.0), 1024, bounds);
        let found = tracks.window(&columns);
        assert!(columns.is_aligned && !tracks.fits(0));
        assert!(found.calls.iter().all(|&ranks| ranks == 2.0));
        assert!(found.messages.iter().all(|&count| count == 8.0));
    }
}
