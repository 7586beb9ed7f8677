//! Notes below a picture, about what it does not show.

use std::ops::Range;

use super::named;
use crate::base::text;
use crate::drawing::content::WindowContent;
use crate::drawing::placed::PictureTimeline;
use crate::drawing::text_sizes::SMALL;

/// Notes about what the picture does not show.
pub(crate) fn on(
    content: &WindowContent,
    timelines: &[PictureTimeline],
    has_rare: bool,
) -> Vec<String> {
    let mut notes = Vec::new();
    let all = content.timelines();
    let shown = |timeline: &PictureTimeline| {
        let Range { start, end } = timeline.timelines;
        all.get(start as usize..end as usize).unwrap_or_default()
    };
    let largest = timelines.iter().map(|each| named::count(shown(each))).max();
    let largest = largest.unwrap_or(0);
    if largest > 1 {
        let count = text::count(named::count(all) as u64);
        notes.push(format!(
            "{count} timelines in {}, each of up to {largest}",
            timelines.len()
        ));
    }
    if named::count(all) < all.len() {
        notes.push(
            "a timeline of several ranks or threads shows what takes most of their time".to_owned(),
        );
    }
    if has_rare {
        notes.push("what few of all timelines do hides what the others do there".to_owned());
    }
    if !content.previews.is_empty() {
        notes.push("stacked colours are shares of time, from previews of the file".to_owned());
    }
    if content.previewed_arrows > 0 {
        let count = text::count(content.previewed_arrows);
        notes.push(format!(
            "{count} arrows not drawn, of which there are previews only"
        ));
    }
    if content.leaving > 0 {
        let count = text::count(content.leaving);
        let s = if content.leaving == 1 { "" } else { "s" };
        notes.push(format!(
            "{count} arrow{s} from or to timelines that are not shown"
        ));
    }
    notes
}

/// Notes in as few lines as they fit in, at most three.
pub(crate) fn joined(notes: Vec<String>, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for note in notes {
        match lines.last_mut() {
            Some(line) if text::width(&format!("{line} · {note}"), SMALL) <= room => {
                line.push_str(" · ");
                line.push_str(&note);
            }
            _ => lines.push(note),
        }
    }
    lines.truncate(3);
    lines
        .iter()
        .map(|line| text::fitted(line, SMALL, room))
        .collect()
}
