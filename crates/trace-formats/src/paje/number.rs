//! Numbers as the C library reads and prints them.

use std::io::{self, Write};

/// A time: a decimal number that takes the whole value.
///
/// It is read as `pj_dump` reads it, by the number parser of Boost Spirit, which multiplies or divides the digits, as far
/// as they fit in 64 bits, by a power of ten. Where that rounds twice the last bit differs from that of the nearest
/// number, on which order and printed decimals can depend.
pub fn time(value: &[u8]) -> Option<f64> {
    let (negative, value) = match value {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, value),
    };
    let digits = |from: &[u8]| from.iter().take_while(|b| b.is_ascii_digit()).count();
    let mut number = 0u64;
    let (whole, rest) = value.split_at(digits(value));
    let (near, excess) = whole.split_at(whole.len().min(17));
    for digit in near {
        number = number * 10 + u64::from(digit - b'0');
    }
    let mut exponent = i32::try_from(excess.len()).ok()?;
    let mut rest = rest;
    if let [b'.', behind @ ..] = rest {
        let (fraction, behind) = behind.split_at(digits(behind));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        if excess.is_empty() {
            for digit in fraction {
                let more = number.checked_mul(10);
                let Some(more) = more.and_then(|n| n.checked_add(u64::from(digit - b'0'))) else {
                    break;
                };
                number = more;
                exponent -= 1;
            }
        }
        rest = behind;
    } else if whole.is_empty() {
        return None;
    }
    if let [b'e' | b'E', behind @ ..] = rest {
        let text = std::str::from_utf8(behind).ok()?;
        exponent = exponent.checked_add(text.parse().ok()?)?;
    } else if !rest.is_empty() {
        return None;
    }
    let number = scaled(number, exponent)?;
    Some(if negative { -number } else { number })
}

fn scaled(number: u64, exponent: i32) -> Option<f64> {
    let power = |exponent: i32| -> f64 {
        const EXACT: [f64; 20] = [
            1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
            1e16, 1e17, 1e18, 1e19,
        ];
        let exact = usize::try_from(exponent).ok().and_then(|at| EXACT.get(at));
        exact
            .copied()
            .unwrap_or_else(|| format!("1e{exponent}").parse().unwrap_or(f64::INFINITY))
    };
    let number = number as f64;
    let number = match exponent {
        309.. => return None,
        0.. => number * power(exponent),
        -307.. => number / power(-exponent),
        -614.. => number / 1e307 / power(-exponent - 307),
        _ => return None,
    };
    number.is_finite().then_some(number)
}

/// The number that a value begins with, as `strtof` finds it; 0 if it begins with none.
pub fn leading_float(value: &[u8]) -> f32 {
    let text: &str = match std::str::from_utf8(value) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&value[..error.valid_up_to()]).unwrap_or(""),
    };
    let text = text.trim_start();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.get(..3).map(str::to_ascii_lowercase);
    let number = match lower.as_deref() {
        Some("inf") => f32::INFINITY,
        Some("nan") => f32::NAN,
        _ => match digits
            .strip_prefix("0x")
            .or_else(|| digits.strip_prefix("0X"))
        {
            Some(hex) => {
                let length = hex.bytes().take_while(u8::is_ascii_hexdigit).count();
                let digits = hex.get(..length.min(16)).unwrap_or("");
                u64::from_str_radix(digits, 16).map_or(0.0, |number| number as f32)
            }
            None => match decimal(digits) {
                Some(number) => number,
                // There is no number that the sign could be of.
                None => return 0.0,
            },
        },
    };
    if negative { -number } else { number }
}

/// The longest start of `text` that is a decimal number.
fn decimal(text: &str) -> Option<f32> {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter().take_while(|b| b.is_ascii_digit()).count()
    };
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end += 1 + digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    text.get(..end)?.parse().ok()
}

/// Writes a number as `%f` with this many decimals.
pub fn fixed(out: &mut impl Write, number: f64, decimals: usize) -> io::Result<()> {
    if number.is_finite() {
        write!(out, "{number:.decimals$}")
    } else {
        not_finite(out, number)
    }
}

/// Writes a number as `%g`: six significant digits.
pub fn general(out: &mut impl Write, number: f64) -> io::Result<()> {
    if !number.is_finite() {
        return not_finite(out, number);
    }
    let scientific = format!("{number:.5e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| -> String {
        let text = match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.'),
            false => text,
        };
        text.to_owned()
    };
    if (-4..6).contains(&exponent) {
        let decimals = usize::try_from(5 - exponent).unwrap_or(0);
        out.write_all(trimmed(&format!("{number:.decimals$}")).as_bytes())
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(out, "{}e{sign}{:02}", trimmed(mantissa), exponent.abs())
    }
}

fn not_finite(out: &mut impl Write, number: f64) -> io::Result<()> {
    let sign = if number.is_sign_negative() { "-" } else { "" };
    let text = if number.is_nan() { "nan" } else { "inf" };
    write!(out, "{sign}{text}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(print: impl Fn(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        print(&mut out).expect("memory");
        String::from_utf8(out).expect("ASCII")
    }

    /// The number as the C library prints it.
    fn by_c(format: &std::ffi::CStr, number: f64) -> String {
        let mut buffer = [0u8; 512];
        // SAFETY: the buffer is as long as it is said to be, and the format takes one double.
        let length = unsafe {
            libc::snprintf(
                buffer.as_mut_ptr().cast(),
                buffer.len(),
                format.as_ptr(),
                number,
            )
        };
        let length = usize::try_from(length).expect("printed");
        String::from_utf8_lossy(&buffer[..length.min(buffer.len() - 1)]).into_owned()
    }

    proptest! {
        #[test]
        fn numbers_look_as_the_c_library_prints_them(bits: u64, small in -1e7f64..1e7, ties in -4000i32..4000) {
            for number in [f64::from_bits(bits), small, f64::from(ties) / 64.0] {
                if number.is_nan() { continue; }
                prop_assert_eq!(text(|out| general(out, number)), by_c(c"%g", number));
                prop_assert_eq!(text(|out| fixed(out, number, 6)), by_c(c"%.6f", number));
                prop_assert_eq!(text(|out| fixed(out, number, 0)), by_c(c"%.0f", number));
                prop_assert_eq!(text(|out| fixed(out, number, 3)), by_c(c"%.3f", number));
            }
        }

        #[test]
        fn times_are_read(value in "-?[0-9]{0,9}(\\.[0-9]{0,6})?(e-?[0-3])?", long in "[1-9][0-9]{0,29}(\\.[0-9]{0,30})?") {
            // Up to 15 digits there is but one rounding.
            let expected = value.parse::<f64>().ok();
            prop_assert_eq!(time(value.as_bytes()).map(f64::to_bits), expected.map(f64::to_bits));
            let (found, nearest) = (time(long.as_bytes()).expect("a number"), long.parse::<f64>().expect("a number"));
            prop_assert!((found - nearest).abs() <= nearest.abs() * 4e-16);
        }

        #[test]
        fn numbers_are_read_as_the_c_library_reads_them(
            value in "[-+]?(0x)?[0-9]{0,12}(\\.[0-9]{0,9})?([eE][-+]?[0-9]{0,2})?[a-z ]{0,2}"
        ) {
            // The hexadecimal point and exponent, which nobody writes, are not read.
            prop_assume!(!value.contains("0x") || !value.contains(['.', 'p']));
            let c = std::ffi::CString::new(value.as_bytes()).expect("no NUL");
            // SAFETY: the text ends with NUL, and the place of the end is not asked for.
            let expected = unsafe { libc::strtof(c.as_ptr(), std::ptr::null_mut()) };
            prop_assert_eq!(leading_float(value.as_bytes()).to_bits(), expected.to_bits());
        }
    }
}
