//! Findings about a file: errors, which make it bad, and warnings, which do not.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Display;

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The file is not what its format demands.
    Error,
    /// Odd, but readers get along with it, or what was traced was so.
    Warning,
}

impl Severity {
    fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug)]
pub struct CheckFinding {
    pub severity: Severity,
    /// Subject in a few words, the same for all findings of the kind.
    pub subject: &'static str,
    /// Place in the file: a byte, a line, a node.
    pub place: String,
    /// Content found and content expected.
    pub what: String,
}

/// Findings of a file. Of each subject only the first few are kept, so that memory is bounded whatever the file is.
#[derive(Debug)]
pub struct CheckFindings {
    kept: Vec<CheckFinding>,
    counts: BTreeMap<(Severity, &'static str), u64>,
    most: u64,
    /// Whether progress is not to be shown.
    pub quiet: bool,
}

impl CheckFindings {
    /// Keeps `most` findings of each subject.
    pub fn new(most: u64, quiet: bool) -> Self {
        CheckFindings {
            quiet,
            kept: Vec::new(),
            counts: BTreeMap::new(),
            most,
        }
    }

    fn add(
        &mut self,
        severity: Severity,
        subject: &'static str,
        place: impl FnOnce() -> String,
        what: impl FnOnce() -> String,
    ) {
        let count = self.counts.entry((severity, subject)).or_default();
        *count += 1;
        if *count <= self.most {
            self.kept.push(CheckFinding {
                severity,
                subject,
                place: place(),
                what: what(),
            });
        }
    }

    /// Adds an error: something that the format forbids, at a byte of the file.
    pub fn error(&mut self, subject: &'static str, byte: u64, what: impl Display) {
        self.error_at(subject, format_args!("byte {byte}"), what);
    }

    /// Adds an error at a place that is no byte.
    pub fn error_at(&mut self, subject: &'static str, place: impl Display, what: impl Display) {
        self.add(
            Severity::Error,
            subject,
            || place.to_string(),
            || what.to_string(),
        );
    }

    /// An error of a reader, which names its place itself.
    pub fn unreadable(&mut self, error: impl Display) {
        self.add(Severity::Error, "cannot be read", String::new, || {
            error.to_string()
        });
    }

    /// Adds a warning: something unusual, at a byte of the file.
    pub fn warning(&mut self, subject: &'static str, byte: u64, what: impl Display) {
        self.warning_at(subject, format_args!("byte {byte}"), what);
    }

    /// Adds a warning at a place that is no byte.
    pub fn warning_at(&mut self, subject: &'static str, place: impl Display, what: impl Display) {
        self.add(
            Severity::Warning,
            subject,
            || place.to_string(),
            || what.to_string(),
        );
    }

    /// Number of findings of this severity.
    pub fn count(&self, severity: Severity) -> u64 {
        let counts = self.counts.iter();
        counts
            .filter(|((found, _), _)| *found == severity)
            .map(|(_, count)| count)
            .sum()
    }

    /// Lines that name file, place and expectation, errors first; and how many more there are.
    pub fn lines(&self, file: &str) -> Vec<String> {
        let mut lines = Vec::new();
        for ((severity, subject), &count) in &self.counts {
            let kept = self.kept.iter();
            let kept = kept.filter(|f| f.severity == *severity && f.subject == *subject);
            let mut shown = 0;
            for CheckFinding { place, what, .. } in kept {
                shown += 1;
                let place = if place.is_empty() {
                    String::new()
                } else {
                    format!("{place}: ")
                };
                lines.push(format!("{file}: {}: {place}{what}", severity.name()));
            }
            if count > shown {
                let more = count - shown;
                lines.push(format!(
                    "{file}: {}: and {more} more: {subject}",
                    severity.name()
                ));
            }
        }
        lines
    }

    /// The findings as JSON.
    pub fn json(&self) -> Value {
        let kept = self.kept.iter().map(|finding| {
            json!({
                "severity": finding.severity.name(),
                "subject": finding.subject,
                "place": finding.place,
                "what": finding.what,
            })
        });
        let counts = self.counts.iter().map(|((severity, subject), count)| {
            json!({ "severity": severity.name(), "subject": subject, "count": count })
        });
        json!({
            "errors": self.count(Severity::Error),
            "warnings": self.count(Severity::Warning),
            "counts": counts.collect::<Vec<_>>(),
            "findings": kept.collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_of_each_and_the_number_of_the_others() {
        let mut findings = CheckFindings::new(2, true);
        findings.warning("late", 7, "too late, expected 3");
        for byte in 0..5 {
            findings.error("order", byte, format_args!("{byte} is out of order"));
        }
        findings.unreadable("byte 9: end of file");
        assert_eq!(
            findings.lines("f"),
            [
                "f: error: byte 9: end of file",
                "f: error: byte 0: 0 is out of order",
                "f: error: byte 1: 1 is out of order",
                "f: error: and 3 more: order",
                "f: warning: byte 7: too late, expected 3",
            ]
        );
        assert_eq!(findings.count(Severity::Error), 6);
        assert_eq!(
            findings.json()["findings"].as_array().map(Vec::len),
            Some(4)
        );
    }
}
