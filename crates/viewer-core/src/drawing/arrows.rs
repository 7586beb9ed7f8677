//! Chooses the arrows that are drawn: all while they can be told apart, else one for all that go the same way, else the longest.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use crate::base::text;
use crate::drawing::content::{DrawnArrow, DrawnKind, WindowContent};

/// Arrows from the same place to the same place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArrowBundle {
    /// One of them: its position in the content.
    pub arrow: usize,
    /// Number of arrows in the bundle.
    pub count: u64,
}

/// The arrows that are drawn, and what is said about the others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShownArrows {
    /// Bundles in the order in which they are drawn.
    pub bundles: Vec<ArrowBundle>,
    /// A line of text, if not every arrow is drawn by itself.
    pub note: Option<String>,
}

/// Arrows that can be told apart in a picture.
const MAX_ARROWS: usize = 1500;
/// Arrows that are drawn, the longest first, if there are more than [`MAX_ARROWS`].
const MAX_LONGEST_ARROWS: usize = 300;

/// Chooses the arrows that are drawn. `place` gives the ends of an arrow in the picture, rounded to what the eye can separate.
pub(crate) fn shown(
    content: &WindowContent,
    place: impl Fn(&DrawnArrow) -> [i64; 4],
) -> ShownArrows {
    let hidden = also_carried(content);
    let arrows = content.arrows.iter().enumerate();
    let wanted: Vec<usize> = arrows
        .filter(|(_, arrow)| {
            !hidden.contains(&identity(arrow)) || !is_trigger(&content.kinds[arrow.kind as usize])
        })
        .map(|(nth, _)| nth)
        .collect();
    let single = |arrow: usize| ArrowBundle { arrow, count: 1 };
    if wanted.len() > MAX_ARROWS && content.previewed_arrows > wanted.len() as u64 {
        // Those that were read are but the ones that lie across borders in the file.
        let also = text::count(wanted.len() as u64);
        let note = Some(format!("{also} further arrows not drawn"));
        let bundles = Vec::new();
        return ShownArrows { bundles, note };
    }
    if wanted.len() <= MAX_ARROWS {
        let bundles = wanted.into_iter().map(single).collect();
        return ShownArrows {
            bundles,
            note: None,
        };
    }
    let total = text::count(wanted.len() as u64);
    let mut same: BTreeMap<([i64; 4], u32), ArrowBundle> = BTreeMap::new();
    for nth in wanted {
        let arrow = &content.arrows[nth];
        let place = (place(arrow), arrow.kind);
        same.entry(place)
            .or_insert(ArrowBundle {
                arrow: nth,
                count: 0,
            })
            .count += 1;
    }
    let mut bundles: Vec<ArrowBundle> = same.into_values().collect();
    bundles.sort_by_key(|bundle| bundle.arrow);
    if bundles.len() <= MAX_ARROWS {
        let note = format!(
            "{total} arrows drawn as {}, which go the same way",
            bundles.len()
        );
        let note = Some(note);
        return ShownArrows { bundles, note };
    }
    let length = |bundle: &ArrowBundle| {
        let arrow = &content.arrows[bundle.arrow];
        (arrow.to.1 - arrow.from.1).abs()
    };
    bundles.sort_by(|a, b| length(b).total_cmp(&length(a)).then(a.arrow.cmp(&b.arrow)));
    bundles.truncate(MAX_LONGEST_ARROWS);
    bundles.sort_by_key(|bundle| Reverse(bundle.arrow));
    bundles.reverse();
    let note = Some(format!(
        "{total} arrows, of which the {MAX_LONGEST_ARROWS} that take longest are drawn"
    ));
    ShownArrows { bundles, note }
}

/// The ends of an arrow, bit by bit.
fn identity(arrow: &DrawnArrow) -> (u32, u64, u32, u64) {
    let (from, to) = (arrow.from, arrow.to);
    (from.0, from.1.to_bits(), to.0, to.1.to_bits())
}

/// Between a call and an operation that carries its bytes there are two arrows ([`io_attribution::draw`]); the one that says more is
/// drawn.
fn also_carried(content: &WindowContent) -> HashSet<(u32, u64, u32, u64)> {
    let carries: Vec<bool> = content
        .kinds
        .iter()
        .map(|kind| kind.name.starts_with("carries "))
        .collect();
    let arrows = content.arrows.iter();
    arrows
        .filter(|arrow| carries[arrow.kind as usize])
        .map(identity)
        .collect()
}

/// Whether arrows of this kind only say that a call caused an operation, not that its bytes were moved by it.
pub(crate) fn is_trigger(kind: &DrawnKind) -> bool {
    kind.name.starts_with("triggers ")
}
