//! The binary tree in which the ranks pass things on.

/// The children of a rank.
pub fn children(rank: i32, size: i32) -> impl Iterator<Item = i32> {
    [2 * rank + 1, 2 * rank + 2]
        .into_iter()
        .filter(move |&c| c < size)
}

/// The parent of a rank; `None` for rank 0.
pub fn parent(rank: i32) -> Option<i32> {
    (rank > 0).then(|| (rank - 1) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_but_the_first_is_the_child_of_its_parent() {
        for size in 1..40 {
            for rank in 1..size {
                let up = parent(rank).expect("only rank 0 has none");
                assert!(children(up, size).any(|c| c == rank));
            }
        }
    }
}
