//! Ids of DUMPI functions by their names. The numbers are those of the function table; a name that the table does not have
//! does not compile.

use super::table::FUNCTIONS;

/// Id of the function with this name.
const fn id_of(name: &str) -> u16 {
    let mut id = 0;
    while id < FUNCTIONS.len() {
        if is_equal(FUNCTIONS[id].name.as_bytes(), name.as_bytes()) {
            return FUNCTIONS[id].id;
        }
        id += 1;
    }
    panic!("no function of the table has this name")
}

const fn is_equal(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

macro_rules! ids {
    ($($constant:ident $name:literal)*) => {
        $(
            #[doc = concat!("Id of `", $name, "`.")]
            pub const $constant: u16 = id_of($name);
        )*
    };
}

ids! {
    SEND "MPI_Send"
    RECV "MPI_Recv"
    BSEND "MPI_Bsend"
    SSEND "MPI_Ssend"
    RSEND "MPI_Rsend"
    ISEND "MPI_Isend"
    IBSEND "MPI_Ibsend"
    ISSEND "MPI_Issend"
    IRSEND "MPI_Irsend"
    IRECV "MPI_Irecv"
    WAIT "MPI_Wait"
    TEST "MPI_Test"
    REQUEST_FREE "MPI_Request_free"
    WAITANY "MPI_Waitany"
    TESTANY "MPI_Testany"
    WAITALL "MPI_Waitall"
    TESTALL "MPI_Testall"
    WAITSOME "MPI_Waitsome"
    TESTSOME "MPI_Testsome"
    CANCEL "MPI_Cancel"
    GREQUEST_START "MPI_Grequest_start"
    GREQUEST_COMPLETE "MPI_Grequest_complete"
    REQUEST_GET_STATUS "MPI_Request_get_status"
    SEND_INIT "MPI_Send_init"
    BSEND_INIT "MPI_Bsend_init"
    SSEND_INIT "MPI_Ssend_init"
    RSEND_INIT "MPI_Rsend_init"
    RECV_INIT "MPI_Recv_init"
    SENDRECV "MPI_Sendrecv"
    SENDRECV_REPLACE "MPI_Sendrecv_replace"
    BCAST "MPI_Bcast"
    GATHER "MPI_Gather"
    GATHERV "MPI_Gatherv"
    SCATTER "MPI_Scatter"
    SCATTERV "MPI_Scatterv"
    ALLGATHER "MPI_Allgather"
    ALLGATHERV "MPI_Allgatherv"
    ALLTOALL "MPI_Alltoall"
    ALLTOALLV "MPI_Alltoallv"
    ALLTOALLW "MPI_Alltoallw"
    REDUCE "MPI_Reduce"
    ALLREDUCE "MPI_Allreduce"
    REDUCE_SCATTER "MPI_Reduce_scatter"
    SCAN "MPI_Scan"
    EXSCAN "MPI_Exscan"
    COMM_GROUP "MPI_Comm_group"
    GROUP_UNION "MPI_Group_union"
    GROUP_INTERSECTION "MPI_Group_intersection"
    GROUP_DIFFERENCE "MPI_Group_difference"
    GROUP_INCL "MPI_Group_incl"
    GROUP_EXCL "MPI_Group_excl"
    GROUP_RANGE_INCL "MPI_Group_range_incl"
    GROUP_RANGE_EXCL "MPI_Group_range_excl"
    COMM_SIZE "MPI_Comm_size"
    COMM_RANK "MPI_Comm_rank"
    GROUP_FREE "MPI_Group_free"
    COMM_DUP "MPI_Comm_dup"
    COMM_CREATE "MPI_Comm_create"
    COMM_SPLIT "MPI_Comm_split"
    COMM_FREE "MPI_Comm_free"
    COMM_REMOTE_GROUP "MPI_Comm_remote_group"
    INTERCOMM_CREATE "MPI_Intercomm_create"
    INTERCOMM_MERGE "MPI_Intercomm_merge"
    TYPE_STRUCT "MPI_Type_struct"
    CART_CREATE "MPI_Cart_create"
    CART_GET "MPI_Cart_get"
    GRAPH_CREATE "MPI_Graph_create"
    CART_SUB "MPI_Cart_sub"
    INIT "MPI_Init"
    FINALIZE "MPI_Finalize"
    COMM_ACCEPT "MPI_Comm_accept"
    COMM_CONNECT "MPI_Comm_connect"
    COMM_DISCONNECT "MPI_Comm_disconnect"
    COMM_GET_PARENT "MPI_Comm_get_parent"
    COMM_JOIN "MPI_Comm_join"
    COMM_SPAWN "MPI_Comm_spawn"
    COMM_SPAWN_MULTIPLE "MPI_Comm_spawn_multiple"
    INIT_THREAD "MPI_Init_thread"
    FILE_OPEN "MPI_File_open"
    FILE_CLOSE "MPI_File_close"
    FILE_WRITE_AT_ALL "MPI_File_write_at_all"
    MPIO_TESTANY "MPIO_Testany"
    START "MPI_Start"
    STARTALL "MPI_Startall"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of all MPI functions (`wrappers/mpi.table`) has the same ids.
    #[test]
    fn ids_are_those_of_the_function_table() {
        let table = wrappers::table().expect("the function table");
        let mut compared = 0;
        for function in &table.functions {
            let Some(id) = function.dumpi else { continue };
            let ours = &FUNCTIONS[usize::from(id)];
            assert_eq!((ours.id, ours.name), (id, function.name.as_str()));
            compared += 1;
        }
        assert!(compared > 200, "{compared}");
    }
}
