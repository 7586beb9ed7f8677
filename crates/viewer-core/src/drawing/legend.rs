//! The legend: what the colours stand for, how often it is there and how long it takes.

use trace_formats::slog2::Topology;

use crate::base::color::Rgb;
use crate::base::{text, units};
use crate::drawing::arrows::is_trigger;
use crate::drawing::content::WindowContent;

/// A category that is in the picture.
#[derive(Clone, Debug, PartialEq)]
pub struct LegendEntry {
    /// Name of the category, safe to show.
    pub name: String,
    /// Form of its drawables: state, arrow or event.
    pub topology: Topology,
    /// Colour of the category.
    pub color: Rgb,
    /// Whether its arrows are drawn dashed.
    pub is_dashed: bool,
    /// Number of drawables in the window, on the timelines of the picture.
    pub count: String,
    /// Time of the drawables in the window, added up over the timelines; for arrows the time from end to end. Empty for events.
    pub time: String,
}

/// The categories that are in the picture: states by the time they take, then arrows and events by their number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Legend {
    /// The categories.
    pub entries: Vec<LegendEntry>,
}

impl Legend {
    /// The legend of what is in the window.
    pub fn new(content: &WindowContent) -> Self {
        let kinds = content.kinds.iter().zip(&content.totals);
        let mut found: Vec<_> = kinds.filter(|(_, total)| total.count > 0).collect();
        let group = |topology| match topology {
            Topology::State => 0,
            Topology::Arrow => 1,
            Topology::Event => 2,
        };
        found.sort_by(|(a, of_a), (b, of_b)| {
            let order = group(a.category.topology).cmp(&group(b.category.topology));
            let order = order.then(match a.category.topology {
                Topology::State => of_b.seconds.total_cmp(&of_a.seconds),
                _ => of_b.count.cmp(&of_a.count),
            });
            order.then_with(|| a.name.cmp(&b.name))
        });
        let entries = found.into_iter().map(|(kind, total)| {
            let about = if total.is_estimate { "≈ " } else { "" };
            let topology = kind.category.topology;
            LegendEntry {
                name: kind.name.clone(),
                topology,
                is_dashed: topology == Topology::Arrow && is_trigger(kind),
                color: kind.color,
                count: format!("{about}{}", text::count(total.count)),
                time: match topology {
                    Topology::Event => String::new(),
                    _ => units::duration(total.seconds),
                },
            }
        });
        Legend {
            entries: entries.collect(),
        }
    }
}
