//! Patterns for the functions of a column of `--dumpistats`.

use regex::RegexBuilder;
use trace_formats::dumpi::functions::{self, FUNCTION_ENTER, FUNCTION_EXIT};
use trace_formats::dumpi::ids;

/// Number of ids in the function table.
const IDS: usize = functions::END_OF_STREAM as usize;

/// A set of functions and the text it was asked for with.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub text: String,
    matches: [bool; IDS],
}

const SENDS: &[&str] = &[
    "MPI_Send",
    "MPI_Bsend",
    "MPI_Ssend",
    "MPI_Rsend",
    "MPI_Isend",
    "MPI_Ibsend",
    "MPI_Issend",
    "MPI_Irsend",
    "MPI_Send_init",
    "MPI_Bsend_init",
    "MPI_Ssend_init",
    "MPI_Rsend_init",
    "MPI_Sendrecv",
    "MPI_Sendrecv_replace",
];

const RECVS: &[&str] = &[
    "MPI_Recv",
    "MPI_Irecv",
    "MPI_Recv_init",
    "MPI_Sendrecv",
    "MPI_Sendrecv_replace",
];

const WAITS: &[&str] = &[
    "MPI_Wait",
    "MPI_Waitany",
    "MPI_Waitall",
    "MPI_Waitsome",
    "MPI_Probe",
    "MPI_Start",
    "MPI_Startall",
    "MPI_Win_wait",
    "MPIO_Wait",
    "MPIO_Waitall",
    "MPIO_Waitany",
    "MPIO_Waitsome",
];

/// Functions that dumpistats takes for collective, found by asking it for each function. It does not take
/// MPI_File_write_ordered for one.
const COLLECTIVES: &[&str] = &[
    "MPI_Barrier",
    "MPI_Bcast",
    "MPI_Gather",
    "MPI_Gatherv",
    "MPI_Scatter",
    "MPI_Scatterv",
    "MPI_Allgather",
    "MPI_Allgatherv",
    "MPI_Alltoall",
    "MPI_Alltoallv",
    "MPI_Alltoallw",
    "MPI_Reduce",
    "MPI_Allreduce",
    "MPI_Reduce_scatter",
    "MPI_Scan",
    "MPI_Exscan",
    "MPI_Comm_dup",
    "MPI_Comm_create",
    "MPI_Comm_split",
    "MPI_Comm_free",
    "MPI_Intercomm_create",
    "MPI_Init",
    "MPI_Init_thread",
    "MPI_Finalize",
    "MPI_Comm_spawn",
    "MPI_Comm_spawn_multiple",
    "MPI_File_open",
    "MPI_File_close",
    "MPI_File_set_size",
    "MPI_File_preallocate",
    "MPI_File_set_info",
    "MPI_File_set_view",
    "MPI_File_read_at_all",
    "MPI_File_write_at_all",
    "MPI_File_read_all",
    "MPI_File_write_all",
    "MPI_File_read_ordered",
    "MPI_File_seek_shared",
    "MPI_File_read_at_all_begin",
    "MPI_File_read_at_all_end",
    "MPI_File_write_at_all_begin",
    "MPI_File_write_at_all_end",
    "MPI_File_read_all_begin",
    "MPI_File_read_all_end",
    "MPI_File_write_all_begin",
    "MPI_File_write_all_end",
    "MPI_File_read_ordered_begin",
    "MPI_File_read_ordered_end",
    "MPI_File_write_ordered_begin",
    "MPI_File_write_ordered_end",
    "MPI_File_set_atomicity",
    "MPI_File_sync",
];

impl Pattern {
    /// A word of the original or a regular expression for the whole name, whatever the case.
    pub fn new(text: &str) -> Result<Self, String> {
        let io = |name: &str| {
            name.starts_with("MPI_File_") && !name.ends_with("_errhandler")
                || name.starts_with("MPIO_")
                || name == "MPI_Register_datarep"
        };
        let matches = match text {
            "all" => set(|_, _| true),
            "mpi" => set(|id, _| id < functions::ALL_FUNCTIONS),
            "non-mpi" => set(|id, _| id >= functions::ALL_FUNCTIONS),
            "sends" => set(|_, name| SENDS.contains(&name)),
            "recvs" => set(|_, name| RECVS.contains(&name)),
            "coll" => set(|_, name| COLLECTIVES.contains(&name)),
            "wait" => set(|_, name| WAITS.contains(&name)),
            "io" => set(|_, name| io(name)),
            _ => {
                let expression = RegexBuilder::new(&format!("^(?:{text})$"))
                    .case_insensitive(true)
                    .build()
                    .map_err(|error| format!("{text:?}: {error}"))?;
                set(|_, name| expression.is_match(name))
            }
        };
        Ok(Pattern {
            text: text.to_owned(),
            matches,
        })
    }

    /// Whether it is about the function with this id. The entry into a region never is: the exit, which follows at once,
    /// stands for the region. MPI_Reduce_scatter goes as MPI_Reduce, and MPI_Exscan as MPI_Scan.
    #[inline]
    pub fn has(&self, id: u16) -> bool {
        let id = match id {
            ids::REDUCE_SCATTER => ids::REDUCE,
            ids::EXSCAN => ids::SCAN,
            _ => id,
        };
        self.matches.get(usize::from(id)) == Some(&true)
    }
}

fn set(is_in: impl Fn(u16, &str) -> bool) -> [bool; IDS] {
    let mut matches = [false; IDS];
    for function in functions::all() {
        let id = function.id;
        if let Some(place) = matches.get_mut(usize::from(id)) {
            let name = match id {
                FUNCTION_EXIT => "MPI_Function_exit",
                _ => function.name,
            };
            *place = id != FUNCTION_ENTER && is_in(id, name);
        }
    }
    matches
}

#[cfg(test)]
mod tests {
    use super::*;
    use functions::by_name;

    fn count(text: &str) -> usize {
        let pattern = Pattern::new(text).unwrap();
        (0..IDS as u16).filter(|&id| pattern.has(id)).count()
    }

    #[test]
    fn words() {
        assert_eq!(count("mpi"), 290);
        assert_eq!(count("all"), 292);
        assert_eq!(count("non-mpi"), 2);
        // Every name of the lists is one of the table.
        assert_eq!(count("sends"), SENDS.len());
        assert_eq!(count("recvs"), RECVS.len());
        assert_eq!(count("wait"), WAITS.len());
        assert_eq!(count("coll"), COLLECTIVES.len());
        assert_eq!(count("io"), 60);
    }

    #[test]
    fn expressions_are_for_whole_names() {
        let pattern = Pattern::new("mpi_.?send").unwrap();
        let has = |name: &str| pattern.has(by_name(name).unwrap().id);
        assert!(has("MPI_Send") && has("MPI_Isend") && !has("MPI_Sendrecv"));
        assert_eq!(count("MPI_Send|MPI_Recv"), 2);
        assert_eq!(count("MPI_Reduce"), 2);
        assert_eq!(count("MPI_Function_.*"), 1);
        assert!(Pattern::new("(").is_err());
    }
}
