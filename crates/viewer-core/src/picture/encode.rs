//! A picture as a frame: what pictures of drawables and of the index have in common.

use super::cells::PictureCells;
use super::frame::{FrameHeader, FrameWriter, section};
use super::request::PictureRequest;

/// Kinds up to which a byte names each of them, and none.
const MAX_KINDS_IN_A_BYTE: usize = 254;

/// Fields of a frame's header that do not repeat the question.
pub(super) struct PictureSummary {
    pub flags: u32,
    /// Drawables in the window and on the timelines.
    pub drawables: u64,
    /// Arrows that were found of those that are asked for.
    pub arrows: u64,
}

/// The frame of a picture: its cells, and what `more` adds to the sections.
pub(super) fn encode(
    request: &PictureRequest<'_>,
    cells: &PictureCells,
    kinds: usize,
    more: impl FnOnce(&mut FrameWriter) -> PictureSummary,
) -> Vec<u8> {
    let mut writer = FrameWriter::default();
    write_cells(&mut writer, cells, kinds <= MAX_KINDS_IN_A_BYTE);
    let summary = more(&mut writer);
    writer.finish(&FrameHeader {
        kind: 1,
        columns: request.width as u32,
        timelines: request.timelines.len() as u32,
        flags: summary.flags,
        seq: request.seq,
        first_timeline: request.timelines.start as u32,
        window: [request.window.earliest, request.window.latest],
        drawables: summary.drawables,
        arrows: summary.arrows,
    })
}

/// Writes the channels of cells.
fn write_cells(writer: &mut FrameWriter, cells: &PictureCells, are_few: bool) {
    writer.kinds(section::CATEGORY, &cells.category, are_few);
    writer.bytes(section::BUSY, &cells.busy);
    for (id, channel) in [
        (section::DEVIATION, &cells.deviation),
        (section::EVENTS, &cells.events),
        (section::HITS, &cells.hits),
    ] {
        if !channel.is_empty() {
            writer.bytes(id, channel);
        }
    }
    if !cells.share.is_empty() {
        let [.., share] = section::STACK;
        for (ids, (kinds, shares)) in section::STACK.chunks(2).zip(&cells.others) {
            writer.kinds(ids[0], kinds, are_few);
            writer.bytes(ids[1], shares);
        }
        writer.bytes(share, &cells.share);
    }
}
