//! The options that say what to keep and what to remove.

use crate::failure::Failure;
use transform::{CategoryPattern, NumberRanges, PropertySelection, Selection};

const KEEP: &str = "Keep only";
const REMOVE: &str = "Remove";

/// Properties of the drawables to keep and to remove.
#[derive(Clone, Debug, clap::Args)]
pub struct SelectionArguments {
    /// Categories (DUMPI: functions) by index or by name. In a name, * matches any text and ? any character
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = KEEP, allow_negative_numbers = true)]
    category: Vec<String>,
    /// Drawables on timelines of these ranks in MPI_COMM_WORLD, such as 0,4-7,12-. An arrow needs both ends there
    #[arg(long, value_name = "LIST", help_heading = KEEP)]
    rank: Vec<NumberRanges>,
    /// Drawables on timelines of these threads
    #[arg(long, value_name = "LIST", help_heading = KEEP)]
    thread: Vec<NumberRanges>,
    /// Drawables on timelines of these communicators, by their number in the trace
    #[arg(long, value_name = "LIST", help_heading = KEEP)]
    comm: Vec<NumberRanges>,
    /// Drawables with one of these CallIDs, decimal or hexadecimal (0x)
    #[arg(long, value_name = "LIST", help_heading = KEEP)]
    callid: Vec<NumberRanges>,
    /// Drawables that overlap the time from T0 to T1, in seconds (DUMPI: since the first call of the run)
    #[arg(long, num_args = 2, value_names = ["T0", "T1"], help_heading = KEEP, allow_negative_numbers = true)]
    window: Vec<f64>,
    /// Categories, as in --category; -r is the option of slog2filter
    #[arg(short = 'r', long, value_name = "LIST", value_delimiter = ',', help_heading = REMOVE, allow_negative_numbers = true)]
    no_category: Vec<String>,
    /// Ranks, as in --rank. An arrow needs one end there
    #[arg(long, value_name = "LIST", help_heading = REMOVE)]
    no_rank: Vec<NumberRanges>,
    /// Threads, as in --thread
    #[arg(long, value_name = "LIST", help_heading = REMOVE)]
    no_thread: Vec<NumberRanges>,
    /// Communicators, as in --comm
    #[arg(long, value_name = "LIST", help_heading = REMOVE)]
    no_comm: Vec<NumberRanges>,
    /// CallIDs, as in --callid
    #[arg(long, value_name = "LIST", help_heading = REMOVE)]
    no_callid: Vec<NumberRanges>,
    /// Time windows, as in --window
    #[arg(long, num_args = 2, value_names = ["T0", "T1"], help_heading = REMOVE, allow_negative_numbers = true)]
    no_window: Vec<f64>,
    /// Keep what would be removed and remove what would be kept
    #[arg(long)]
    invert: bool,
}

impl SelectionArguments {
    /// Selection that the options describe.
    pub fn selection(&self) -> Result<Selection, Failure> {
        let patterns = |texts: &[String]| -> Vec<CategoryPattern> {
            texts.iter().map(|text| text.as_str().into()).collect()
        };
        Ok(Selection {
            categories: PropertySelection {
                keep: patterns(&self.category),
                remove: patterns(&self.no_category),
            },
            ranks: choice(&self.rank, &self.no_rank),
            threads: choice(&self.thread, &self.no_thread),
            comms: choice(&self.comm, &self.no_comm),
            call_ids: choice(&self.callid, &self.no_callid),
            windows: PropertySelection {
                keep: windows(&self.window)?,
                remove: windows(&self.no_window)?,
            },
            invert: self.invert,
        })
    }
}

fn choice(keep: &[NumberRanges], remove: &[NumberRanges]) -> PropertySelection<NumberRanges> {
    PropertySelection {
        keep: keep.to_vec(),
        remove: remove.to_vec(),
    }
}

fn windows(times: &[f64]) -> Result<Vec<(f64, f64)>, Failure> {
    let window = |pair: &[f64]| match *pair {
        [from, to] if from <= to => Ok((from, to)),
        _ => Err(Failure::Call(format!(
            "a window {pair:?}: expected a time T0 and a time T1 that is not before it"
        ))),
    };
    times.chunks(2).map(window).collect()
}
