//! The finding about MPI-IO: time, bytes, sizes of accesses, and the slowest calls.

use std::collections::BTreeMap;
use trace_formats::slog2::Topology;

use super::builder::{FindingBuilder, MAX_ITEMS};
use super::pass::DrawablePass;
use super::summary::{FindingItem, FindingTarget, TraceFinding};
use crate::base::units::{bytes, count, duration};
use crate::trace::class::ActivityClass;

impl FindingBuilder<'_, '_> {
    pub(super) fn io(&self, pass: Option<&DrawablePass>) -> Option<TraceFinding> {
        let about = self.approximately();
        let of_io: Vec<_> = self
            .times()
            .into_iter()
            .filter(|t| self.class(t.0) == ActivityClass::Io)
            .collect();
        let time: f64 = of_io.iter().map(|t| t.1).sum();
        let calls: u64 = of_io.iter().map(|t| t.2).sum();
        if calls == 0 {
            return None;
        }
        let moved: u64 = (0..)
            .zip(&self.gathered.bytes)
            .filter(|(kind, _)| self.class(*kind) == ActivityClass::Io)
            .filter(|(kind, _)| {
                let kind = &self.trace.kinds()[*kind as usize];
                kind.category.topology == Topology::State
                    && kind
                        .category
                        .info_keys
                        .iter()
                        .any(|k| k.to_str().contains("bytes"))
            })
            .map(|(_, bytes)| bytes)
            .sum();
        let mut items = Vec::new();
        let mut by_lane: BTreeMap<u32, f64> = BTreeMap::new();
        for cell in &self.gathered.found.cells {
            let kind = self.trace.kind(cell.category);
            if let (Some(kind), Ok(lane)) = (kind, u32::try_from(cell.rank))
                && self.class(kind) == ActivityClass::Io
                && self.ranks.contains_key(&lane)
            {
                *by_lane.entry(lane).or_default() += cell.tally.total;
            }
        }
        let worst = by_lane.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((lane, time)) = worst
            && let Some(line) = self.line_of(lane)
        {
            items.push(FindingItem {
                text: format!("{} spends most time in MPI-IO", self.label(line)),
                value: format!("{about}{}", duration(time)),
                target: FindingTarget {
                    timelines: self.pinned("", &[line]),
                    panel: "io".into(),
                    ..self.everywhere()
                },
            });
        }
        for state in pass.iter().flat_map(|pass| pass.io.iter().take(MAX_ITEMS)) {
            items.push(FindingItem {
                text: format!(
                    "{} on {}, and the disk operations below",
                    self.name(state.kind),
                    self.label(state.line)
                ),
                value: duration(state.duration()),
                target: FindingTarget {
                    panel: "io".into(),
                    ..self.at(state, &[state.line])
                },
            });
        }
        let mut sentence = format!(
            "{about}{} {} {about}{}",
            count(calls, "MPI-IO call"),
            if calls == 1 { "takes" } else { "take" },
            duration(time)
        );
        // Previews have no bytes.
        let moved = if self.gathered.exact { moved } else { 0 };
        if moved > 0 {
            sentence.push_str(&format!(" and move {}", bytes(moved)));
            if time > 0.0 {
                let rate = bytes((moved as f64 / time) as u64);
                sentence.push_str(&format!(", {rate}/s for each rank in them"));
            }
        }
        let accesses = pass.map(|pass| &pass.accesses);
        if let Some(accesses) = accesses.filter(|accesses| accesses.calls > 0) {
            sentence.push_str(&format!(
                "; of {}, {} move less than 64 KiB and {} do not begin at a multiple of 4 KiB",
                count(accesses.calls, "access").replace("accesss", "accesses"),
                accesses.small,
                accesses.unaligned
            ));
        }
        sentence.push('.');
        let most = accesses.and_then(|found| found.by_file.iter().max_by_key(|(_, bytes)| **bytes));
        if let (Some((file, moved)), Some(accesses)) = (most, accesses) {
            let unnamed = format!("file {file}");
            let path = accesses.paths.get(file).unwrap_or(&unnamed);
            sentence.push_str(&format!(
                " Operations move most bytes of {path}: {}.",
                bytes(*moved)
            ));
        }
        Some(TraceFinding {
            id: "io".into(),
            title: "I/O".into(),
            value: if moved > 0 {
                bytes(moved)
            } else {
                format!("{about}{}", duration(time))
            },
            sentence,
            from: "MPI_File calls, their bytes and offsets, and the operations below them".into(),
            items,
        })
    }
}
