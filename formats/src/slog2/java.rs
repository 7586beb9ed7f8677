//! What of Java shows in SLOG2 files and in the texts of its tools: the order of a `HashMap` and the digits of numbers.

use std::io::Write;

/// The order in which a Java `HashMap` lists keys with these hash codes, given in the order of their insertion, as
/// indices (section 6.1). Equal keys must have been removed.
///
/// Beside the growth that section 6.1 describes, a table of less than 64 buckets also doubles when a ninth key falls into
/// one bucket. In a larger table Java turns such a bucket into a tree, whose order is not followed here: the bucket stays
/// in the order of insertion.
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
    if push_special(
        out,
        value.is_sign_negative(),
        value.is_nan(),
        value.is_infinite(),
    ) {
        return;
    }
    let value = value.abs();
    push_digits(
        out,
        |digits| write!(digits, "{value:e}"),
        |digits, places| write!(digits, "{value:.places$e}"),
        |digits| digits.parse() == Ok(value),
    );
}

/// A number as `Float.toString` writes it; see [`push_double`].
pub(super) fn push_float(out: &mut Vec<u8>, value: f32) {
    if push_special(
        out,
        value.is_sign_negative(),
        value.is_nan(),
        value.is_infinite(),
    ) {
        return;
    }
    let value = value.abs();
    push_digits(
        out,
        |digits| write!(digits, "{value:e}"),
        |digits, places| write!(digits, "{value:.places$e}"),
        |digits| digits.parse() == Ok(value),
    );
}

/// Writes the sign, and what is no number at all; true if nothing is left to write.
fn push_special(out: &mut Vec<u8>, negative: bool, nan: bool, infinite: bool) -> bool {
    if nan {
        out.extend_from_slice(b"NaN");
        return true;
    }
    if negative {
        out.push(b'-');
    }
    if infinite {
        out.extend_from_slice(b"Infinity");
    }
    infinite
}

/// Lays out digits as Java does: plain from 1e-3 to below 1e7, else with one digit before the point and `E`.
///
/// `shortest` writes the number as Rust's `{:e}`, `rounded` as `{:.1e}` and the like, and `same` reads such a text and
/// says whether it is the number. Java's `E` form has two digits at least, and takes the second from the exact value
/// (4.9E-324). Of two shortest texts that are equally near Java takes the even one (0.28320312 for 145/512), which is
/// what rounding gives; Rust takes the larger.
fn push_digits(
    out: &mut Vec<u8>,
    shortest: impl FnOnce(&mut &mut [u8]) -> std::io::Result<()>,
    rounded: impl Fn(&mut &mut [u8], usize) -> std::io::Result<()>,
    same: impl FnOnce(&str) -> bool,
) {
    // 17 digits, point and exponent are at most 24 bytes, so writing to the buffer cannot fail.
    let mut buffer = [0; 32];
    let _ = shortest(&mut &mut buffer[..]);
    let (mut digits, mut exponent) = split_exponent(&buffer);
    let mut second = [0; 32];
    if digits.len() == 1 {
        if !(-3..7).contains(&exponent) {
            let _ = rounded(&mut &mut second[..], 1);
            (digits, exponent) = split_exponent(&second);
        }
    } else if digits.last().is_some_and(|digit| digit % 2 == 1) {
        // D.DDD: what is neither the first digit nor the point stands behind it.
        let _ = rounded(&mut &mut second[..], digits.len() - 2);
        let end = second.iter().position(|&b| b == 0).unwrap_or(second.len());
        if std::str::from_utf8(&second[..end]).is_ok_and(same) {
            (digits, exponent) = split_exponent(&second);
        }
    }
    let digits = digits.iter().copied().filter(|&b| b != b'.');
    match exponent {
        -3..0 => {
            out.extend_from_slice(b"0.");
            out.extend(std::iter::repeat_n(b'0', -exponent as usize - 1));
            out.extend(digits);
        }
        0..7 => {
            let whole = exponent as usize + 1;
            out.extend(digits.clone().chain(std::iter::repeat(b'0')).take(whole));
            out.push(b'.');
            push_fraction(out, digits.skip(whole));
        }
        _ => {
            out.extend(digits.clone().take(1));
            out.push(b'.');
            push_fraction(out, digits.skip(1));
            let _ = write!(out, "E{exponent}");
        }
    }
}

/// The digits behind the point, of which there is at least one.
fn push_fraction(out: &mut Vec<u8>, digits: impl Iterator<Item = u8>) {
    let before = out.len();
    out.extend(digits);
    if out.len() == before {
        out.push(b'0');
    }
}

/// Splits `D[.DDD]e[-]X`, followed by zero bytes, into the part before the `e` and the exponent.
fn split_exponent(text: &[u8]) -> (&[u8], i32) {
    let end = text.iter().position(|&b| b == 0).unwrap_or(text.len());
    let mark = text.iter().position(|&b| b == b'e').unwrap_or(end);
    let exponent = text
        .get(mark + 1..end)
        .and_then(|digits| std::str::from_utf8(digits).ok())
        .and_then(|digits| digits.parse().ok());
    (&text[..mark], exponent.unwrap_or(0))
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

    #[test]
    fn hash_map_of_sixteen_and_more() {
        // -1 goes to bucket 0, -2 to 1, -3 to 2 (section 6.1).
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
