//! Texts of a picture: how wide they are, how they are cut, and counts.

/// Advance widths of the characters from blank to tilde in DejaVu Sans, which Verdana shares within a percent, in 1/2048 of
/// the size. Other fonts that a reader may have in its place are narrower.
const WIDTHS: [u16; 95] = [
    651, 821, 942, 1716, 1303, 1946, 1597, 563, 799, 799, 1024, 1716, 651, 739, 651, 690, 1303,
    1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 690, 690, 1716, 1716, 1716, 1087, 2048,
    1401, 1405, 1430, 1577, 1294, 1178, 1587, 1540, 604, 604, 1343, 1141, 1767, 1532, 1612, 1235,
    1612, 1423, 1300, 1251, 1499, 1401, 2025, 1403, 1251, 1403, 799, 690, 799, 1716, 1024, 1024,
    1255, 1300, 1126, 1300, 1260, 721, 1300, 1298, 569, 569, 1186, 569, 1995, 1298, 1253, 1300,
    1300, 842, 1067, 803, 1298, 1212, 1675, 1212, 1212, 1075, 1303, 690, 1303, 1716,
];

fn advance(character: char) -> u32 {
    let ascii = (character as usize).checked_sub(0x20);
    match ascii.and_then(|at| WIDTHS.get(at)) {
        Some(&width) => width.into(),
        None if character == '\u{fffd}' => 2100,
        // As wide as any letter is high.
        None => 2048,
    }
}

/// Pixels that a text takes.
pub fn width(text: &str, size: f64) -> f64 {
    let units: u64 = text.chars().map(|c| u64::from(advance(c))).sum();
    units as f64 * size / 2048.0
}

/// The text, or as much of it as fits in `room` pixels and an ellipsis; empty if that is less than four characters.
pub fn fitted(text: &str, size: f64, room: f64) -> String {
    // No text of a thousand characters fits anywhere.
    let whole = text.chars().take(1000).collect::<String>();
    if whole.len() == text.len() && width(text, size) <= room {
        return whole;
    }
    let mut left = room - width("…", size);
    let mut cut = String::new();
    for character in whole.chars() {
        left -= f64::from(advance(character)) * size / 2048.0;
        if left < 0.0 {
            break;
        }
        cut.push(character);
    }
    if cut.chars().count() < 4 {
        return String::new();
    }
    format!("{}…", cut.trim_end())
}

/// Names as they are shown: what would not be seen, or turns the direction of what follows, is a replacement character.
pub fn visible(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
            || matches!(
                c,
                '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
            )
    };
    let shown = |c: char| if hidden(c) { '\u{fffd}' } else { c };
    text.chars().map(shown).collect()
}

/// `12 345`: thousands apart.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_to_the_room_there_is() {
        let name = "MPI_File_write_at_all";
        assert_eq!(fitted(name, 11.0, width(name, 11.0)), name);
        let cut = fitted(name, 11.0, 60.0);
        assert!(cut.ends_with('…') && name.starts_with(cut.trim_end_matches('…')));
        assert!(width(&cut, 11.0) <= 60.0);
        assert_eq!(fitted(name, 11.0, 20.0), "");
        let long = "x".repeat(100_000);
        assert!(fitted(&long, 1.0, 1e9).chars().count() < 1100);
    }

    #[test]
    fn what_cannot_be_seen_is_shown() {
        assert_eq!(
            visible("a\u{0}b\u{202e}c\nd"),
            "a\u{fffd}b\u{fffd}c\u{fffd}d"
        );
        assert_eq!(visible("ä <&> 日"), "ä <&> 日");
    }

    #[test]
    fn numbers() {
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(count),
            ["0", "999", "1 000", "1 234 567"]
        );
    }
}
