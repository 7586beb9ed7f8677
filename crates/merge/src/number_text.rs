//! Lists of numbers as texts of infos: `3,7-9`.

/// The longest text of an info, bytes.
const MAX_TEXT: usize = i16::MAX as usize;

/// Appends numbers in ascending order as a text such as `3,7-9`, cut behind a number if it is too long.
pub(super) fn push_numbers(text: &mut Vec<u8>, numbers: impl Iterator<Item = u32>) {
    let mut numbers = numbers.peekable();
    while let Some(first) = numbers.next() {
        let mut last = first;
        while let Some(next) = numbers.next_if(|&next| last.checked_add(1) == Some(next)) {
            last = next;
        }
        let begin = text.len();
        if begin > 0 {
            text.push(b',');
        }
        push_decimal(text, first);
        if last != first {
            text.push(b'-');
            push_decimal(text, last);
        }
        if text.len() > MAX_TEXT {
            text.truncate(begin);
            break;
        }
    }
}

/// Appends the digits of a number.
fn push_decimal(text: &mut Vec<u8>, number: u32) {
    let mut digits = [0; 10];
    let mut first = digits.len();
    let mut rest = number;
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[first..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_joined_and_long_lists_are_cut() {
        let of = |numbers: &[u32]| {
            let mut text = Vec::new();
            push_numbers(&mut text, numbers.iter().copied());
            text
        };
        assert_eq!(of(&[]), b"");
        assert_eq!(of(&[0, 3, 7, 8, 9, u32::MAX]), b"0,3,7-9,4294967295");
        let many: Vec<u32> = (0..20_000).map(|number| 3 * number + 1).collect();
        let text = of(&many);
        assert!(text.len() <= MAX_TEXT && text.len() > MAX_TEXT - 10);
        assert!(text.last().is_some_and(u8::is_ascii_digit));
    }
}
