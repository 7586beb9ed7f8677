//! Work on names, sizes and positions, and files that are opened for little.

use super::{Evidence, FEW, IoFinding, Sureness, counted, percent};
use crate::io::CallSum;
use std::collections::BTreeSet;
use trace_model::units::{bytes, duration_ns as time};

/// From so many files on, their directory is what the file system is busy with.
const MANY_FILES: u64 = 100;

/// A file with so few bytes costs more to make than to fill.
const LITTLE: u64 = 1 << 20;

/// Metadata that take a third of the time of all I/O.
const METADATA_PART: u64 = 3;

/// Or so many calls on metadata, ten for each access, whatever they take: on a file system that hosts share each is a question to one server.
const MANY_QUESTIONS: u64 = 1000;
const QUESTIONS_PER_ACCESS: u64 = 10;

/// A file that is open for so long before its first use could have been opened later, ns. One second: less is start-up.
const EARLY_NS: u64 = 1_000_000_000;

/// A file that could have been opened later is also open and unused for this part of the time that the I/O of the run lasts: a tenth.
const EARLY_PART: u64 = 10;

/// Names of MPI functions that work on a file and move no data. Waiting for the device is told apart.
fn is_metadata(name: &str) -> bool {
    const ALL: [&str; 18] = [
        "open",
        "close",
        "delete",
        "set_size",
        "preallocate",
        "get_size",
        "get_group",
        "get_amode",
        "set_info",
        "get_info",
        "set_view",
        "get_view",
        "seek",
        "get_position",
        "get_byte_offset",
        "seek_shared",
        "get_position_shared",
        "get_type_extent",
    ];
    let name = name.strip_prefix("MPI_File_");
    name.is_some_and(|name| ALL.contains(&name))
}

/// Names of MPI functions that make and remove files.
fn is_for_files(name: &str) -> bool {
    matches!(name, "MPI_File_open" | "MPI_File_close" | "MPI_File_delete")
}

impl Evidence<'_> {
    pub(super) fn metadata(&self) -> Vec<IoFinding> {
        let many = self.many_files();
        let other = match many {
            // Those files are what the metadata are about.
            Some(_) => None,
            None => self.much_metadata(),
        };
        let all = [many, other, self.opened_early(), self.unseen_transfers()];
        all.into_iter().flatten().collect()
    }

    fn many_files(&self) -> Option<IoFinding> {
        let report = self.report;
        let small = report.accesses.files.iter();
        let small = small.filter(|(_, v)| (1..LITTLE).contains(&v.bytes));
        let of_patterns = report
            .accesses
            .patterns
            .keys()
            .map(|&(file, _, writes)| (file, writes));
        let written: BTreeSet<u32> = (report.by_file.keys().copied().chain(of_patterns))
            .filter_map(|(file, writes)| writes.then_some(file))
            .collect();
        let (mut files, mut moved, mut accesses) = (0, 0_u64, 0);
        // Of a file that is only read nobody knows how large it is.
        let mut sureness = Sureness::Sure;
        for (file, volume) in small {
            files += 1;
            if !written.contains(file) {
                sureness = Sureness::Likely;
            }
            moved = moved.saturating_add(volume.bytes);
            accesses += volume.count;
        }
        if files < MANY_FILES {
            return None;
        }
        let calls = self.facts.sum(is_for_files);
        let own = report.own.opens;
        let ns = calls.ns.saturating_add(own.ns);
        let text = format!(
            "Of {} {} each are read or written on average, in {}: to open, close and remove them takes {}, the accesses take {}. One file for all \
             of them, or one for each rank, costs one open.",
            counted(files, "file"),
            bytes(moved / files),
            counted(accesses, "access"),
            time(ns),
            time(self.access_ns())
        );
        let finding = IoFinding::new("many_files", sureness, ns, text);
        Some(finding.with(&[
            ("files", files),
            ("opens", calls.calls + own.calls),
            ("accesses", accesses),
            ("bytes", moved),
        ]))
    }

    fn much_metadata(&self) -> Option<IoFinding> {
        let mut calls = self.facts.sum(is_metadata);
        let own = &self.report.own;
        for part in [own.opens, own.others] {
            calls.calls += part.calls;
            calls.ns = calls.ns.saturating_add(part.ns);
        }
        let CallSum { calls, ns } = calls;
        let accesses = self.access_ns();
        let transfers =
            self.report.reads.calls + self.report.writes.calls + own.read.calls + own.written.calls;
        let all = accesses.saturating_add(ns);
        let takes_time = calls >= FEW && calls >= transfers && ns >= all / METADATA_PART;
        let is_much =
            calls >= MANY_QUESTIONS && calls >= transfers.saturating_mul(QUESTIONS_PER_ACCESS);
        if !takes_time && !is_much {
            return None;
        }
        let text = format!(
            "Calls that move no data (opens, closes, sizes, attributes, positions, views) take {}, {} of the time in I/O: {calls} of them for {}.",
            time(ns),
            percent(ns, all),
            counted(transfers, "access")
        );
        let sureness = match takes_time {
            true => Sureness::Likely,
            false => Sureness::Possible,
        };
        let finding = IoFinding::new("metadata", sureness, ns, text);
        Some(finding.with(&[("calls", calls), ("accesses", transfers)]))
    }

    fn opened_early(&self) -> Option<IoFinding> {
        let early = self.report.accesses.opened_early?;
        let span = self.report.span.map_or(0, |(a, b)| b.abs_diff(a));
        if early.ns < EARLY_NS || early.ns < span / EARLY_PART {
            return None;
        }
        let name = self.report.files.get(&early.file);
        let text = format!(
            "Rank {} opened {} {} before it first used it: another one may wait for the file, and a failure tells it late.",
            early.rank,
            name.map_or("a file", |file| &file.name),
            time(early.ns)
        );
        let finding = IoFinding::new("opened_early", Sureness::Possible, 0, text);
        Some(finding.with(&[("idle_ns", early.ns)]))
    }

    /// Files that the program opened and whose transfers libtrace cannot see.
    fn unseen_transfers(&self) -> Option<IoFinding> {
        let own = &self.report.own;
        if own.unseen_files == 0 || own.unseen_files * 2 < own.files {
            return None;
        }
        let were = if own.unseen_files == 1 { "was" } else { "were" };
        let text = format!(
            "{} of {} that the program opened without MPI {were} never read or written by a call that is seen: stdio (fwrite), which copies \
             and moves small pieces, or mapped memory.",
            own.unseen_files,
            counted(own.files, "file")
        );
        let finding = IoFinding::new("stdio_or_mapped", Sureness::Possible, 0, text);
        Some(finding.with(&[("unseen_files", own.unseen_files), ("files", own.files)]))
    }
}
