//! What `otf2-print` prints of an archive.

use std::io;
use std::path::Path;
use std::process::Command;

use test_support::skip;

/// An event as it is printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintedEvent {
    /// `ENTER`, `MPI_SEND`, ….
    pub kind: String,
    /// Number of the location.
    pub location: u64,
    /// Time in ns.
    pub time: u64,
    /// What stands behind it: `Region: "MPI_Send" <12>`.
    pub text: String,
    /// Attributes: `("CallID" <2>; UINT64; 18), …`; empty without any.
    pub attributes: String,
}

impl PrintedEvent {
    /// The value with this name, without its reference: `1` of `Receiver: 1 ("thread 0" <1>)`, `solve` of `Region: "solve" <3>`.
    pub fn value(&self, name: &str) -> &str {
        let sign = format!("{name}: ");
        let Some((_, value)) = self.text.split_once(&sign) else {
            panic!("no {name} in {self:?}");
        };
        match value.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next().unwrap_or_default(),
            None => value.split([',', ' ']).next().unwrap_or_default(),
        }
    }
}

/// Definitions and events of an archive.
#[derive(Clone, Debug, Default)]
pub struct PrintedArchive {
    /// A line for each definition.
    pub definitions: Vec<String>,
    /// The events of all locations in order of time.
    pub events: Vec<PrintedEvent>,
}

impl PrintedArchive {
    /// Prints an archive. `None` where there is no `otf2-print`, which is said.
    pub fn of(folder: &Path) -> Option<PrintedArchive> {
        let definitions = print(folder, &["-G"])?;
        let mut archive = PrintedArchive {
            definitions: definitions.lines().map(str::to_owned).collect(),
            ..PrintedArchive::default()
        };
        for line in print(folder, &[])?.lines() {
            let (first, rest) = split_word(line);
            if let Some(attributes) = line.trim_start().strip_prefix("ADDITIONAL ATTRIBUTES: ") {
                let event = archive.events.last_mut().expect("attributes of an event");
                event.attributes = attributes.to_owned();
                continue;
            }
            let (location, rest) = split_word(rest);
            let (time, text) = split_word(rest);
            let (Ok(location), Ok(time)) = (location.parse(), time.parse()) else {
                continue;
            };
            archive.events.push(PrintedEvent {
                kind: first.to_owned(),
                location,
                time,
                text: text.trim().to_owned(),
                attributes: String::new(),
            });
        }
        Some(archive)
    }

    /// The definitions of this kind.
    pub fn definitions_of(&self, kind: &str) -> Vec<&str> {
        let lines = self.definitions.iter().map(String::as_str);
        lines.filter(|line| split_word(line).0 == kind).collect()
    }

    /// The events of this kind.
    pub fn of_kind(&self, kind: &str) -> impl Iterator<Item = &PrintedEvent> {
        self.events.iter().filter(move |event| event.kind == kind)
    }
}

/// The first word of a text, and the rest.
fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(char::is_whitespace).unwrap_or((text, ""))
}

fn print(folder: &Path, options: &[&str]) -> Option<String> {
    let mut command = Command::new("otf2-print");
    let output = command
        .args(options)
        .arg(folder.join("traces.otf2"))
        .output();
    let output = match output {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            skip("otf2-print is not installed");
            return None;
        }
        output => output.expect("otf2-print runs"),
    };
    let warnings = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && warnings.is_empty(), "{warnings}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}
