//! A picture as SVG: the same bytes for the same picture, and whatever a trace says is but text in it.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use trace_formats::slog2::Topology;

use crate::base::color::Rgb;
use crate::base::text;
use crate::drawing::band::SpanFill;
use crate::drawing::layout::{MORE, PictureArrow, PictureLayout};
use crate::drawing::legend::LegendEntry;
use crate::drawing::placed::BandStrip;
use crate::drawing::text_sizes::{SMALL, TEXT, TITLE};

/// Fonts as wide as those that places were reckoned with, then what is there.
const FONTS: &str = "DejaVu Sans, Verdana, Bitstream Vera Sans, sans-serif";

/// Attribute of a dashed line.
const DASHES: &str = " stroke-dasharray=\"4 2\"";

/// The picture as text.
pub fn write(picture: &PictureLayout<'_>) -> String {
    let mut out = SvgWriter(String::new());
    out.picture(picture);
    out.0
}

/// Text in which nothing is markup. XML has no characters but these, not even escaped ones.
struct EscapedText<'t>(&'t str);

impl fmt::Display for EscapedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                    f.write_char('\u{fffd}')?;
                }
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// A number of pixels, to a tenth.
struct Pixels(f64);

impl fmt::Display for Pixels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round() as i64;
        let (whole, part) = (tenths.unsigned_abs() / 10, tenths.unsigned_abs() % 10);
        if tenths < 0 {
            f.write_char('-')?;
        }
        match part {
            0 => write!(f, "{whole}"),
            _ => write!(f, "{whole}.{part}"),
        }
    }
}

impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:06x}", self.0)
    }
}

/// Anchor of a text.
#[derive(Clone, Copy, PartialEq)]
enum TextAnchor {
    Start,
    Middle,
    End,
}

struct SvgWriter(String);

impl SvgWriter {
    fn put(&mut self, markup: fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = self.0.write_fmt(markup);
    }

    fn text(&mut self, x: f64, y: f64, anchor: TextAnchor, text: &str, more: fmt::Arguments<'_>) {
        if text.is_empty() {
            return;
        }
        let anchor = match anchor {
            TextAnchor::Start => "",
            TextAnchor::Middle => " text-anchor=\"middle\"",
            TextAnchor::End => " text-anchor=\"end\"",
        };
        let (x, y, text) = (Pixels(x), Pixels(y), EscapedText(text));
        self.put(format_args!(
            "<text x=\"{x}\" y=\"{y}\"{anchor}{more}>{text}</text>\n"
        ));
    }

    fn rect(&mut self, [x, y, width, height]: [f64; 4], more: fmt::Arguments<'_>) {
        let (x, y, width, height) = (Pixels(x), Pixels(y), Pixels(width), Pixels(height));
        self.put(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"{more}/>\n"
        ));
    }

    fn picture(&mut self, picture: &PictureLayout<'_>) {
        let (width, height) = (Pixels(picture.width), Pixels(picture.height));
        self.put(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"{FONTS}\" font-size=\"{}\">\n",
            Pixels(TEXT)
        ));
        let theme = picture.theme;
        let [title, about] = &picture.titles;
        self.put(format_args!(
            "<title>{}, {}</title>\n",
            EscapedText(title),
            EscapedText(about)
        ));
        let whole = [0.0, 0.0, picture.width, picture.height];
        self.rect(whole, format_args!(" fill=\"{}\"", theme.ground()));
        let strong =
            format_args!(" font-size=\"{}\" font-weight=\"bold\"", Pixels(TITLE)).to_string();
        let (text, faint) = (theme.text(), theme.faint());
        self.text(
            16.0,
            27.0,
            TextAnchor::Start,
            title,
            format_args!("{strong} fill=\"{text}\""),
        );
        self.text(
            16.0,
            46.0,
            TextAnchor::Start,
            about,
            format_args!(" fill=\"{faint}\""),
        );
        self.timelines(picture);
        self.axis(picture);
        self.states(picture);
        self.waits(picture);
        self.arrows(picture);
        self.labels(picture);
        self.below(picture);
        self.put(format_args!("</svg>\n"));
    }

    fn timelines(&mut self, picture: &PictureLayout<'_>) {
        let [left, top, width, height] = picture.plot;
        let theme = picture.theme;
        self.put(format_args!(
            "<g fill=\"{}\" shape-rendering=\"crispEdges\">\n",
            theme.timeline()
        ));
        // Timelines that touch are one area.
        let mut areas: Vec<(f64, f64)> = Vec::new();
        for timeline in &picture.timelines {
            match areas.last_mut() {
                Some((_, bottom)) if *bottom >= timeline.y => {
                    *bottom = timeline.y + timeline.height
                }
                _ => areas.push((timeline.y, timeline.y + timeline.height)),
            }
        }
        for (top, bottom) in areas {
            self.rect([left, top, width, bottom - top], format_args!(""));
        }
        self.put(format_args!("</g>\n<g fill=\"{}\">\n", theme.text()));
        for timeline in &picture.timelines {
            let y = timeline.y + timeline.height / 2.0 + 4.0;
            let name = text::fitted(&timeline.name, TEXT, left - 24.0);
            self.text(left - 8.0, y, TextAnchor::End, &name, format_args!(""));
        }
        self.put(format_args!("</g>\n"));
        let nothing = picture
            .timelines
            .iter()
            .all(|timeline| timeline.strips.is_empty())
            && picture.arrows.is_empty()
            && picture.markers.is_empty();
        if nothing {
            let (x, y) = (left + width / 2.0, top + height / 2.0 + 4.0);
            let faint = theme.faint();
            let text = "nothing in this window";
            self.text(
                x,
                y,
                TextAnchor::Middle,
                text,
                format_args!(" fill=\"{faint}\""),
            );
        }
    }

    fn axis(&mut self, picture: &PictureLayout<'_>) {
        let [left, top, width, height] = picture.plot;
        let theme = picture.theme;
        self.put(format_args!("<path d=\""));
        for tick in &picture.axis.ticks {
            let x = picture.x(tick.time).floor() + 0.5;
            self.put(format_args!(
                "M{} {}v{}",
                Pixels(x),
                Pixels(top - 5.0),
                Pixels(height + 5.0)
            ));
        }
        self.put(format_args!(
            "\" stroke=\"{}\" fill=\"none\"/>\n<g font-size=\"{}\" fill=\"{}\">\n",
            theme.grid(),
            Pixels(SMALL),
            theme.faint()
        ));
        let unit = picture.axis.unit;
        let label = match &picture.axis.origin {
            Some((_, origin)) => format!("{origin}, + {unit}"),
            None => unit.to_owned(),
        };
        self.text(
            left - 8.0,
            top - 10.0,
            TextAnchor::End,
            &label,
            format_args!(""),
        );
        for tick in &picture.axis.ticks {
            let x = picture.x(tick.time);
            let half = text::width(&tick.label, SMALL) / 2.0;
            let x = x.min(picture.width - 4.0 - half).max(left + half - 2.0);
            if (x - picture.x(tick.time)).abs() <= half + 2.0 {
                self.text(
                    x,
                    top - 10.0,
                    TextAnchor::Middle,
                    &tick.label,
                    format_args!(""),
                );
            }
        }
        self.put(format_args!("</g>\n"));
        let _ = width;
    }

    fn states(&mut self, picture: &PictureLayout<'_>) {
        self.put(format_args!("<g shape-rendering=\"crispEdges\">\n"));
        for strip in picture
            .timelines
            .iter()
            .flat_map(|timeline| &timeline.strips)
        {
            self.strip(picture, strip);
        }
        self.put(format_args!("</g>\n"));
    }

    /// One path for each colour: columns as pieces of a line as thick as the strip, wide states as boxes with an outline.
    fn strip(&mut self, picture: &PictureLayout<'_>, strip: &BandStrip) {
        let (content, theme) = (picture.content, picture.theme);
        let left = picture.plot[0];
        let color = |kind: u32| theme.fill(content.kinds[kind as usize].color);
        let mut columns: BTreeMap<(Rgb, u8), String> = BTreeMap::new();
        let mut boxes: BTreeMap<Rgb, String> = BTreeMap::new();
        let mut shares: BTreeMap<Rgb, String> = BTreeMap::new();
        let (y, height) = (strip.y, strip.height);
        let middle = y + height / 2.0;
        for span in &strip.band.spans {
            let (x, width) = (left + f64::from(span.from), f64::from(span.to - span.from));
            let mut line = |color: Rgb, busy: u8| {
                let path = columns.entry((color, busy)).or_default();
                let _ = write!(path, "M{} {}h{}", Pixels(x), Pixels(middle), Pixels(width));
            };
            match span.fill {
                SpanFill::Cells { kind, busy } => line(color(kind), busy),
                SpanFill::DrawnState(nth) => {
                    let color = color(content.states[nth].kind);
                    if width < 3.0 || height < 4.0 {
                        line(color, 4);
                        continue;
                    }
                    let area = [x + 0.5, y + 0.5, width - 1.0, height - 1.0];
                    write_box(area, boxes.entry(color).or_default());
                }
                SpanFill::DrawnPreview(nth) => {
                    let mut base = y + height;
                    for &(kind, share) in &content.previews[nth].shares {
                        let high = height * share;
                        if high < 0.25 {
                            continue;
                        }
                        base -= high;
                        let area = [x, base, width, high];
                        write_box(area, shares.entry(color(kind)).or_default());
                    }
                }
            }
        }
        for ((color, busy), path) in columns {
            let opacity = match busy {
                1 => " stroke-opacity=\".45\"",
                2 => " stroke-opacity=\".65\"",
                3 => " stroke-opacity=\".85\"",
                _ => "",
            };
            let height = Pixels(height);
            self.put(format_args!(
                "<path d=\"{path}\" stroke=\"{color}\"{opacity} stroke-width=\"{height}\"/>\n"
            ));
        }
        for (color, path) in shares {
            self.put(format_args!("<path d=\"{path}\" fill=\"{color}\"/>\n"));
        }
        for (color, path) in boxes {
            let outline = color.towards(Rgb(0x000000), 0.3);
            self.put(format_args!(
                "<path d=\"{path}\" fill=\"{color}\" stroke=\"{outline}\"/>\n"
            ));
        }
    }

    /// Hatching over the states that wait.
    fn waits(&mut self, picture: &PictureLayout<'_>) {
        if picture.waits.is_empty() {
            return;
        }
        let color = picture.theme.waiting();
        self.put(format_args!(
            "<pattern id=\"waiting\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
             <path d=\"M1 0v6\" stroke=\"{color}\" stroke-width=\"2\"/></pattern>\n"
        ));
        let mut path = String::new();
        for &area in &picture.waits {
            write_box(area, &mut path);
        }
        self.put(format_args!(
            "<path d=\"{path}\" fill=\"url(#waiting)\" stroke=\"{color}\"/>\n"
        ));
    }

    fn arrows(&mut self, picture: &PictureLayout<'_>) {
        let [left, top, width, height] = picture.plot;
        let mut lines: BTreeMap<(bool, u64, Rgb), (String, String)> = BTreeMap::new();
        for arrow in &picture.arrows {
            let width = (arrow.width * 10.0).round() as u64;
            let key = (!arrow.is_dashed, width, arrow.color);
            let (line, head) = lines.entry(key).or_default();
            let (from, to) = (arrow.from, arrow.to);
            let _ = write!(
                line,
                "M{} {}L{} {}",
                Pixels(from.0),
                Pixels(from.1),
                Pixels(to.0),
                Pixels(to.1)
            );
            write_head(arrow, head);
        }
        if !lines.is_empty() || !picture.markers.is_empty() {
            self.put(format_args!("<clipPath id=\"plot\">"));
            let around = [left - 3.0, top - 3.0, width + 6.0, height + 6.0];
            self.rect(around, format_args!(""));
            self.put(format_args!("</clipPath>\n<g clip-path=\"url(#plot)\">\n"));
            for ((is_solid, width, color), (line, head)) in lines {
                let dashes = if is_solid { "" } else { DASHES };
                let width = Pixels(width as f64 / 10.0);
                self.put(format_args!(
                    "<path d=\"{line}\" stroke=\"{color}\" stroke-width=\"{width}\"{dashes} fill=\"none\"/>\n"
                ));
                if !head.is_empty() {
                    self.put(format_args!("<path d=\"{head}\" fill=\"{color}\"/>\n"));
                }
            }
            for marker in &picture.markers {
                let (x, y) = (Pixels(marker.x), Pixels(marker.y - 3.0));
                let edge = marker.color.towards(Rgb(0), 0.4);
                self.put(format_args!(
                    "<path d=\"M{x} {y}l3 3l-3 3l-3 -3z\" fill=\"{}\" stroke=\"{edge}\" stroke-width=\".7\"/>\n",
                    marker.color
                ));
            }
            self.put(format_args!("</g>\n"));
        }
    }

    fn labels(&mut self, picture: &PictureLayout<'_>) {
        self.put(format_args!("<g>\n"));
        for label in &picture.labels {
            let (size, color) = (Pixels(label.size), label.color);
            // Letters cannot be read on hatching.
            let [x, y, wide, high] = [
                label.x - 2.0,
                label.y - 0.9 * label.size,
                text::width(&label.text, label.size) + 4.0,
                1.15 * label.size,
            ];
            let is_hatched = picture.waits.iter().any(|&[left, top, width, height]| {
                left < x + wide && left + width > x && top < y + high && top + height > y
            });
            if is_hatched {
                self.rect(
                    [x, y, wide, high],
                    format_args!(" fill=\"{}\"", label.ground),
                );
            }
            let more = format!(" font-size=\"{size}\" fill=\"{color}\"");
            self.text(
                label.x,
                label.y,
                TextAnchor::Start,
                &label.text,
                format_args!("{more}"),
            );
        }
        self.put(format_args!("</g>\n"));
    }

    /// Notes and legend.
    fn below(&mut self, picture: &PictureLayout<'_>) {
        let theme = picture.theme;
        let bottom = picture.plot[1] + picture.plot[3];
        let (strong, faint) = (theme.text(), theme.faint());
        for (nth, note) in picture.notes.iter().enumerate() {
            let y = bottom + 20.0 + 17.0 * nth as f64;
            let more = format!(" font-size=\"{}\" fill=\"{faint}\"", Pixels(SMALL));
            self.text(16.0, y, TextAnchor::Start, note, format_args!("{more}"));
        }
        let (places, column) = &picture.places;
        let (count, time) = (column - 100.0, column - 30.0);
        let mut head_of = f64::NEG_INFINITY;
        self.put(format_args!("<g fill=\"{strong}\">\n"));
        for (entry, &(x, y)) in picture.legend.entries.iter().zip(places) {
            if x > head_of {
                head_of = x;
                let more = format!(" font-size=\"{}\" fill=\"{faint}\"", Pixels(SMALL));
                self.text(
                    x + count,
                    y - 17.0,
                    TextAnchor::End,
                    "count",
                    format_args!("{more}"),
                );
                let has_time = !entry.time.is_empty();
                let time_head = if has_time { "time" } else { "" };
                self.text(
                    x + time,
                    y - 17.0,
                    TextAnchor::End,
                    time_head,
                    format_args!("{more}"),
                );
            }
            self.swatch(picture, entry, x, y);
            let room = count - text::width(&entry.count, TEXT) - 30.0;
            let name = text::fitted(&entry.name, TEXT, room);
            self.text(x + 22.0, y, TextAnchor::Start, &name, format_args!(""));
            self.text(
                x + count,
                y,
                TextAnchor::End,
                &entry.count,
                format_args!(""),
            );
            self.text(x + time, y, TextAnchor::End, &entry.time, format_args!(""));
        }
        self.put(format_args!("</g>\n"));
        let missing = picture.legend.entries.len() - places.len();
        if missing > 0 {
            let y = places.last().map_or(bottom, |place| place.1) + MORE;
            let more = format!(" font-size=\"{}\" fill=\"{faint}\"", Pixels(SMALL));
            let text = format!("and {missing} more categories");
            self.text(16.0, y, TextAnchor::Start, &text, format_args!("{more}"));
        }
    }

    fn swatch(&mut self, picture: &PictureLayout<'_>, entry: &LegendEntry, x: f64, y: f64) {
        let (theme, color) = (picture.theme, entry.color);
        match entry.topology {
            Topology::State => {
                let fill = theme.fill(color);
                let edge = fill.towards(Rgb(0), 0.3);
                let more = format!(" fill=\"{fill}\" stroke=\"{edge}\"");
                self.rect([x + 0.5, y - 9.5, 15.0, 11.0], format_args!("{more}"));
            }
            Topology::Arrow => {
                let color = theme.line(color);
                let mut head = String::new();
                let arrow = PictureArrow {
                    from: (x, y - 1.0),
                    to: (x + 16.0, y - 8.0),
                    color,
                    width: 1.3,
                    is_dashed: entry.is_dashed,
                };
                write_head(&arrow, &mut head);
                let dashes = if entry.is_dashed { DASHES } else { "" };
                self.put(format_args!(
                    "<path d=\"M{} {}L{} {}\" stroke=\"{color}\" stroke-width=\"1.3\"{dashes}/><path d=\"{head}\" fill=\"{color}\"/>\n",
                    Pixels(x), Pixels(y - 1.0), Pixels(x + 16.0), Pixels(y - 8.0)
                ));
            }
            Topology::Event => {
                let color = theme.line(color);
                let edge = color.towards(Rgb(0), 0.4);
                self.put(format_args!(
                    "<path d=\"M{} {}l3 3l-3 3l-3 -3z\" fill=\"{color}\" stroke=\"{edge}\" stroke-width=\".7\"/>\n",
                    Pixels(x + 8.0), Pixels(y - 7.0)
                ));
            }
        }
    }
}

/// Adds a box to a path: left, top, width and height.
fn write_box([x, y, width, height]: [f64; 4], path: &mut String) {
    let (x, y, across, down) = (Pixels(x), Pixels(y), Pixels(width), Pixels(height));
    let _ = write!(path, "M{x} {y}h{across}v{down}h-{across}z");
}

/// Adds the head of an arrow to a path, if it is long enough to have one.
fn write_head(arrow: &PictureArrow, path: &mut String) {
    let (dx, dy) = (arrow.to.0 - arrow.from.0, arrow.to.1 - arrow.from.1);
    let length = dx.hypot(dy);
    if length < 5.0 {
        return;
    }
    let long = (5.0 + arrow.width).min(length);
    let (ux, uy) = (dx / length, dy / length);
    let (back_x, back_y) = (arrow.to.0 - ux * long, arrow.to.1 - uy * long);
    let wide = long * 0.42;
    let _ = write!(
        path,
        "M{} {}L{} {}L{} {}z",
        Pixels(arrow.to.0),
        Pixels(arrow.to.1),
        Pixels(back_x - uy * wide),
        Pixels(back_y + ux * wide),
        Pixels(back_x + uy * wide),
        Pixels(back_y - ux * wide)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_fixed() {
        let shown = [0.0, -0.04, 1.0, 1.25, -3.96, 1e6].map(|px| Pixels(px).to_string());
        assert_eq!(shown, ["0", "0", "1", "1.3", "-4", "1000000"]);
    }

    #[test]
    fn text_is_text() {
        let shown = EscapedText("</text><script>'\"&\u{1}\u{ffff}").to_string();
        let expected = "&lt;/text&gt;&lt;script&gt;&#39;&quot;&amp;\u{fffd}\u{fffd}";
        assert_eq!(shown, expected);
    }
}
