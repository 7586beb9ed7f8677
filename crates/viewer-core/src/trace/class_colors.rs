//! Colours by class: of each class a colour on light and one on dark, and what its categories have of it.
//!
//! The page, exported pages and still pictures have these colours from here, so a name has the same one everywhere.

use std::collections::{BTreeMap, BTreeSet};

use super::class::ActivityClass;
use crate::base::color::{Rgb, Theme};

/// A colour on light and on dark; black on both until it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThemeColors {
    /// On light.
    pub light: Rgb,
    /// On dark.
    pub dark: Rgb,
}

impl ThemeColors {
    const fn new(light: u32, dark: u32) -> Self {
        ThemeColors {
            light: Rgb(light),
            dark: Rgb(dark),
        }
    }

    /// The colours of a class as a whole.
    pub fn of_class(class: ActivityClass) -> Self {
        let found = CLASSES.iter().find(|(of, _)| *of == class);
        found.map_or(CLASSES[CLASSES.len() - 1].1, |&(_, colors)| colors)
    }

    /// The one on this theme.
    pub fn on(self, theme: Theme) -> Rgb {
        match theme {
            Theme::Light => self.light,
            Theme::Dark => self.dark,
        }
    }
}

/// The colours of the classes. Work recedes: what the program does itself is nearly as pale as an empty timeline. Neighbours in the list of a trace
/// differ in lightness as well as in hue: eyes without one of the three cones tell any two apart (15 in CIELAB and more).
pub(crate) const CLASSES: [(ActivityClass, ThemeColors); 12] = [
    (ActivityClass::P2p, ThemeColors::new(0x5b9fe6, 0x4982ba)),
    (
        ActivityClass::Collective,
        ThemeColors::new(0x003886, 0xa2bfe0),
    ),
    (ActivityClass::Wait, ThemeColors::new(0xa9b2c1, 0x566371)),
    (ActivityClass::Io, ThemeColors::new(0x1e7f57, 0x2dc791)),
    (ActivityClass::Rma, ThemeColors::new(0x98549a, 0xaa75ff)),
    (ActivityClass::Mpi, ThemeColors::new(0xb8a15c, 0x92772f)),
    (ActivityClass::Start, ThemeColors::new(0xcdced0, 0x3c4148)),
    (ActivityClass::Compute, ThemeColors::new(0xf2f4f7, 0x1f242b)),
    (ActivityClass::User, ThemeColors::new(0xe8e0cd, 0x3c3424)),
    (ActivityClass::Disk, ThemeColors::new(0x9ce251, 0xdbeb78)),
    (ActivityClass::Message, ThemeColors::new(0x5c636b, 0xb4bbc4)),
    (ActivityClass::Other, ThemeColors::new(0xc48fb5, 0x8f5f83)),
];

/// The colours of the program's own regions. Any two differ by 6 in CIELAB and more, and each from those of all classes of calls and operations by 15
/// and more, for eyes without one of the three cones, too. Neighbours in this list differ in hue.
pub(crate) const REGIONS: [ThemeColors; 24] = [
    ThemeColors::new(0xffc2bc, 0x652330),
    ThemeColors::new(0xe7d8ca, 0x4d2e00),
    ThemeColors::new(0x92e7f6, 0x00431f),
    ThemeColors::new(0xe7d1f6, 0x452f67),
    ThemeColors::new(0xffc79c, 0x533023),
    ThemeColors::new(0xe1dbc1, 0x383713),
    ThemeColors::new(0xc6ddf8, 0x0a3b6a),
    ThemeColors::new(0xffd1c9, 0x413032),
    ThemeColors::new(0xe8ccaa, 0x49371f),
    ThemeColors::new(0x87dffe, 0x004432),
    ThemeColors::new(0xefc1fd, 0x3c2e4c),
    ThemeColors::new(0xf2d4be, 0x602700),
    ThemeColors::new(0xd8d3aa, 0x1b4309),
    ThemeColors::new(0xc7d6ff, 0x263854),
    ThemeColors::new(0xe7cac1, 0x54292f),
    ThemeColors::new(0xeccc99, 0x383627),
    ThemeColors::new(0xa7e3ff, 0x1f3931),
    ThemeColors::new(0xffccf7, 0x52224f),
    ThemeColors::new(0xffd3ac, 0x5c2f16),
    ThemeColors::new(0xdcdca2, 0x213a18),
    ThemeColors::new(0xe4cbff, 0x233066),
    ThemeColors::new(0xffcfb5, 0x602018),
    ThemeColors::new(0xebdaaa, 0x453b00),
    ThemeColors::new(0xa3d7ff, 0x004057),
];

/// How far the categories of a class are from its colour: towards black (below 0) or white.
const TONES: [f64; 5] = [0.0, -0.16, 0.2, -0.3, 0.34];

/// Categories that are often beside each other in a trace, by place of their tone; any other has the one that its name comes to.
const TONE_OF: [(usize, &str); 5] = [
    (
        0,
        "MPI_Send MPI_Allreduce MPI_Waitall MPI_File_write_at_all MPI_File_write_all MPI_Put MPI_Init MPI_Init_thread MPI_Comm_split \
         pwrite write message",
    ),
    (
        1,
        "MPI_Isend MPI_Barrier MPI_Test MPI_File_open MPI_Win_fence MPI_Win_start MPI_Win_create MPI_Win_allocate \
         MPI_Win_allocate_shared MPI_Finalize open",
    ),
    (
        2,
        "MPI_Recv MPI_Bcast MPI_Scatter MPI_Wait MPI_File_read_at_all MPI_File_read_all MPI_File_read_at MPI_Get MPI_Win_flush \
         MPI_Win_wait MPI_Win_free MPI_Comm_rank pread read",
    ),
    (
        3,
        "MPI_Sendrecv MPI_Reduce MPI_Allgather MPI_Waitany MPI_File_close MPI_Accumulate MPI_Win_lock MPI_Win_lock_all \
         MPI_Win_complete close",
    ),
    (
        4,
        "MPI_Irecv MPI_Alltoall MPI_Gather MPI_Testall MPI_File_write_at MPI_Win_unlock MPI_Win_unlock_all MPI_Win_post MPI_Comm_size \
         fsync",
    ),
];

/// Contrast of a colour to the empty timeline that it has at least.
const LEAST_CONTRAST: f64 = 1.25;

/// A number that a name comes to, everywhere the same: FNV-1a of its UTF-16.
fn number_of(name: &str) -> u32 {
    let number = name.encode_utf16().fold(0x811c_9dc5_u32, |number, unit| {
        (number ^ u32::from(unit)).wrapping_mul(0x0100_0193)
    });
    number ^ (number >> 15)
}

fn tone(name: &str) -> f64 {
    let known = (TONE_OF.iter()).find(|(_, names)| names.split(' ').any(|known| known == name));
    TONES[known.map_or(number_of(name) as usize % TONES.len(), |&(place, _)| place)]
}

/// The place of the colour of each of these regions: the one that its name comes to, or the next one that no name before it in the alphabet has taken.
fn places(names: BTreeSet<&str>) -> BTreeMap<&str, usize> {
    let mut taken = [false; REGIONS.len()];
    let mut places = BTreeMap::new();
    for name in names {
        let mut place = number_of(name) as usize % REGIONS.len();
        if taken.contains(&false) {
            while taken[place] {
                place = (place + 1) % REGIONS.len();
            }
        }
        taken[place] = true;
        places.insert(name, place);
    }
    places
}

/// The colours of the categories of a trace, given all of them by name and class: each class its colour, its categories told apart by lightness; those of
/// the program by hue, as none of them is more important than another. The name decides, so a category has one colour in every trace. Of two regions
/// whose names come to one colour the later one in the alphabet has another.
pub(crate) fn by_class(categories: &[(&str, ActivityClass)]) -> Vec<ThemeColors> {
    let regions = (categories.iter()).filter(|(_, class)| *class == ActivityClass::User);
    let places = places(regions.map(|&(name, _)| name).collect());
    let color = |&(name, class): &(&str, ActivityClass)| {
        if class == ActivityClass::User {
            return REGIONS[places[name]];
        }
        let tone = tone(name);
        let end = Rgb(if tone < 0.0 { 0x000000 } else { 0xffffff });
        let own = ThemeColors::of_class(class);
        let toned = |theme: Theme| {
            let toned = own.on(theme).towards(end, tone.abs());
            toned.visible_on(theme.timeline(), LEAST_CONTRAST)
        };
        ThemeColors {
            light: toned(Theme::Light),
            dark: toned(Theme::Dark),
        }
    };
    categories.iter().map(color).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const THEMES: [Theme; 2] = [Theme::Light, Theme::Dark];

    #[test]
    fn every_class_has_a_colour() {
        for class in ActivityClass::ALL {
            assert!(CLASSES.iter().any(|(of, _)| *of == class), "{class:?}");
        }
    }

    #[test]
    fn a_name_has_one_colour_in_every_trace_and_regions_of_one_differ() {
        let mut all: Vec<_> = [
            "assemble",
            "solve",
            "exchange",
            "output",
            "restart",
            "residual",
            "precondition",
            "norm",
        ]
        .map(|name| (name, ActivityClass::User))
        .into();
        all.extend(
            ["MPI_Recv", "MPI_Send", "MPI_Isend", "MPI_Irecv"]
                .map(|name| (name, ActivityClass::P2p)),
        );
        let whole = by_class(&all);
        for theme in THEMES {
            let different: BTreeSet<_> = whole.iter().map(|colors| colors.on(theme)).collect();
            assert_eq!(different.len(), all.len(), "{theme:?}");
        }
        let turned: Vec<_> = all.iter().rev().copied().collect();
        let mut again = by_class(&turned);
        again.reverse();
        assert_eq!(again, whole);
        // Names that come to one place are given places of their own; a single one has that place.
        assert_eq!(
            by_class(&all[1..2])[0],
            REGIONS[number_of("solve") as usize % 24]
        );
    }

    #[test]
    fn more_regions_than_colours_have_one_each() {
        let names: Vec<String> = (0..60).map(|nth| format!("region {nth}")).collect();
        let all: Vec<_> = names
            .iter()
            .map(|name| (name.as_str(), ActivityClass::User))
            .collect();
        let different: BTreeSet<_> = by_class(&all).iter().map(|colors| colors.light).collect();
        assert_eq!(different.len(), REGIONS.len());
    }

    #[test]
    fn numbers_of_names_are_those_of_fnv() {
        // FNV-1a as its authors define it, for bytes: 0xe40c292c of "a"; folded once.
        assert_eq!(number_of("a"), 0xe40c_292c ^ (0xe40c_292c >> 15));
        assert_eq!(number_of(""), 0x811c_9dc5 ^ (0x811c_9dc5 >> 15));
    }

    #[test]
    fn every_category_is_seen_on_an_empty_timeline() {
        let names: Vec<String> = (0..40).map(|nth| format!("k{nth}")).collect();
        for class in ActivityClass::ALL {
            let all: Vec<_> = names.iter().map(|name| (name.as_str(), class)).collect();
            for theme in THEMES {
                for colors in by_class(&all) {
                    let contrast = colors.on(theme).contrast(theme.timeline());
                    assert!(contrast >= 1.24, "{class:?} {theme:?} {contrast}");
                }
            }
        }
    }
}
