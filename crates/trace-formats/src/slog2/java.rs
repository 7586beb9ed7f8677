//! Behaviour of Java that shows in SLOG2 files and in the texts of their tools: the order of a `HashMap` and the digits of
//! numbers.

use std::io::Write;

/// The order in which a Java `HashMap` lists keys with these hash codes, given in the order of their insertion, as
/// indices (`spec/slog2.md` section 6.1). Equal keys must have been removed.
///
/// Beside the growth that `spec/slog2.md` section 6.1 describes, a table of less than 64 buckets also doubles when a
/// ninth key falls into one bucket. In a larger table Java turns such a bucket into a tree, whose order is not followed
/// here: the bucket stays in the order of insertion.
pub(super) fn hash_map_order(hashes: impl IntoIterator<Item = u32>) -> Vec<usize> {
    const LONG_CHAIN: usize = 8;
    const SMALLEST_WITH_TREES: usize = 64;
    let spread: Vec<u32> = hashes.into_iter().map(|h| h ^ (h >> 16)).collect();
    let bucket = |hash: u32, buckets: usize| hash as usize & (buckets - 1);
    let mut buckets = 16usize;
    for (count, &hash) in spread.iter().enumerate() {
        if buckets < SMALLEST_WITH_TREES {
            let at = bucket(hash, buckets);
            let before = &spread[..count];
            let chain = before.iter().filter(|&&other| bucket(other, buckets) == at);
            if chain.count() >= LONG_CHAIN {
                buckets *= 2;
            }
        }
        if count + 1 > buckets / 4 * 3 {
            buckets *= 2;
        }
    }
    let mut order: Vec<usize> = (0..spread.len()).collect();
    order.sort_by_key(|&index| bucket(spread[index], buckets));
    order
}

/// A number as `Double.toString` writes it, with the shortest digits that identify it (as Java does from 19 on).
pub(super) fn push_double(out: &mut Vec<u8>, value: f64) {
    push_number(out, value);
}

/// A number as `Float.toString` writes it; see [`push_double`].
pub(super) fn push_float(out: &mut Vec<u8>, value: f32) {
    push_number(out, value);
}

#[inline]
fn push_number(out: &mut Vec<u8>, value: impl zmij::Float + Into<f64>) {
    let mut buffer = zmij::Buffer::new();
    let exact: f64 = value.into();
    match exact.abs() {
        // If Java writes no exponent, the texts are the same. Of two shortest texts that are equally near both take the
        // even one (0.28320312 for 145/512).
        1e-3..1e7 | 0.0 => out.extend_from_slice(buffer.format_finite(value).as_bytes()),
        size if size.is_finite() => {
            let shortest = buffer.format_finite(value);
            push_with_exponent(out, shortest, size);
        }
        _ => push_special(out, exact.is_nan(), exact.is_sign_negative()),
    }
}

fn push_special(out: &mut Vec<u8>, is_nan: bool, is_negative: bool) {
    let text: &[u8] = match (is_nan, is_negative) {
        (true, _) => b"NaN",
        (_, true) => b"-Infinity",
        _ => b"Infinity",
    };
    out.extend_from_slice(text);
}

/// Appends a number with one digit before the point, at least one behind it, and `E`.
///
/// `shortest` is the number in any notation. Where it has a single digit, Java takes a second one from the exact value
/// without its sign (4.9E-324).
#[cold]
fn push_with_exponent(out: &mut Vec<u8>, shortest: &str, exact: f64) {
    let unsigned = shortest.trim_start_matches('-');
    if unsigned.len() < shortest.len() {
        out.push(b'-');
    }
    let mut digits = Digits::of(unsigned.as_bytes());
    if digits.count == 1 {
        // At most D.De-324, so it fits.
        let mut text = [0; 16];
        let _ = write!(&mut text[..], "{exact:.1e}");
        let end = text.iter().position(|&b| b == 0).unwrap_or(text.len());
        digits = Digits::of(&text[..end]);
    }
    out.push(digits.all[0]);
    out.push(b'.');
    // The digits behind those that count are zeros.
    out.extend_from_slice(&digits.all[1..digits.count.max(2)]);
    out.push(b'E');
    out.extend_from_slice(itoa::Buffer::new().format(digits.exponent).as_bytes());
}

/// The digits of a number above 0 and the power of ten of the first one.
struct Digits {
    /// Zeros behind those that count.
    all: [u8; 32],
    count: usize,
    exponent: i32,
}

impl Digits {
    /// Reads `1234.5`, `0.0012`, `1.2e+16` and the like; at most 17 digits count.
    fn of(text: &[u8]) -> Self {
        let mut digits = Digits {
            all: [b'0'; 32],
            count: 0,
            exponent: 0,
        };
        let mark = text.iter().position(|&b| b == b'e').unwrap_or(text.len());
        let point = text.iter().position(|&b| b == b'.').unwrap_or(mark);
        let mut first = None;
        let mut seen = 0;
        for (nth, &byte) in text[..mark].iter().filter(|&&b| b != b'.').enumerate() {
            if byte != b'0' || first.is_some() {
                first.get_or_insert(nth);
                if let Some(to) = digits.all.get_mut(seen) {
                    *to = byte;
                    seen += 1;
                }
            }
        }
        let significant = digits.all[..seen].iter().rposition(|&b| b != b'0');
        digits.count = significant.map_or(0, |last| last + 1);
        let of_ten = text.get(mark + 1..).unwrap_or_default();
        let of_ten = std::str::from_utf8(of_ten).map_or(0, |n| n.parse().unwrap_or(0));
        digits.exponent = of_ten + point as i32 - 1 - first.unwrap_or(0) as i32;
        digits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(value: f64) -> String {
        let mut out = Vec::new();
        push_double(&mut out, value);
        String::from_utf8_lossy(&out).into_owned()
    }

    fn float(value: f32) -> String {
        let mut out = Vec::new();
        push_float(&mut out, value);
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn doubles_as_java_writes_them() {
        for (value, text) in [
            (0.0, "0.0"),
            (-1e-5, "-1.0E-5"),
            (1.5e22, "1.5E22"),
            (2e-323, "2.0E-323"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-1.25, "-1.25"),
            (0.001, "0.001"),
            (0.00099, "9.9E-4"),
            (0.0123, "0.0123"),
            (9999999.0, "9999999.0"),
            (1234567.5, "1234567.5"),
            (1e7, "1.0E7"),
            (1e8, "1.0E8"),
            (12345678.9, "1.23456789E7"),
            (4.99999714520527E-7, "4.99999714520527E-7"),
            (f64::MAX, "1.7976931348623157E308"),
            (5e-324, "4.9E-324"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(double(value), text);
        }
    }

    #[test]
    fn floats_have_their_own_digits() {
        assert_eq!(float(0.1), "0.1");
        assert_eq!(float(1.924449975376774e-5f64 as f32), "1.92445E-5");
        assert_eq!(float(16777216.0), "1.6777216E7");
        // Half-way between two texts of eight digits: the even one.
        assert_eq!(float(145.0 / 512.0), "0.28320312");
        assert_eq!(float(401.0 / 512.0), "0.7832031");
        assert_eq!(float(147.0 / 512.0), "0.28710938");
        assert_eq!(float(1e-45), "1.4E-45");
        assert_eq!(float(-f32::NAN), "NaN");
    }

    /// Formats a number by what the standard library offers: shortest digits, exact ones, and laid out one by one.
    fn slowly(size: f64, exact: &str, shortest: &str, is_same: impl Fn(&str) -> bool) -> String {
        let (mut digits, mut exponent) = shortest.split_once('e').expect("an exponent");
        let plain = size == 0.0 || (1e-3..1e7).contains(&size);
        // Of two shortest texts that are equally near, Rust takes the larger one and rounding the even one.
        if digits.len() == 1 && !plain || digits.len() > 1 && is_same(exact) {
            (digits, exponent) = exact.split_once('e').expect("an exponent");
        }
        let exponent: i32 = exponent.parse().expect("a number");
        let mut all: Vec<char> = digits.chars().filter(|&c| c != '.').collect();
        if !plain {
            all.resize(all.len().max(2), '0');
            let behind: String = all[1..].iter().collect();
            return format!("{}.{behind}E{exponent}", all[0]);
        }
        for _ in exponent..0 {
            all.insert(0, '0');
        }
        let whole = exponent.max(0) as usize + 1;
        all.resize(all.len().max(whole + 1), '0');
        let (whole, behind) = all.split_at(whole);
        format!("{}.{}", String::from_iter(whole), String::from_iter(behind))
    }

    fn double_slowly(value: f64) -> String {
        let shortest = format!("{value:e}");
        let places = shortest
            .find('e')
            .expect("an exponent")
            .saturating_sub(2)
            .max(1);
        let exact = format!("{value:.places$e}");
        slowly(value, &exact, &shortest, |text| text.parse() == Ok(value))
    }

    fn float_slowly(value: f32) -> String {
        let shortest = format!("{value:e}");
        let places = shortest
            .find('e')
            .expect("an exponent")
            .saturating_sub(2)
            .max(1);
        let exact = format!("{value:.places$e}");
        slowly(value.into(), &exact, &shortest, |text| {
            text.parse() == Ok(value)
        })
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(20_000))]

        #[test]
        fn digits_are_shortest_and_even(bits: u64, seconds in 0.0..1e4f64, eighths in 0u32..1 << 26) {
            for value in [f64::from_bits(bits >> 1), seconds, seconds * 1e-7, seconds.trunc()] {
                if value.is_finite() {
                    proptest::prop_assert_eq!(double(value), double_slowly(value));
                    proptest::prop_assert_eq!(double(-value), format!("-{}", double_slowly(value)));
                }
            }
            let value = f32::from_bits(bits as u32 >> 1);
            for value in [value, seconds as f32, eighths as f32 / 8192.0, eighths as f32 / 8.0] {
                if value.is_finite() {
                    proptest::prop_assert_eq!(float(value), float_slowly(value));
                }
            }
        }
    }

    #[test]
    fn hash_map_of_sixteen_and_more() {
        // -1 goes to bucket 0, -2 to 1, -3 to 2 (`spec/slog2.md` section 6.1).
        let keys = [-1i32, -3, -2, 0, 64, 65, 6];
        let order = hash_map_order(keys.map(|key| key as u32));
        let listed: Vec<i32> = order.into_iter().map(|index| keys[index]).collect();
        assert_eq!(listed, [-1, 0, 64, -2, 65, -3, 6]);
        // The thirteenth key doubles the table: 16 is no longer in the bucket of 0.
        let order = hash_map_order((0..12).chain([16]));
        assert_eq!(order, (0..13).collect::<Vec<_>>());
        let order = hash_map_order((0..11).chain([16]));
        assert_eq!(order[..3], [0, 11, 1]);
        // The ninth key of one bucket doubles a small table.
        let same_bucket = |count: u32| hash_map_order((0..count).map(|nth| 16 * nth));
        assert_eq!(same_bucket(8), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(same_bucket(9), [0, 2, 4, 6, 8, 1, 3, 5, 7]);
    }
}
