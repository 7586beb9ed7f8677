//! Attribution records read from the drawables of a trace.

use std::collections::HashMap;

use super::categories::{self, DrawableMeaning};
use super::info;
use crate::Actor;
use crate::record::{AttributionRecord, FileRole, Lane, OpenedFile, PicturePoint};
use trace_model::{Category, Drawable, Source, Stop, info_values};

/// Reads the attribution records that were drawn into a trace, in the order of [`crate::record`]: files, then calls and operations,
/// then edges. Times are ns since the trace's zero. Reads the trace up to three times, as its drawables are not in that order.
///
/// # Errors
/// The errors of `put` and of the source.
pub fn read_attribution(
    source: &dyn Source,
    put: &mut dyn FnMut(&AttributionRecord) -> Result<(), Stop>,
) -> Result<(), Stop> {
    passes(source, &[&[0], &[1], &[2]], put)
}

/// Reads the attribution records that were drawn into a trace: files first, then all other records in the order of the drawables. An
/// edge may come shortly before its call or its operation. Times are ns since the trace's zero. Reads the trace up to twice.
///
/// # Errors
/// The errors of `put` and of the source.
pub fn read_attribution_by_time(
    source: &dyn Source,
    put: &mut dyn FnMut(&AttributionRecord) -> Result<(), Stop>,
) -> Result<(), Stop> {
    passes(source, &[&[0], &[1, 2]], put)
}

/// A point of which nothing is known.
pub(super) const NOWHERE: PicturePoint = PicturePoint {
    lane: Lane {
        actor: Actor::Rank(0),
        thread: 0,
        lane: 0,
    },
    ns: 0,
};

/// Time from the start of a data access until its data were moved, ns, from a drawable of a category that [`shows`](super::shows) data accesses.
pub fn time_to_completion(category: &Category, drawable: &Drawable<'_>) -> Option<i64> {
    let values = info_values(category, drawable.info).map(|(_, value)| value);
    match info::read(DrawableMeaning::Access, values, &[NOWHERE]) {
        Some(AttributionRecord::Call(call)) => Some(call.complete),
        _ => None,
    }
}

/// The files of a trace, by number: device, inode and role as each was drawn first.
#[derive(Debug, Default)]
struct DrawnFiles(HashMap<u32, ((u64, u64), FileRole)>);

impl DrawnFiles {
    /// The pass that a drawing of a file belongs to: the first, or that of the operations if the file has got another role by then.
    fn turn(&mut self, file: &OpenedFile) -> u8 {
        let identity = (file.device, file.inode);
        let first = self.0.entry(file.id).or_insert((identity, file.role));
        if first.0 == (0, 0) {
            // The file was looked for before it was made.
            first.0 = identity;
        }
        u8::from(first.0 == identity && first.1 != file.role)
    }
}

fn passes(
    source: &dyn Source,
    passes: &[&[u8]],
    put: &mut dyn FnMut(&AttributionRecord) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let definitions = source.definitions();
    let known: HashMap<i32, (DrawableMeaning, &Category)> = definitions
        .categories
        .iter()
        .filter_map(|c| Some((c.index, (categories::recognise(c)?, c))))
        .collect();
    let lanes: HashMap<i32, Lane> = definitions
        .lines
        .iter()
        .map(|line| (line.id, trace_model::lane_of(line)))
        .collect();
    let turn = |what: DrawableMeaning| match what {
        DrawableMeaning::File => 0,
        DrawableMeaning::Access | DrawableMeaning::Operation(..) => 1,
        DrawableMeaning::Edge(..) => 2,
    };
    let mut files = DrawnFiles::default();
    for now in passes {
        if !known.values().any(|(what, _)| now.contains(&turn(*what))) {
            continue;
        }
        source.for_each(&mut |drawable: &Drawable<'_>| {
            let Some(&(what, category)) = known.get(&drawable.category) else {
                return Ok(());
            };
            let is_file = what == DrawableMeaning::File;
            if !now.contains(&turn(what)) && !is_file {
                return Ok(());
            }
            let mut places = [NOWHERE; 2];
            let count = drawable.vertices.len().min(2);
            for (place, vertex) in places.iter_mut().zip(drawable.vertices) {
                place.ns = (vertex.time * 1e9).round() as i64;
                if let Some(lane) = lanes.get(&vertex.line) {
                    place.lane = *lane;
                }
            }
            let values = info_values(category, drawable.info).map(|(_, value)| value);
            match info::read(what, values, &places[..count]) {
                Some(AttributionRecord::File(file)) => match files.turn(&file) {
                    turn if now.contains(&turn) => put(&AttributionRecord::File(file)),
                    _ => Ok(()),
                },
                Some(record) => put(&record),
                None => Ok(()),
            }
        })?;
    }
    Ok(())
}
