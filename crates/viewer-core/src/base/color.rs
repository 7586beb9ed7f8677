//! Colours: those of the categories, toned where they would not be seen, and of everything else by theme.

use trace_formats::slog2::Color;

/// An opaque colour, 0xRRGGBB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rgb(pub u32);

impl Rgb {
    fn parts(self) -> [f64; 3] {
        [16, 8, 0].map(|shift| f64::from((self.0 >> shift) & 0xff))
    }

    /// Mixes this colour with `other`: 0 gives this colour, 1 the other.
    #[must_use]
    pub fn towards(self, other: Rgb, part: f64) -> Rgb {
        let mixed = self.parts().into_iter().zip(other.parts());
        let mixed = mixed.map(|(a, b)| (a + (b - a) * part).round() as u32);
        Rgb(mixed.fold(0, |rgb, part| rgb << 8 | part.min(255)))
    }

    /// Relative luminance as WCAG 2 defines it, 0 to 1.
    fn luminance(self) -> f64 {
        let [red, green, blue] = self.parts().map(|part| {
            let part = part / 255.0;
            if part <= 0.040_45 {
                part / 12.92
            } else {
                ((part + 0.055) / 1.055).powf(2.4)
            }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    /// Contrast of WCAG 2, 1 to 21.
    pub fn contrast(self, other: Rgb) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// Black or white, whichever can be read on it.
    #[must_use]
    pub fn ink(self) -> Rgb {
        let (black, white) = (Rgb(0x111111), Rgb(0xffffff));
        if self.contrast(black) >= self.contrast(white) {
            black
        } else {
            white
        }
    }

    /// The nearest colour that has at least this contrast to the background `ground`.
    #[must_use]
    pub fn visible_on(self, ground: Rgb, contrast: f64) -> Rgb {
        let away = ground.ink();
        (0..=20)
            .map(|step| self.towards(away, f64::from(step) / 20.0))
            .find(|toned| toned.contrast(ground) >= contrast)
            .unwrap_or(away)
    }
}

impl From<Color> for Rgb {
    fn from(color: Color) -> Rgb {
        Rgb(color.0 & 0xff_ffff)
    }
}

/// Light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark on white, for paper.
    #[default]
    Light,
    /// Light on nearly black.
    Dark,
}

impl Theme {
    /// Behind everything.
    pub fn ground(self) -> Rgb {
        match self {
            Theme::Light => Rgb(0xffffff),
            Theme::Dark => Rgb(0x15181d),
        }
    }

    /// Behind the states of a timeline.
    pub fn timeline(self) -> Rgb {
        match self {
            Theme::Light => Rgb(0xf2f4f7),
            Theme::Dark => Rgb(0x1f242b),
        }
    }

    /// Titles and names.
    pub fn text(self) -> Rgb {
        match self {
            Theme::Light => Rgb(0x1d232b),
            Theme::Dark => Rgb(0xe6e9ee),
        }
    }

    /// Colour of less important text and lines.
    pub fn faint(self) -> Rgb {
        match self {
            Theme::Light => Rgb(0x59636f),
            Theme::Dark => Rgb(0x9aa5b1),
        }
    }

    /// Lines of the grid.
    pub fn grid(self) -> Rgb {
        match self {
            Theme::Light => Rgb(0xd5dae1),
            Theme::Dark => Rgb(0x353c46),
        }
    }

    /// Hatching of what waits.
    pub fn waiting(self) -> Rgb {
        match self {
            Theme::Light => Rgb(0xc2410c),
            Theme::Dark => Rgb(0xff7a45),
        }
    }

    /// A state of this colour: toned just enough to be told from an empty timeline.
    pub fn fill(self, color: Rgb) -> Rgb {
        color.visible_on(self.timeline(), 1.2)
    }

    /// A line or marker of this colour, which has less area to be seen by.
    pub fn line(self, color: Rgb) -> Rgb {
        color.visible_on(self.timeline(), 2.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrast_as_wcag_has_it() {
        assert!((Rgb(0).contrast(Rgb(0xffffff)) - 21.0).abs() < 1e-9);
        assert!((Rgb(0x777777).contrast(Rgb(0xffffff)) - 4.48).abs() < 0.01);
    }

    #[test]
    fn every_colour_can_be_seen_and_written_on() {
        for rgb in (0..0x100_0000).step_by(0x1357) {
            let color = Rgb(rgb);
            assert!(color.contrast(color.ink()) >= 4.2, "{rgb:x}");
            for theme in [Theme::Light, Theme::Dark] {
                assert!(
                    theme.line(color).contrast(theme.timeline()) >= 2.2,
                    "{rgb:x}"
                );
                assert!(
                    theme.fill(color).contrast(theme.timeline()) >= 1.2,
                    "{rgb:x}"
                );
            }
        }
        assert_eq!(Theme::Light.fill(Rgb(0xff0000)), Rgb(0xff0000));
    }
}
