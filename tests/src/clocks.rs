//! Times that a trace tells, against those that the program's own clocks told.

/// How often a program runs before its times count as wrong.
const RUNS: usize = 3;

/// By how many seconds a time may differ from the program's: 2 % of it, or 3 ms.
pub fn tolerance(expected: f64) -> f64 {
    f64::max(0.003, 0.02 * expected)
}

/// Whether a time in seconds is the program's, within [`tolerance`].
pub fn agree(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= tolerance(expected)
}

/// Runs a program and compares its times, up to three times until they agree.
///
/// A rank may lose the processor for some milliseconds between its own reading of the clock and the recorder's. That makes one
/// run of several wrong; a fault of the recorder or of the analysis makes all of them wrong.
///
/// # Panics
/// With what the last run said, if none agreed.
#[track_caller]
pub fn in_one_of_three_runs(mut compare: impl FnMut() -> Result<(), String>) {
    let mut said = Vec::new();
    for _ in 0..RUNS {
        match compare() {
            Ok(()) => return,
            Err(story) => said.push(story),
        }
    }
    panic!("in each of {RUNS} runs: {}", said.join("\n"));
}
