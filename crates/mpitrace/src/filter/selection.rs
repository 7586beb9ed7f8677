//! The options that say what to keep and what to remove.

use crate::failure::Failure;
use trace_formats::edit::{CategoryPattern, Choice, Numbers, Selection};

const KEEP: &str = "Keep only";
const REMOVE: &str = "Remove";

/// What to keep and what to remove.
#[derive(Clone, Debug, clap::Args)]
pub struct SelectionArguments {
    /// Categories (DUMPI: functions) by index or by name, in which * stands for any text and ? for any character
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = KEEP, allow_negative_numbers = true)]
    category: Vec<String>,
    /// What is on lines of these ranks in MPI_COMM_WORLD, as in 0,4-7,12-; an arrow if both its ends are
    #[arg(long, value_name = "LIST", help_heading = KEEP)]
    rank: Vec<Numbers>,
    /// What is on lines of these threads
    #[arg(long, value_name = "LIST", help_heading = KEEP)]
    thread: Vec<Numbers>,
    /// What is on lines of these communicators, by their number in the trace
    #[arg(long, value_name = "LIST", help_heading = KEEP)]
    comm: Vec<Numbers>,
    /// What carries one of these CallIDs, decimal or 0x
    #[arg(long, value_name = "LIST", help_heading = KEEP)]
    callid: Vec<Numbers>,
    /// What has a time in common with T0 to T1, in seconds (DUMPI: since the first call of the run)
    #[arg(long, num_args = 2, value_names = ["T0", "T1"], help_heading = KEEP, allow_negative_numbers = true)]
    window: Vec<f64>,
    /// Categories, as above; -r as slog2filter has it
    #[arg(short = 'r', long, value_name = "LIST", value_delimiter = ',', help_heading = REMOVE, allow_negative_numbers = true)]
    no_category: Vec<String>,
    /// Ranks, as above; an arrow if one of its ends is on such a line
    #[arg(long, value_name = "LIST", help_heading = REMOVE)]
    no_rank: Vec<Numbers>,
    /// Threads, as above
    #[arg(long, value_name = "LIST", help_heading = REMOVE)]
    no_thread: Vec<Numbers>,
    /// Communicators, as above
    #[arg(long, value_name = "LIST", help_heading = REMOVE)]
    no_comm: Vec<Numbers>,
    /// CallIDs, as above
    #[arg(long, value_name = "LIST", help_heading = REMOVE)]
    no_callid: Vec<Numbers>,
    /// Stretches of time, as above
    #[arg(long, num_args = 2, value_names = ["T0", "T1"], help_heading = REMOVE, allow_negative_numbers = true)]
    no_window: Vec<f64>,
    /// Keep what would be removed, and remove what would be kept
    #[arg(long)]
    invert: bool,
}

impl SelectionArguments {
    /// What the options select.
    pub fn selection(&self) -> Result<Selection, Failure> {
        let patterns = |texts: &[String]| -> Vec<CategoryPattern> {
            texts.iter().map(|text| text.as_str().into()).collect()
        };
        Ok(Selection {
            categories: Choice {
                keep: patterns(&self.category),
                remove: patterns(&self.no_category),
            },
            ranks: choice(&self.rank, &self.no_rank),
            threads: choice(&self.thread, &self.no_thread),
            comms: choice(&self.comm, &self.no_comm),
            call_ids: choice(&self.callid, &self.no_callid),
            windows: Choice {
                keep: windows(&self.window)?,
                remove: windows(&self.no_window)?,
            },
            invert: self.invert,
        })
    }
}

fn choice(keep: &[Numbers], remove: &[Numbers]) -> Choice<Numbers> {
    Choice {
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
