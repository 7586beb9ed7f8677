//! Colours of definitions: names in, names out.

use trace_model::Color;
use trace_model::X11_NAMES as NAMES;

/// The colour of a definition's `COLOR[:BITMAP]`, in any case; `None` if it has no name that is known.
pub(crate) fn color(look: &[u8]) -> Option<Color> {
    let name = look.split(|&byte| byte == b':').next()?;
    let name = std::str::from_utf8(name).ok()?.trim();
    if name.is_empty() {
        return None;
    }
    Color::from_name(name).or_else(|| {
        let lower = name.to_ascii_lowercase();
        let same = |known: &&(&str, u32)| known.0.eq_ignore_ascii_case(name);
        Color::from_name(&lower)
            .or_else(|| NAMES.iter().find(same).map(|&(_, rgb)| Color::rgb(rgb)))
    })
}

/// The colours given to states and events without one, by turns; with names, so that they can be written again.
const PALETTE: [&str; 16] = [
    "red",
    "blue",
    "green",
    "yellow",
    "magenta",
    "cyan",
    "orange",
    "purple",
    "SeaGreen",
    "SkyBlue",
    "coral",
    "gold",
    "orchid",
    "SpringGreen",
    "salmon",
    "turquoise",
];

/// The nth colour for what has none.
pub(super) fn default_color(nth: usize) -> Color {
    Color::from_name(PALETTE[nth % PALETTE.len()]).unwrap_or(Color::PINK)
}

/// The name of a colour, or of the one nearest to it; and whether it is exactly that. No name has a blank in it.
pub(crate) fn name(color: Color) -> (&'static str, bool) {
    let [_, red, green, blue] = color.argb().map(i64::from);
    let distance = |rgb: u32| {
        let [_, r, g, b] = Color::rgb(rgb).argb().map(i64::from);
        (red - r).pow(2) + (green - g).pow(2) + (blue - b).pow(2)
    };
    let names = NAMES.iter().filter(|(name, _)| !name.contains(' '));
    // Of names for one colour the plainest: white rather than gray100 or White.
    let rank = |&&(name, rgb): &&(&'static str, u32)| {
        let is_plain = name.bytes().all(|byte| byte.is_ascii_lowercase());
        (distance(rgb), !is_plain, name.len())
    };
    let best = names.min_by_key(rank);
    best.map_or(("white", false), |&(name, rgb)| (name, distance(rgb) == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_any_case() {
        assert_eq!(color(b"deepskyblue:gray"), Color::from_name("DeepSkyBlue"));
        assert_eq!(color(b"RED"), Some(Color::rgb(0xff0000)));
        assert_eq!(color(b":gray"), None);
        assert_eq!(color(b"no colour"), None);
    }

    #[test]
    fn colors_for_what_has_none() {
        assert!(PALETTE.iter().all(|name| Color::from_name(name).is_some()));
        assert_eq!(default_color(16), default_color(0));
    }

    #[test]
    fn nearest_names() {
        assert_eq!(name(Color::WHITE), ("white", true));
        assert_eq!(name(Color::rgb(0xff0000)), ("red", true));
        assert_eq!(name(Color::rgb(0xfe0100)), ("red", false));
        for &(known, rgb) in &NAMES {
            let (found, is_exact) = name(Color::rgb(rgb));
            assert!(is_exact || known.contains(' '), "{known}");
            assert!(
                !is_exact || color(found.as_bytes()) == Some(Color::rgb(rgb)),
                "{known} {found}"
            );
        }
    }
}
