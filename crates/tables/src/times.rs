//! Times as the tables have them.

/// A time in whole ns, rounded as [`f64::round`] does. That one is a call of the C library where the processor is not known to have it.
#[inline]
pub fn ns(seconds: f64) -> i64 {
    let exact = seconds * 1e9;
    let whole = exact as i64;
    let rest = exact - whole as f64;
    whole.saturating_add(i64::from(rest >= 0.5) - i64::from(rest <= -0.5))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rounded(seconds: f64) -> i64 {
        (seconds * 1e9).round() as i64
    }

    #[test]
    fn borders_are_rounded_as_the_library_does() {
        let halves = (-1000..1000).map(|n| f64::from(n) * 0.5e-9);
        let large = [
            f64::MAX,
            f64::MIN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            9.2e9,
            4.5e6,
        ];
        for seconds in halves.chain(large) {
            for close in [seconds.next_down(), seconds, seconds.next_up()] {
                assert_eq!(ns(close), rounded(close), "{close:e}");
            }
        }
    }

    proptest! {
        #[test]
        fn all_are_rounded_as_the_library_does(seconds in any::<f64>(), near in -1e5..1e5) {
            prop_assert_eq!(ns(seconds), rounded(seconds));
            prop_assert_eq!(ns(near), rounded(near));
        }
    }
}
