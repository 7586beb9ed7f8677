//! Performance counters of a run, whose ranks may have different ones.

/// The names of all counters, in the order in which the files have them, and by file the place of each among its own. `labels` are the names in
/// each file. A file without names, as one that was cut off, has those of the others if these are the same in all of them.
pub(super) fn by_name(
    labels: impl Iterator<Item = Option<Vec<Vec<u8>>>>,
) -> (Vec<Vec<u8>>, Vec<Vec<Option<usize>>>) {
    let labels: Vec<Vec<Vec<u8>>> = labels.map(Option::unwrap_or_default).collect();
    let mut all: Vec<Vec<u8>> = Vec::new();
    for name in labels.iter().flatten() {
        if !all.contains(name) {
            all.push(name.clone());
        }
    }
    let named = || labels.iter().filter(|own| !own.is_empty());
    let are_the_same = named().all(|own| *own == all);
    let places = labels.iter().map(|own| {
        let own = if own.is_empty() && are_the_same {
            &all
        } else {
            own
        };
        let place = |name| own.iter().position(|known| known == name);
        all.iter().map(place).collect()
    });
    let places = places.collect();
    (all, places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_go_by_name() {
        let names =
            |names: &[&str]| Some(names.iter().map(|name| name.as_bytes().to_vec()).collect());
        let of = |labels: Vec<Option<Vec<Vec<u8>>>>| by_name(labels.into_iter());
        let (all, places) = of(vec![
            names(&["a", "b", "c"]),
            names(&["a", "c"]),
            names(&["d", "b"]),
            None,
        ]);
        assert_eq!(all, [b"a", b"b", b"c", b"d"]);
        assert_eq!(places[0], [Some(0), Some(1), Some(2), None]);
        assert_eq!(places[1], [Some(0), None, Some(1), None]);
        assert_eq!(places[2], [None, Some(1), None, Some(0)]);
        assert_eq!(places[3], [None; 4]);
        // One that was cut off has those of the others.
        let (_, places) = of(vec![None, names(&["a", "b"]), names(&["a", "b"])]);
        assert_eq!(places, [[Some(0), Some(1)]; 3]);
        assert_eq!(of(vec![None, None]), (Vec::new(), vec![Vec::new(); 2]));
    }
}
