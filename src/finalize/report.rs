//! The line that rank 0 prints at the end, and the counts for whoever checks them.

use super::agree::Part;
use super::outputs::Finished;
use crate::say;
use crate::settings::{Debug, Settings};
use crate::start::World;
use formats::project::dumpi;
use formats::project::scan::Scan;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::time::Instant;
use wrappers::Table;

/// What is reported.
pub struct Report<'a> {
    /// The ranks.
    pub world: &'a World,
    /// What they recorded.
    pub whole: &'a Part,
    /// Files of rank 0.
    pub files: &'a [Finished],
    /// DUMPI files, if wanted.
    pub dumpi: Option<&'a dumpi::Options>,
    /// Duration of reading, merging and writing.
    pub seconds: f64,
    /// What could not be written.
    pub failures: &'a [String],
}

/// `8604` as `8 604`.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// A path as seen from the working directory.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here)
        .unwrap_or(path)
        .display()
        .to_string()
}

fn plural(n: u64, one: &str) -> String {
    format!("{} {one}{}", grouped(n), if n == 1 { "" } else { "s" })
}

impl Report<'_> {
    /// Prints one line, and one more for each thing that went wrong.
    pub fn print(&self) {
        let mut line = format!(
            "trace: {}, {}, {} lost -> ",
            plural(self.world.size as u64, "rank"),
            plural(self.whole.calls, "call"),
            grouped(self.whole.lost)
        );
        let mut parts: Vec<String> = self
            .files
            .iter()
            .map(|f| format!("{} ({})", shown(&f.path), megabytes(f.size)))
            .collect();
        if let Some(options) = self.dumpi {
            parts.push(format!(
                "{} + {} .bin ({})",
                shown(&options.meta_path()),
                self.world.size as u64 - self.whole.dumpi_failures,
                megabytes(self.whole.dumpi_bytes)
            ));
        }
        if parts.is_empty() {
            parts.push("no files".to_owned());
        }
        line += &parts.join(", ");
        line += &format!(", merge {:.2} s", self.seconds);
        say!("{line}");
        if self.whole.lost > 0 {
            say!(
                "trace: {} could not be recorded: no room for blocks",
                plural(self.whole.lost, "call")
            );
        }
        if self.whole.silent > 0 {
            say!(
                "trace: {} of {} ranks recorded nothing: {}",
                self.whole.silent,
                self.world.size,
                self.whole.reason
            );
        }
        for failure in self.failures {
            say!("trace: {failure}");
        }
    }
}

/// Appends this rank's line to the file that the setting `counts` names: rank, number of CallIDs given out, and recorded calls
/// by function.
pub fn counts(settings: &Settings, world: &World, scan: &Scan, table: &Table) {
    let Some(path) = &settings.counts else { return };
    let path = crate::settings::expand(
        path,
        &crate::settings::Names {
            program: &crate::define::program(),
            job: &world.job.to_string(),
            date: "",
            host: &crate::define::host(),
            ranks: world.size as u32,
            rank: world.rank as u32,
            pid: std::process::id(),
        },
    );
    let mut line = format!("{} {}", world.rank, crate::process::calls_given_out());
    let names = table
        .functions
        .iter()
        .map(|f| (f.id as u16, f.name.as_str()));
    let unknown = scan.library.functions();
    for (number, name) in names.chain(unknown.iter().map(|(n, name)| (*n, name.as_str()))) {
        let calls = scan.calls_of(number);
        if calls > 0 {
            line += &format!(" {name}={calls}");
        }
    }
    line.push('\n');
    let written = OpenOptions::new()
        .create(true)
        .append(true)
        .open(crate::process::home().join(&path))
        .and_then(|mut f| f.write_all(line.as_bytes()));
    if let Err(e) = written {
        crate::say::on_first_rank(&format!("trace: {path}: {e}"));
    }
}

/// What the setting `debug` asks for, said by the first ranks only.
pub struct Diagnostics {
    rank: i32,
    begun: Instant,
    wanted: Debug,
}

impl Diagnostics {
    /// Begins to take the time.
    pub fn new(world: &World, settings: &Settings) -> Diagnostics {
        Diagnostics {
            rank: world.rank,
            begun: Instant::now(),
            wanted: if world.rank < 4 {
                settings.debug
            } else {
                Debug::NONE
            },
        }
    }

    /// Something has been reached.
    pub fn step(&self, what: &str) {
        if self.wanted.libdumpi {
            let seconds = self.begun.elapsed().as_secs_f64();
            say!("trace: rank {}: {seconds:.6} s: {what}", self.rank);
        }
    }

    /// A file has been written.
    pub fn file(&self, path: &Path, bytes: u64) {
        if self.wanted.traceio {
            let path = path.display();
            say!("trace: rank {}: {path}, {bytes} bytes", self.rank);
        }
    }

    /// How often each function was called.
    pub fn calls(&self, scan: &Scan, table: &Table) {
        if !self.wanted.mpicalls {
            return;
        }
        for function in &table.functions {
            let calls = scan.calls_of(function.id as u16);
            if calls > 0 {
                say!("trace: rank {}: {calls} {}", self.rank, function.name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_groups_of_three() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(8604), "8 604");
        assert_eq!(grouped(1_234_567), "1 234 567");
    }
}
