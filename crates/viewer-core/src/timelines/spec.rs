//! The *spec*: a text that says which timelines a page wants and in which order, and its meaning.
//!
//! What the user asked for is a text, the *spec*, items joined by `;`, which stands in the page's URL:
//!
//! | item | |
//! |---|---|
//! | `map:N` | the line map whose labels are the timelines; 0 is the first |
//! | `only:FILTER` | these leaves, as [`TimelineSelection`] has it: `0-63,!5,server*` |
//! | `hide:KEYS` | not these |
//! | `pin:KEYS` | these on top, in this order |
//! | `fold:LEVEL` | inner nodes of this level are one timeline each; 0 is the top. Without it (and without `only`), the lanes of each server or device are one |
//! | `shut:KEYS`, `open:KEYS` | these inner nodes, whatever the level says |
//! | `sort:WHAT` | by `label`, `busy`, `end`, `first` or `kind:N`, with `-` before it the largest first |
//! | `order:KEYS` | these first, in this order |
//! | `block:N` | as many neighbours are one timeline |
//! | `groups:NAME=FILTER\|…` | the leaves of each filter, as `only` has it, are one timeline of that name; a leaf is in the first group that takes it |
//! | `cluster:K` | timelines that behave alike are one of so many |
//! | `levels:KEYS` | only these, in full: each of their threads has a timeline for each call depth |
//! | `depth:N` | so many call depths; what is nested deeper is on the last one. 8 without it |
//!
//! Keys are numbers of leaves, `3,7-9`, and of inner nodes, `n12`. Timelines that are sorted, ordered, blocks or clusters have no
//! headings. An open inner node is a timeline of its own, a heading, with nothing on it.

use std::fmt::Write;

use super::selection::TimelineSelection;
use crate::base::error::ApiError;

/// Leaves or an inner node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimelineKey {
    /// From this leaf to this one.
    Leaves(u32, u32),
    /// An inner node by number.
    Inner(u32),
}

/// Sort key of timelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortBy {
    /// The order of the tree.
    Label,
    /// Seconds in states.
    Busy,
    /// End of the last state.
    End,
    /// Start of the first state.
    First,
    /// Exclusive seconds in a kind.
    DrawableKind(u32),
}

/// The wanted timelines and their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimelineSpec {
    /// Number of the line map.
    pub map: usize,
    /// Filter of leaves, as it was written.
    pub only: String,
    /// Timelines to leave out.
    pub hide: Vec<TimelineKey>,
    /// On top.
    pub pin: Vec<TimelineKey>,
    /// Level whose inner nodes are closed.
    pub fold: Option<u16>,
    /// Inner nodes that are closed.
    pub shut: Vec<TimelineKey>,
    /// Inner nodes that are open.
    pub open: Vec<TimelineKey>,
    /// Order, and whether the largest come first.
    pub sort: Option<(SortBy, bool)>,
    /// First in this order.
    pub order: Vec<TimelineKey>,
    /// Groups by name: filters of leaves, as they were written.
    pub groups: Vec<(String, String)>,
    /// Neighbours in a timeline; less than 2 for none.
    pub block: u32,
    /// Number of clusters; 0 for none.
    pub cluster: u32,
    /// Timelines in full: a timeline for each call depth of their threads, and no others.
    pub levels: Vec<TimelineKey>,
    /// Call depths of timelines in full; 0 for the usual number.
    pub depth: u32,
}

/// Groups at most.
const MAX_GROUPS: usize = 256;
/// Clusters at most.
const MAX_CLUSTERS: u32 = 256;
/// Call depths of a timeline in full, if the spec does not say.
const USUAL_DEPTH: u32 = 8;
/// Call depths at most.
const MAX_DEPTH: u32 = 64;

impl TimelineSpec {
    /// Reads a spec.
    ///
    /// # Errors
    /// The item that is none, and what was expected.
    pub fn parse(text: &str) -> Result<Self, ApiError> {
        let mut spec = TimelineSpec::default();
        for item in text.split(';').filter(|item| !item.trim().is_empty()) {
            let (name, value) = item.split_once(':').unwrap_or((item, ""));
            let value = value.trim();
            let expected = |what: &str| {
                let item: String = item.chars().take(60).collect();
                ApiError::bad_request(format!("timelines={item}: expected {what}"))
            };
            let number = || value.parse::<u32>().map_err(|_| expected("a number"));
            match name.trim() {
                "map" => spec.map = number()? as usize,
                "only" => {
                    TimelineSelection::parse(value).map_err(|message| expected(&message))?;
                    spec.only = value.to_owned();
                }
                "hide" => spec.hide = keys(value)?,
                "pin" => spec.pin = keys(value)?,
                "fold" => spec.fold = Some(number()?.try_into().unwrap_or(u16::MAX)),
                "shut" => spec.shut = keys(value)?,
                "open" => spec.open = keys(value)?,
                "order" => spec.order = keys(value)?,
                "groups" => {
                    for group in value.split('|').take(MAX_GROUPS) {
                        let (name, filter) = group
                            .split_once('=')
                            .ok_or_else(|| expected("NAME=TIMELINES"))?;
                        TimelineSelection::parse(filter).map_err(|message| expected(&message))?;
                        spec.groups
                            .push((name.trim().to_owned(), filter.trim().to_owned()));
                    }
                }
                "block" => spec.block = number()?,
                "cluster" => spec.cluster = number()?.min(MAX_CLUSTERS),
                "levels" => spec.levels = keys(value)?,
                "depth" => spec.depth = number()?.min(MAX_DEPTH),
                "sort" => {
                    let (by, is_descending) = match value.strip_prefix('-') {
                        Some(by) => (by, true),
                        None => (value, false),
                    };
                    let by = match by.split_once(':') {
                        None if by == "label" => SortBy::Label,
                        None if by == "busy" => SortBy::Busy,
                        None if by == "end" => SortBy::End,
                        None if by == "first" => SortBy::First,
                        Some(("kind", kind)) if kind.parse::<u32>().is_ok() => {
                            SortBy::DrawableKind(kind.parse().unwrap_or_default())
                        }
                        _ => return Err(expected("label, busy, end, first or kind:N")),
                    };
                    spec.sort = Some((by, is_descending));
                }
                _ => {
                    return Err(expected(
                        "map, only, hide, pin, fold, shut, open, sort, order, groups, block, cluster, levels or depth",
                    ));
                }
            }
        }
        Ok(spec)
    }

    /// Whether timelines have no headings.
    pub(super) fn is_flat(&self) -> bool {
        let is_sorted = self.sort.is_some_and(|sort| sort != (SortBy::Label, false));
        is_sorted || !self.order.is_empty() || self.block > 1 || self.cluster > 0
    }

    /// Call depths of timelines in full.
    pub(super) fn call_depths(&self) -> usize {
        match self.depth {
            0 => USUAL_DEPTH as usize,
            depth => depth as usize,
        }
    }

    /// Whether lines must be measured over the whole trace, because timelines are sorted or clustered.
    pub fn needs_measures(&self) -> bool {
        let is_measured = |sort: (SortBy, bool)| sort.0 != SortBy::Label;
        self.cluster > 0 || self.sort.is_some_and(is_measured)
    }
}

impl std::fmt::Display for TimelineSpec {
    /// The canonical text: what says the same is the same.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut items: Vec<String> = Vec::new();
        if self.map > 0 {
            items.push(format!("map:{}", self.map));
        }
        if !self.only.is_empty() {
            items.push(format!("only:{}", self.only));
        }
        let mut listed = |name: &str, keys: &[TimelineKey]| {
            if !keys.is_empty() {
                items.push(format!("{name}:{}", text_of(keys)));
            }
        };
        listed("hide", &self.hide);
        listed("pin", &self.pin);
        listed("shut", &self.shut);
        listed("open", &self.open);
        listed("order", &self.order);
        if let Some(level) = self.fold {
            items.push(format!("fold:{level}"));
        }
        if let Some((by, is_descending)) = self.sort.filter(|&sort| sort != (SortBy::Label, false))
        {
            let by = match by {
                SortBy::Label => "label".to_owned(),
                SortBy::Busy => "busy".to_owned(),
                SortBy::End => "end".to_owned(),
                SortBy::First => "first".to_owned(),
                SortBy::DrawableKind(kind) => format!("kind:{kind}"),
            };
            items.push(format!("sort:{}{by}", if is_descending { "-" } else { "" }));
        }
        if !self.groups.is_empty() {
            let groups = self.groups.iter();
            let groups = groups.map(|(name, filter)| format!("{name}={filter}"));
            items.push(format!("groups:{}", groups.collect::<Vec<_>>().join("|")));
        }
        if self.block > 1 {
            items.push(format!("block:{}", self.block));
        }
        if self.cluster > 0 {
            items.push(format!("cluster:{}", self.cluster));
        }
        if !self.levels.is_empty() {
            items.push(format!("levels:{}", text_of(&self.levels)));
        }
        if self.depth > 0 {
            items.push(format!("depth:{}", self.depth));
        }
        f.write_str(&items.join(";"))
    }
}

fn keys(text: &str) -> Result<Vec<TimelineKey>, ApiError> {
    let mut keys = Vec::new();
    for part in text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let key = match part.strip_prefix('n') {
            Some(inner) => inner.parse().ok().map(TimelineKey::Inner),
            None => match (first.parse(), last.parse()) {
                (Ok(first), Ok(last)) if first <= last => Some(TimelineKey::Leaves(first, last)),
                _ => None,
            },
        };
        keys.push(key.ok_or_else(|| {
            let part: String = part.chars().take(40).collect();
            ApiError::bad_request(format!(
                "timelines: {part} is no key; expected such as 3,7-9 or n12"
            ))
        })?);
    }
    Ok(keys)
}

pub(super) fn text_of(keys: &[TimelineKey]) -> String {
    let mut text = String::new();
    for key in keys {
        if !text.is_empty() {
            text.push(',');
        }
        let _ = match key {
            TimelineKey::Inner(inner) => write!(text, "n{inner}"),
            TimelineKey::Leaves(first, last) if first == last => write!(text, "{first}"),
            TimelineKey::Leaves(first, last) => write!(text, "{first}-{last}"),
        };
    }
    text
}
