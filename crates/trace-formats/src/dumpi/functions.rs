//! Functions and their fields: what each record of the stream consists of (`spec/dumpi.md` sections 3 and 8).
//!
//! The build script makes the table (`table.rs`) from `wrappers/mpi.table`, one line of text per function in the notation of the
//! specification. The text is parsed at compile time (`notation.rs`), so a misspelt code or bound does not compile.

use super::ids;
use super::table::FUNCTIONS;

pub use super::ids::{FINALIZE, INIT, INIT_THREAD};
pub use super::schema::{
    DumpiField, DumpiFunction, FieldCode, FieldMoment, FieldShape, LibraryBinding, MAX_FIELDS,
};

/// The id that ends a stream of calls.
pub const END_OF_STREAM: u16 = 293;
/// Position of the total over all functions in the footer's tables.
pub const ALL_FUNCTIONS: u16 = 290;
/// Entry into a function or annotated region that is not part of MPI.
pub const FUNCTION_ENTER: u16 = 291;
/// The end of what [`FUNCTION_ENTER`] began.
pub const FUNCTION_EXIT: u16 = 292;
impl DumpiFunction {
    /// The positions of the fields in the order dumpi2ascii shows them, where that is not the stream order
    /// (`spec/dumpi-tools.md` section 2.1).
    pub fn display_order(&self) -> Option<&'static [u8]> {
        match self.id {
            ids::GATHER => Some(&[0, 1, 2, 5, 6, 3, 4]),
            ids::SCATTER => Some(&[0, 5, 6, 1, 2, 3, 4]),
            ids::GATHERV => Some(&[0, 1, 2, 3, 6, 7, 8, 4, 5]),
            ids::SCATTERV => Some(&[0, 1, 7, 8, 2, 3, 4, 5, 6]),
            ids::COMM_SPAWN => Some(&[0, 4, 5, 6, 7, 1, 2, 3, 8]),
            ids::COMM_SPAWN_MULTIPLE => Some(&[0, 1, 5, 6, 7, 8, 9, 2, 3, 4, 10]),
            ids::MPIO_TESTANY => Some(&[0, 1, 3, 2, 4]),
            _ => None,
        }
    }
}

/// The entry of a function id; `None` for [`END_OF_STREAM`] and beyond.
#[inline]
pub fn by_id(id: u16) -> Option<&'static DumpiFunction> {
    FUNCTIONS.get(usize::from(id))
}

/// The entry with this exact name.
pub fn by_name(name: &str) -> Option<&'static DumpiFunction> {
    FUNCTIONS.iter().find(|f| f.name == name)
}

/// Whether this is the exact name of an MPI function for which DUMPI has no number. Files have its calls as pairs of
/// [`FUNCTION_ENTER`] and [`FUNCTION_EXIT`] with its name.
pub fn is_unnumbered(name: &str) -> bool {
    let is_mpi = |table: &wrappers::Table| table.get(name).is_some();
    wrappers::table().is_ok_and(is_mpi) && by_name(name).is_none()
}

/// All entries in the order of their ids.
pub fn all() -> &'static [DumpiFunction] {
    &FUNCTIONS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(name: &str) -> String {
        let f = by_name(name).expect("a function of the table");
        let order = f.display_order().expect("a display order of its own");
        let mut seen: Vec<u8> = order.to_vec();
        seen.sort_unstable();
        assert_eq!(
            seen,
            (0..f.fields().len() as u8).collect::<Vec<_>>(),
            "{name}: every field once"
        );
        order
            .iter()
            .map(|&i| f.fields()[usize::from(i)].name)
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn position_is_id() {
        for (i, f) in all().iter().enumerate() {
            assert_eq!(i, usize::from(f.id), "{}", f.name);
        }
    }

    #[test]
    fn display_orders_of_dumpi2ascii() {
        let rank_first = "commrank sendcount sendtype recvcount recvtype root comm";
        assert_eq!(shown("MPI_Gather"), rank_first);
        assert_eq!(shown("MPI_Scatter"), rank_first);
        assert_eq!(
            shown("MPI_Gatherv"),
            "commrank commsize sendcount sendtype recvcounts displs recvtype root comm"
        );
        assert_eq!(
            shown("MPI_Scatterv"),
            "commrank commsize sendcounts displs sendtype recvcount recvtype root comm"
        );
        assert_eq!(
            shown("MPI_Comm_spawn"),
            "oldcommrank command argv maxprocs info root oldcomm newcomm errcodes"
        );
        assert_eq!(
            shown("MPI_Comm_spawn_multiple"),
            "totprocs oldcommrank count commands argvs maxprocs info root oldcomm newcomm errcodes"
        );
        assert_eq!(shown("MPIO_Testany"), "count requests index flag statuses");
    }

    #[test]
    fn fixed_sizes_and_root() {
        assert_eq!(by_name("MPI_Send").and_then(|f| f.fixed), Some(16));
        assert_eq!(by_name("MPI_Finalize").and_then(|f| f.fixed), Some(0));
        assert_eq!(by_name("MPI_Recv").and_then(|f| f.fixed), None);
        assert_eq!(by_name("MPI_Gather").and_then(|f| f.root), Some((0, 3)));
        assert_eq!(
            by_name("MPI_Comm_spawn_multiple").and_then(|f| f.root),
            Some((1, 2))
        );
        assert_eq!(by_name("MPI_Bcast").and_then(|f| f.root), None);
    }
}
