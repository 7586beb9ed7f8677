//! Patterns for names, as they are in settings, on command lines and in the viewer's search: `*` stands for any characters
//! (none, too) and `?` for exactly one. Everything else stands for itself; there is no way to quote the two.
//!
//! A character is one of UTF-8. In names that are not UTF-8, each byte that continues no character counts as one.
//! Nothing here allocates, except where case is ignored: the recorder looks at names within the program's own calls.

/// Whether the whole of `text` matches `pattern`. Case matters.
pub fn matches(pattern: &[u8], text: &[u8]) -> bool {
    walk(pattern, text, false)
}

/// Whether the whole of `text` matches `pattern`, whatever the case of their letters.
pub fn matches_ignoring_case(pattern: &str, text: &str) -> bool {
    matches(
        pattern.to_lowercase().as_bytes(),
        text.to_lowercase().as_bytes(),
    )
}

/// Whether the name of a file matches `pattern`. A pattern that ends with `/` matches everything below the folders that it
/// matches, however deep. Case matters, and `*` and `?` match `/`, too.
pub fn matches_path(pattern: &[u8], path: &[u8]) -> bool {
    walk(pattern, path, pattern.ends_with(b"/"))
}

/// Whether `pattern` matches all of `text`, or, with `is_prefix`, any beginning of it.
fn walk(pattern: &[u8], text: &[u8], is_prefix: bool) -> bool {
    let (mut p, mut t) = (0, 0);
    // Positions to go on from after a mismatch: after the last star in the pattern, one character later in the text.
    let mut again: Option<(usize, usize)> = None;
    loop {
        if p == pattern.len() && (is_prefix || t == text.len()) {
            return true;
        }
        match pattern.get(p) {
            Some(b'*') => {
                p += 1;
                again = Some((p, t));
                continue;
            }
            Some(b'?') if t < text.len() => {
                p += 1;
                t = next_character(text, t);
                continue;
            }
            Some(c) if text.get(t) == Some(c) => {
                p += 1;
                t += 1;
                continue;
            }
            _ => {}
        }
        match again {
            Some((star, from)) if from < text.len() => {
                (p, t) = (star, next_character(text, from));
                again = Some((p, t));
            }
            _ => return false,
        }
    }
}

/// Start of the character after the one at `at`.
fn next_character(text: &[u8], at: usize) -> usize {
    let continues = |&&byte: &&u8| byte & 0xC0 == 0x80;
    let rest = text.get(at + 1..).unwrap_or_default();
    at + 1 + rest.iter().take_while(continues).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, text, expected) in [
            ("MPI_Send", "MPI_Send", true),
            ("MPI_Send", "MPI_Send_init", false),
            ("MPI_Send", "mpi_send", false),
            ("MPI_*end*", "MPI_Isend", true),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("MPI_?send", "MPI_Isend", true),
            ("MPI_?send", "MPI_send", false),
            ("*_a*b", "x_aab_ab", true),
            ("*_a*b", "x_aab_aba", false),
            ("a*a", "a", false),
            ("gr??er", "größer", true),
            ("*?", "ü", true),
            ("*??", "ü", false),
            ("a/", "a/b", false),
        ] {
            let found = matches(pattern.as_bytes(), text.as_bytes());
            assert_eq!(found, expected, "{pattern} {text}");
        }
    }

    #[test]
    fn case_can_be_ignored() {
        assert!(matches_ignoring_case("mpi_*É", "MPI_Sendé"));
        assert!(matches_ignoring_case(
            "*write*at*",
            "MPI_File_iwrite_at_all"
        ));
        assert!(!matches_ignoring_case("MPI_Send", "MPI_Sendrecv"));
    }

    #[test]
    fn paths_may_mean_all_below() {
        for (pattern, path, expected) in [
            ("/a/b", "/a/b", true),
            ("/a/b", "/a/bc", false),
            ("*.nc", "/x/y.nc", true),
            ("*.nc", "/x/y.nc4", false),
            ("/a/", "/a/b/c", true),
            ("/a/", "/ab", false),
            ("/*/c?", "/a/b/c1", true),
            ("*a*b", "/a/a/c", false),
            ("*", "/anything", true),
            ("", "/a", false),
            ("*/", "/a/b", true),
            ("/a?/", "/ab/", true),
        ] {
            let found = matches_path(pattern.as_bytes(), path.as_bytes());
            assert_eq!(found, expected, "{pattern} {path}");
        }
    }

    /// The meaning itself, in the time that it takes.
    fn slow(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('*', rest)) => (0..=text.len()).any(|n| slow(rest, &text[n..])),
            Some((c, rest)) => text
                .split_first()
                .is_some_and(|(t, later)| (*c == '?' || c == t) && slow(rest, later)),
        }
    }

    proptest! {
        #[test]
        fn as_the_definition(pattern in "[abü*?]{0,8}", text in "[abü?]{0,10}") {
            let chars = |text: &str| text.chars().collect::<Vec<char>>();
            let expected = slow(&chars(&pattern), &chars(&text));
            prop_assert_eq!(matches(pattern.as_bytes(), text.as_bytes()), expected);
        }
    }
}
