//! Finds the CallID in the info of drawables: the value of a key such as `CallID=0x`.

use std::collections::HashMap;

use trace_model::{Category, InfoValue, info_values};

/// The categories whose drawables have a CallID.
#[derive(Clone, Debug)]
pub struct CallIdCategories {
    /// With the position of the CallID among the values.
    categories: HashMap<i32, (Category, usize)>,
}

impl CallIdCategories {
    /// Looks for the key in these categories.
    pub fn new(categories: &[Category]) -> Self {
        let positions = categories.iter().filter_map(|category| {
            let mut keys = category.info_keys.iter().zip(&category.info_types);
            let at = keys.position(|(key, kind)| {
                key.0.windows(6).any(|part| part == b"CallID") && b"hdlxX".contains(kind)
            })?;
            Some((category.index, (category.clone(), at)))
        });
        CallIdCategories {
            categories: positions.collect(),
        }
    }

    /// Number of categories with a CallID.
    pub fn categories(&self) -> usize {
        self.categories.len()
    }

    /// True if drawables of this category have a CallID.
    pub fn has(&self, category: i32) -> bool {
        self.categories.contains_key(&category)
    }

    /// The CallID in the info of a drawable of this category.
    pub fn of(&self, category: i32, info: &[u8]) -> Option<u64> {
        let (category, at) = self.categories.get(&category)?;
        match info_values(category, info).nth(*at)?.1 {
            InfoValue::Hex(number) => Some(number),
            InfoValue::Integer(number) => u64::try_from(number).ok(),
            InfoValue::Text(_) | InfoValue::Real(_) => None,
        }
    }

    /// Offset in the info of a CallID of 8 bytes; `None` if there is none, or it is a smaller one.
    pub(super) fn place(&self, category: i32, info: &[u8]) -> Option<usize> {
        let (category, at) = self.categories.get(&category)?;
        let mut place = 0_usize;
        for &kind in category.info_types.get(..*at)? {
            place += value_bytes(kind, info.get(place..)?)?;
        }
        let is_wide = matches!(category.info_types.get(*at), Some(b'l' | b'X'));
        (is_wide && info.len() >= place.checked_add(8)?).then_some(place)
    }
}

/// Bytes of the value of this type with which an info begins; `None` for a type that is not known and for a text without its length.
pub(super) fn value_bytes(kind: u8, info: &[u8]) -> Option<usize> {
    Some(match kind {
        b'h' => 2,
        b'd' | b'x' | b'e' => 4,
        b'l' | b'X' | b'E' => 8,
        b's' => {
            let length = i16::from_be_bytes(*info.first_chunk()?);
            2 + usize::try_from(length).unwrap_or(0)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace_model::{Color, Topology};

    #[test]
    fn call_ids_are_found_by_their_key() {
        let mut file = Category::new(3, "f".into(), Topology::State, Color::WHITE);
        file.set_info_format(b"bytes=%d, CallID=0x%X");
        let mut thesis = file.clone();
        thesis.index = 4;
        thesis.set_info_format(b"CallID=0x%x");
        let mut other = file.clone();
        other.index = 5;
        other.set_info_format(b"bytes=%d");
        let call_ids = CallIdCategories::new(&[file, thesis, other]);
        assert_eq!(call_ids.categories(), 2);
        let info = [0, 0, 0, 9, 0, 0, 1, 0, 0, 0, 0, 7, 0, 0];
        assert_eq!(call_ids.of(3, &info), Some(0x100_0000_0007));
        assert_eq!(call_ids.of(4, &info), Some(9));
        assert_eq!(call_ids.of(5, &info), None);
        assert_eq!(call_ids.of(3, &info[..8]), None);
        assert_eq!(call_ids.place(3, &info), Some(4));
        assert_eq!(call_ids.place(3, &info[..8]), None);
        assert_eq!(call_ids.place(4, &info), None);
    }
}
