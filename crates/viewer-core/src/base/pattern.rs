//! Patterns of names, in which `*` stands for any text.

/// Whether a text is what a pattern says, in which `*` stands for any text. Case does not matter.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.to_lowercase(), text.to_lowercase());
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        assert!(matches("MPI_File_*", "MPI_File_open"));
        assert!(matches("mpi_send", "MPI_Send"));
        assert!(matches("*write*at*", "MPI_File_iwrite_at_all"));
        assert!(!matches("MPI_Send", "MPI_Sendrecv"));
        assert!(!matches("a*a", "a"));
    }
}
