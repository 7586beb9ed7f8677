//! Names of the files beside the block files in which the ranks of a run say that they have come to MPI_Finalize, or, in programs with
//! sessions only, that they end. The last rank of a host removes its file. What is left belongs to a run that was killed while
//! ranks waited there.

/// The name for the ranks on the host with this hash, of this user, of a run with this identity.
pub fn name(run: u64, host: u64, user: u32) -> String {
    format!("libtrace.{run:016x}.{host:016x}.{user}.arrived")
}

/// The name of the file in which processes of this user say that they end, of a run that has sessions and no MPI_COMM_WORLD.
pub fn leaving_name(run: u64, user: u32) -> String {
    format!("libtrace.{run:016x}.{user}.leaving")
}

/// Whether a file has the [`name`] or [`leaving_name`] of one that belongs to this run, on any host.
pub fn is_of(run: u64, file_name: &str) -> bool {
    let is_such = [".arrived", ".leaving"]
        .iter()
        .any(|end| file_name.ends_with(end));
    is_such && file_name.starts_with(&format!("libtrace.{run:016x}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_the_run() {
        let name = name(7, u64::MAX, 1000);
        assert_eq!(
            name,
            "libtrace.0000000000000007.ffffffffffffffff.1000.arrived"
        );
        assert!(is_of(7, &name));
        assert!(is_of(7, &leaving_name(7, 1000)));
        assert!(!is_of(8, &leaving_name(7, 1000)));
        assert!(!is_of(8, &name));
        assert!(!is_of(7, "libtrace.0000000000000007.0.1.blocks"));
    }
}
