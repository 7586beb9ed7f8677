//! Names of the files beside the block files in which the ranks of a run say that they have come to MPI_Finalize. The last
//! rank of a host removes its file. What is left belongs to a run that was killed while ranks waited there.

/// The name for the ranks on the host with this hash, of this user, of a run with this identity.
pub fn name(run: u64, host: u64, user: u32) -> String {
    format!("libtrace.{run:016x}.{host:016x}.{user}.arrived")
}

/// Whether a file has the [`name`] of one that belongs to this run, on any host.
pub fn is_of(run: u64, file_name: &str) -> bool {
    file_name.starts_with(&format!("libtrace.{run:016x}.")) && file_name.ends_with(".arrived")
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
        assert!(!is_of(8, &name));
        assert!(!is_of(7, "libtrace.0000000000000007.0.1.blocks"));
    }
}
