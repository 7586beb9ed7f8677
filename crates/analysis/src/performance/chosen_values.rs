//! Of the infos of a category the values that matter, and no others: which these are is looked up once, and not for each drawable.

use trace_model::{Category, InfoValue};

/// Where the values of a category's infos stand that matter, and what each is.
#[derive(Clone, Debug)]
pub(super) struct ChosenValues<T> {
    steps: Box<[Step<T>]>,
}

/// A value, and the bytes before it that are passed over.
#[derive(Clone, Copy, Debug)]
struct Step<T> {
    skip: usize,
    kind: ValueKind,
    /// What the value is; `None` for a text that only has to be passed over.
    chosen: Option<T>,
}

#[derive(Clone, Copy, Debug)]
enum ValueKind {
    Text,
    Short,
    Int,
    Long,
}

/// Bytes of a value of a type; `None` for a text.
fn width(kind: u8) -> Option<usize> {
    match kind {
        b'h' => Some(2),
        b'd' | b'x' | b'e' => Some(4),
        b'l' | b'X' | b'E' => Some(8),
        _ => None,
    }
}

impl<T: Copy> ChosenValues<T> {
    /// The integers and texts of a category whose keys `choose` knows.
    pub(super) fn of(category: &Category, choose: impl Fn(&[u8]) -> Option<T>) -> ChosenValues<T> {
        let mut steps = Vec::new();
        let mut skip = 0;
        for (key, &kind) in category.info_keys.iter().zip(&category.info_types) {
            let chosen = choose(&key.0);
            let kind = match kind {
                b's' => ValueKind::Text,
                b'h' if chosen.is_some() => ValueKind::Short,
                b'd' if chosen.is_some() => ValueKind::Int,
                b'l' if chosen.is_some() => ValueKind::Long,
                kind => match width(kind) {
                    Some(bytes) => {
                        skip += bytes;
                        continue;
                    }
                    // Where a type is not known, nothing behind it is.
                    None => break,
                },
            };
            let skip = std::mem::take(&mut skip);
            steps.push(Step { skip, kind, chosen });
        }
        while steps.pop_if(|last| last.chosen.is_none()).is_some() {}
        ChosenValues {
            steps: steps.into(),
        }
    }

    /// Whether there are any.
    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Gives the values that are in an info, in its order. Ends where the bytes do.
    #[inline]
    pub(super) fn read(&self, info: &[u8], mut put: impl FnMut(T, InfoValue<'_>)) {
        let mut rest = info;
        for step in &self.steps {
            let Some(value) = rest.get(step.skip..) else {
                return;
            };
            rest = value;
            let Some(value) = step.kind.take(&mut rest) else {
                return;
            };
            if let Some(chosen) = step.chosen {
                put(chosen, value);
            }
        }
    }
}

impl ValueKind {
    #[inline]
    fn take<'a>(self, rest: &mut &'a [u8]) -> Option<InfoValue<'a>> {
        Some(match self {
            ValueKind::Int => InfoValue::Integer(i32::from_be_bytes(array(rest)?).into()),
            ValueKind::Long => InfoValue::Integer(i64::from_be_bytes(array(rest)?)),
            ValueKind::Short => InfoValue::Integer(i16::from_be_bytes(array(rest)?).into()),
            ValueKind::Text => {
                let length = usize::try_from(i16::from_be_bytes(array(rest)?)).unwrap_or(0);
                let (text, behind) = rest.split_at(length.min(rest.len()));
                *rest = behind;
                InfoValue::Text(text)
            }
        })
    }
}

#[inline]
fn array<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (bytes, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(*bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use trace_model::{Color, Text, Topology, info_values};

    proptest! {
        /// What is chosen has the value that [`info_values`] finds, whatever the types are and wherever the info ends.
        #[test]
        fn chosen_values_are_those_that_all_values_have(
            types in proptest::collection::vec((proptest::sample::select(b"shdlxXeE?".to_vec()), any::<bool>()), 0..9),
            info in proptest::collection::vec(prop_oneof![Just(0u8), 0u8..4, any::<u8>()], 0..60),
        ) {
            let mut category = Category::new(1, "call".into(), Topology::State, Color::WHITE);
            for (nth, (kind, is_chosen)) in types.into_iter().enumerate() {
                let sign = if is_chosen { '=' } else { ':' };
                category.info_keys.push(Text::from(format!("{nth}{sign}").as_str()));
                category.info_types.push(kind);
            }
            let number = |key: &[u8]| key.ends_with(b"=").then(|| key[0]);
            let expected: Vec<_> = info_values(&category, &info)
                .filter_map(|(key, value)| Some((number(&key.0)?, value)))
                .filter(|(_, value)| matches!(value, InfoValue::Integer(_) | InfoValue::Text(_)))
                .map(|(key, value)| (key, format!("{value:?}")))
                .collect();
            let mut found = Vec::new();
            let chosen = ChosenValues::of(&category, number);
            chosen.read(&info, |key, value| found.push((key, format!("{value:?}"))));
            prop_assert_eq!(found, expected);
        }
    }
}
