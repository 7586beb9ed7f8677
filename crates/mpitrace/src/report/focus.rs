//! What part of a trace a report is about: a window, a region of the program, phases.

use crate::failure::Failure;
use crate::trace_files::losses::failure;
use analysis::performance::{self, PerformanceOptions};
use std::str::FromStr;
use trace_model::{Source, TimeBBox};

/// Longest list of names in an error.
const MAX_NAMES: usize = 12;

/// A part of the run that is named and not given by times.
#[derive(Clone, Debug, PartialEq)]
pub enum NamedFocus {
    /// While a rank is in a state of this name.
    Region(String),
    /// Phases from the one to the other, which is part of it; the first one is 1.
    Phases(usize, usize),
}

impl FromStr for NamedFocus {
    type Err = String;

    fn from_str(text: &str) -> Result<NamedFocus, String> {
        let expected = || "expected 'region NAME', 'phase N' or 'phase N-M'".to_owned();
        let (kind, rest) = text.trim().split_once(' ').ok_or_else(expected)?;
        let rest = rest.trim();
        match kind {
            "region" if !rest.is_empty() => Ok(NamedFocus::Region(rest.to_owned())),
            "phase" | "phases" => {
                let (first, last) = rest.split_once('-').unwrap_or((rest, rest));
                let number = |text: &str| text.trim().parse::<usize>().ok();
                match (number(first), number(last)) {
                    (Some(first), Some(last)) if 1 <= first && first <= last => {
                        Ok(NamedFocus::Phases(first, last))
                    }
                    (Some(0), Some(_)) | (Some(_), Some(0)) => {
                        Err(format!("{text}: phases are counted from 1"))
                    }
                    (Some(first), Some(last)) => Err(format!(
                        "{text}: phase {first} comes behind phase {last}; give the first one first"
                    )),
                    _ => Err(expected()),
                }
            }
            _ => Err(expected()),
        }
    }
}

/// What a report is about.
#[derive(Clone, Debug, Default)]
pub struct FocusChoice {
    /// Between these times only.
    pub window: Option<TimeBBox>,
    /// In this part only.
    pub named: Option<NamedFocus>,
}

impl FocusChoice {
    /// Ranges of time of the choice in a trace of this name. None is the time between MPI_Init and MPI_Finalize.
    ///
    /// # Errors
    /// There is no such region or phase, or the source is bad.
    pub fn ranges(&self, name: &str, source: &dyn Source) -> Result<Vec<TimeBBox>, Failure> {
        let window: Vec<TimeBBox> = self.window.into_iter().collect();
        let ranges = match &self.named {
            None => return Ok(window),
            Some(NamedFocus::Region(region)) => {
                let ranges = performance::ranges_of_state(source, region).map_err(failure)?;
                ranges.ok_or_else(|| no_region(name, region, source))?
            }
            Some(NamedFocus::Phases(first, last)) => {
                let options = PerformanceOptions {
                    focus: window.clone(),
                    ..PerformanceOptions::default()
                };
                let all = performance::ranges_of_phases(source, &options).map_err(failure)?;
                phases(name, &all, *first, *last)?
            }
        };
        let cut = |range: TimeBBox| match self.window {
            None => range,
            Some(window) => TimeBBox {
                earliest: range.earliest.max(window.earliest),
                latest: range.latest.min(window.latest),
            },
        };
        let ranges = ranges.into_iter().map(cut);
        let ranges: Vec<TimeBBox> = ranges
            .filter(|range| range.latest > range.earliest)
            .collect();
        match ranges.is_empty() {
            true => Err(Failure::Data(format!(
                "{name}: what is chosen with --focus takes no time{}",
                if self.window.is_some() {
                    " in the window"
                } else {
                    ""
                }
            ))),
            false => Ok(ranges),
        }
    }

    /// The choice in words; empty if it is the whole run.
    pub fn words(&self) -> String {
        match &self.named {
            None => String::new(),
            Some(NamedFocus::Region(region)) => format!("region {region}"),
            Some(NamedFocus::Phases(first, last)) if first == last => format!("phase {first}"),
            Some(NamedFocus::Phases(first, last)) => format!("phases {first} to {last}"),
        }
    }
}

/// The states that there are in place of one that is not there.
fn no_region(name: &str, region: &str, source: &dyn Source) -> Failure {
    let names = performance::regions(source.definitions());
    let there = match names.len() {
        0 => "the trace has no regions of the program".to_owned(),
        number if number > MAX_NAMES => {
            let first = names[..MAX_NAMES].join(", ");
            format!("the regions are {first} and {} more", number - MAX_NAMES)
        }
        _ => format!("the regions are {}", names.join(", ")),
    };
    Failure::Call(format!("{name}: no state '{region}'; {there}"))
}

/// The ranges of some of these phases, those that touch as one.
fn phases(
    name: &str,
    all: &[TimeBBox],
    first: usize,
    last: usize,
) -> Result<Vec<TimeBBox>, Failure> {
    match all.get(first - 1..last) {
        Some(phases) => {
            let mut ranges: Vec<TimeBBox> = Vec::new();
            for &range in phases {
                match ranges.last_mut() {
                    Some(before) if before.latest >= range.earliest => before.latest = range.latest,
                    _ => ranges.push(range),
                }
            }
            Ok(ranges)
        }
        None if all.is_empty() => Err(Failure::Call(format!(
            "{name}: no phases: the program repeats nothing that takes most of the time"
        ))),
        None => Err(Failure::Call(format!(
            "{name}: no phase {last}; the phases are 1 to {}",
            all.len()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_the_run_are_named() {
        let read = |text: &str| text.parse::<NamedFocus>();
        assert_eq!(
            read("region  time step "),
            Ok(NamedFocus::Region("time step".into()))
        );
        assert_eq!(read("phase 3"), Ok(NamedFocus::Phases(3, 3)));
        assert_eq!(read("phases 2 - 5"), Ok(NamedFocus::Phases(2, 5)));
        let refused = |text| read(text).expect_err("refused");
        assert_eq!(refused("phase 0"), "phase 0: phases are counted from 1");
        assert_eq!(
            refused("phases 0-3"),
            "phases 0-3: phases are counted from 1"
        );
        assert!(refused("phases 5-2").contains("give the first one first"));
        for wrong in ["", "region", "region ", "phase x", "rank 1"] {
            let error = read(wrong).expect_err(wrong);
            assert!(error.contains("region NAME"), "{wrong}: {error}");
        }
    }
}
