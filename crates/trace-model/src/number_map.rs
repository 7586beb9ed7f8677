//! Maps from the numbers that a trace gives to its categories and lines.

use crate::hash::Map;

/// A map from 32-bit numbers, most of which are small: these are found without a hash.
#[derive(Clone, Debug)]
pub struct NumberMap<T> {
    /// Number of the first value in `small`.
    first: i32,
    /// Values by number.
    small: Vec<Option<T>>,
    /// Values of all other numbers.
    others: Map<i32, T>,
}

/// Numbers below it are not among the small ones. Those of previews are not far below 0.
const LEAST_SMALL: i32 = -16;

/// Place of a number among the small ones, if `first` has the first place.
#[inline]
fn place(number: i32, first: i32) -> Option<usize> {
    usize::try_from(i64::from(number) - i64::from(first)).ok()
}

impl<T> NumberMap<T> {
    /// The value of a number.
    #[inline]
    pub fn get(&self, number: i32) -> Option<&T> {
        match place(number, self.first).map(|at| self.small.get(at)) {
            Some(Some(found)) => found.as_ref(),
            _ => self.others.get(&number),
        }
    }

    /// All values, in no order.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.small.iter().flatten().chain(self.others.values())
    }
}

impl<T> FromIterator<(i32, T)> for NumberMap<T> {
    /// The map takes at most 65 536 places and eight for each pair, whatever the numbers are. Of two pairs with one number, the last counts.
    fn from_iter<I: IntoIterator<Item = (i32, T)>>(pairs: I) -> Self {
        let pairs: Vec<(i32, T)> = pairs.into_iter().collect();
        let least = pairs.iter().map(|pair| pair.0).min().unwrap_or(0);
        let first = least.max(LEAST_SMALL);
        let most = 8 * pairs.len() + (1 << 16);
        let mut small = Vec::new();
        let mut others = Map::default();
        for (number, value) in pairs {
            match place(number, first) {
                Some(at) if at < most => {
                    small.resize_with(small.len().max(at + 1), || None);
                    small[at] = Some(value);
                }
                _ => drop(others.insert(number, value)),
            }
        }
        NumberMap {
            first,
            small,
            others,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_all_sizes_are_found() {
        let lists: [&[i32]; 4] = [
            &[],
            &[0, 3, 300, -1, i32::MIN, 1 << 17, i32::MAX],
            &[1000, 1001, 1002],
            &[-3, -2, -1, 7],
        ];
        for numbers in lists {
            let pairs = numbers.iter().map(|&n| (n, n.to_string()));
            let map: NumberMap<String> = pairs.collect();
            for number in numbers {
                assert_eq!(map.get(*number), Some(&number.to_string()));
            }
            for number in [1, 2, 4, 299, 301, 999, -4, -100, 1 << 20] {
                let is_there = numbers.contains(&number);
                assert_eq!(map.get(number).is_some(), is_there, "{number}");
            }
            assert_eq!(map.values().count(), numbers.len());
        }
    }

    #[test]
    fn the_last_of_two_pairs_counts() {
        let map: NumberMap<char> = [(1, 'a'), (1, 'b'), (-7, 'c'), (-7, 'd')]
            .into_iter()
            .collect();
        assert_eq!((map.get(1), map.get(-7)), (Some(&'b'), Some(&'d')));
    }
}
