//! Colours: X11 names of CLOG2 definitions to ARGB (`spec/slog2.md` section 10), and the colours of categories that
//! nobody described (`spec/slog2.md` section 7.1).

use super::x11_names::NAMES;

/// A colour, 0xAARRGGBB as in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Color(pub u32);

impl Color {
    /// Opaque white: messages.
    pub const WHITE: Color = Color::rgb(0xffffff);

    /// Opaque pink: a category that has no definition (yet), or one whose colour name is not known.
    pub const PINK: Color = Color::rgb(0xffc0cb);

    /// An opaque colour from 0xRRGGBB.
    pub const fn rgb(rgb: u32) -> Self {
        Color(0xff00_0000 | rgb)
    }

    /// Alpha, red, green and blue.
    pub fn argb(self) -> [u8; 4] {
        self.0.to_be_bytes()
    }

    /// The opaque colour of this X11 name, or `None` if the name is unknown.
    ///
    /// Case matters, blanks are part of some names, and the name ends at the first `:`, as the original reads it.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.split(':').next().unwrap_or_default();
        if let Some(number) = name
            .strip_prefix("gray")
            .or_else(|| name.strip_prefix("grey"))
            && let Some(level) = numbered_gray(number)
        {
            return Some(Color::rgb(level * 0x0001_0101));
        }
        let at = NAMES.binary_search_by(|(known, _)| known.cmp(&name));
        at.ok().map(|at| Color::rgb(NAMES[at].1))
    }
}

impl Color {
    /// The X11 name of this colour or, if it has none, of the nearest that has; and which of the two it is. Alpha has no
    /// say.
    pub fn nearest_name(self) -> (&'static str, bool) {
        let distance = |rgb: u32| -> u32 {
            let part = |color: u32, shift: u32| i64::from((color >> shift) & 0xff);
            let square = |shift| (part(rgb, shift) - part(self.0, shift)).pow(2) as u32;
            square(16) + square(8) + square(0)
        };
        // Of several names the one in lower case: the usual ones.
        let nearest = NAMES.iter().rev().min_by_key(|(_, rgb)| distance(*rgb));
        nearest.map_or(("white", false), |(name, rgb)| (*name, distance(*rgb) == 0))
    }
}

/// Brightness of `gray0` … `gray100`: percent of 255, rounded (rgb.txt rounds the halves at 50 and 90 down, at 10, 30
/// and 70 up).
fn numbered_gray(number: &str) -> Option<u32> {
    if !number.bytes().all(|b| b.is_ascii_digit()) || (number.starts_with('0') && number != "0") {
        return None;
    }
    let percent: u32 = number.parse().ok().filter(|&percent| percent <= 100)?;
    let level = (percent * 255 + 50) / 100;
    Some(if matches!(percent, 50 | 90) {
        level - 1
    } else {
        level
    })
}

/// The colours given, one after the other, to used categories without a definition: the 6×6×6 cube from bright to dark.
/// After the last comes the first again.
#[derive(Clone, Debug)]
pub struct DefaultColors {
    sorted: Vec<u32>,
    next: usize,
}

impl Default for DefaultColors {
    fn default() -> Self {
        DefaultColors::new()
    }
}

impl DefaultColors {
    /// Begins with the first colour of the cube after white.
    pub fn new() -> Self {
        const LEVELS: [u32; 6] = [0, 51, 102, 153, 204, 255];
        let mut sorted = Vec::with_capacity(216);
        for red in LEVELS {
            for green in LEVELS {
                for blue in LEVELS {
                    sorted.push(red << 16 | green << 8 | blue);
                }
            }
        }
        // Stable, so that equal brightness keeps the order of the cube, as the original's list has it.
        sorted.sort_by_key(|&rgb| {
            let level = |shift: u32| (rgb >> shift) & 0xff;
            std::cmp::Reverse(level(16).pow(2) + level(8).pow(2) + level(0).pow(2))
        });
        // White comes first and is left to messages.
        DefaultColors { sorted, next: 1 }
    }

    /// The next colour of the cube.
    pub fn next_color(&mut self) -> Color {
        let rgb = self.sorted[self.next];
        self.next = (self.next + 1) % self.sorted.len();
        Color::rgb(rgb)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_colour() {
        for (_, rgb) in NAMES {
            let (name, is_exact) = Color::rgb(rgb).nearest_name();
            assert_eq!(
                (Color::from_name(name), is_exact),
                (Some(Color::rgb(rgb)), true)
            );
            assert!(name.len() < 24);
        }
        assert_eq!(Color(0x80ff_0100).nearest_name(), ("red1", false));
    }

    #[test]
    fn names_are_sorted_and_unique() {
        assert!(NAMES.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn names_of_section_10() {
        let rgb = |name| Color::from_name(name).map(|color| color.0 & 0xff_ffff);
        assert_eq!(rgb("gray"), Some(0xc0c0c0));
        assert_eq!(rgb("grey"), Some(0xc0c0c0));
        assert_eq!(rgb("LightGreen"), Some(0x77ff77));
        assert_eq!(rgb("LightSeeGreen1"), Some(0xcbeccb));
        assert_eq!(rgb("light grey"), Some(0xd3d3d3));
        assert_eq!(rgb("gray50"), Some(0x7f7f7f));
        assert_eq!(rgb("grey90"), Some(0xe5e5e5));
        assert_eq!(rgb("gray100"), Some(0xffffff));
        assert_eq!(rgb("purple3:127"), Some(0x7d26cd));
        for unknown in [
            "", "White", "DarkRed", "gray101", "gray007", "grayish", "Crimson",
        ] {
            assert_eq!(rgb(unknown), None, "{unknown}");
        }
        assert_eq!(Color::from_name("white"), Some(Color::WHITE));
        assert_eq!(Color::from_name("pink"), Some(Color::PINK));
    }

    #[test]
    fn default_colors_of_section_7_1() {
        let mut colors = DefaultColors::new();
        let first: Vec<u32> = (0..7).map(|_| colors.next_color().0 & 0xff_ffff).collect();
        let expected = [
            0xccffff, 0xffccff, 0xffffcc, 0x99ffff, 0xff99ff, 0xffff99, 0xccccff,
        ];
        assert_eq!(first, expected);
        for _ in 7..215 {
            colors.next_color();
        }
        assert_eq!(colors.next_color(), Color::WHITE);
    }
}
