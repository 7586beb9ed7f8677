//! The states of MPE-1's MPI wrappers and their fixed event numbers (`spec/clog1.md` section 5).

use std::collections::HashMap;

/// A state of MPE's wrappers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WrapperState {
    /// Name of the state: that of the MPI function in capitals, without `MPI_`.
    pub(crate) name: &'static str,
    /// Number of its start event; that of its end event is the next.
    pub(crate) start: i32,
    /// Colour and stipple.
    pub(crate) look: &'static str,
}

/// The look of what has none of its own.
const PLAIN: &str = "white:vlines";

/// The looks of calls that stand out.
const LOOKS: [(&str, &str); 23] = [
    ("ALLREDUCE", "purple:vlines3"),
    ("BARRIER", "yellow:dimple3"),
    ("BCAST", "cyan:boxes"),
    ("BSEND", "blue:gray3"),
    ("IPROBE", "seagreen:gray"),
    ("IRECV", "springgreen:gray"),
    ("ISEND", "skyblue:gray"),
    ("ISSEND", "seagreen:gray"),
    ("PROBE", "seagreen:gray"),
    ("RECV", "green:light_gray"),
    ("REDUCE", "purple:2x2"),
    ("SEND", "blue:gray3"),
    ("SENDRECV", "seagreen:gray"),
    ("SENDRECV_REPLACE", "seagreen:gray"),
    ("SSEND", "deepskyblue:gray"),
    ("TEST", "orange:gray"),
    ("TESTALL", "orange:gray"),
    ("TESTANY", "orange:gray"),
    ("TESTSOME", "orange:gray"),
    ("WAIT", "red:black"),
    ("WAITALL", "OrangeRed:gray"),
    ("WAITANY", "coral:gray"),
    ("WAITSOME", "red:black"),
];

/// Start events and names.
const CALLS: [(i32, &str); 178] = [
    (1, "ALLGATHER"),
    (3, "ALLGATHERV"),
    (5, "ALLREDUCE"),
    (7, "ALLTOALL"),
    (9, "ALLTOALLV"),
    (11, "BARRIER"),
    (13, "BCAST"),
    (15, "GATHER"),
    (17, "GATHERV"),
    (19, "OP_CREATE"),
    (21, "OP_FREE"),
    (23, "REDUCE_SCATTER"),
    (25, "REDUCE"),
    (27, "SCAN"),
    (29, "SCATTER"),
    (31, "SCATTERV"),
    (33, "ATTR_DELETE"),
    (35, "ATTR_GET"),
    (37, "ATTR_PUT"),
    (39, "COMM_COMPARE"),
    (41, "COMM_CREATE"),
    (43, "COMM_DUP"),
    (45, "COMM_FREE"),
    (47, "COMM_GROUP"),
    (49, "COMM_RANK"),
    (51, "COMM_REMOTE_GROUP"),
    (53, "COMM_REMOTE_SIZE"),
    (55, "COMM_SIZE"),
    (57, "COMM_SPLIT"),
    (59, "COMM_TEST_INTER"),
    (61, "GROUP_COMPARE"),
    (63, "GROUP_DIFFERENCE"),
    (65, "GROUP_EXCL"),
    (67, "GROUP_FREE"),
    (69, "GROUP_INCL"),
    (71, "GROUP_INTERSECTION"),
    (73, "GROUP_RANK"),
    (75, "GROUP_RANGE_EXCL"),
    (77, "GROUP_RANGE_INCL"),
    (79, "GROUP_SIZE"),
    (81, "GROUP_TRANSLATE_RANKS"),
    (83, "GROUP_UNION"),
    (85, "INTERCOMM_CREATE"),
    (87, "INTERCOMM_MERGE"),
    (89, "KEYVAL_CREATE"),
    (91, "KEYVAL_FREE"),
    (93, "ABORT"),
    (95, "ERROR_CLASS"),
    (97, "ERRHANDLER_CREATE"),
    (99, "ERRHANDLER_FREE"),
    (101, "ERRHANDLER_GET"),
    (103, "ERROR_STRING"),
    (105, "ERRHANDLER_SET"),
    (107, "GET_PROCESSOR_NAME"),
    (109, "INITIALIZED"),
    (111, "WTICK"),
    (113, "WTIME"),
    (115, "ADDRESS"),
    (117, "BSEND"),
    (119, "BSEND_INIT"),
    (121, "BUFFER_ATTACH"),
    (123, "BUFFER_DETACH"),
    (125, "CANCEL"),
    (127, "REQUEST_FREE"),
    (129, "RECV_INIT"),
    (131, "SEND_INIT"),
    (133, "GET_ELEMENTS"),
    (135, "GET_COUNT"),
    (137, "IBSEND"),
    (139, "IPROBE"),
    (141, "IRECV"),
    (143, "IRSEND"),
    (145, "ISEND"),
    (147, "ISSEND"),
    (149, "PACK"),
    (151, "PACK_SIZE"),
    (153, "PROBE"),
    (155, "RECV"),
    (157, "RSEND"),
    (159, "RSEND_INIT"),
    (161, "SEND"),
    (163, "SENDRECV"),
    (165, "SENDRECV_REPLACE"),
    (167, "SSEND"),
    (169, "SSEND_INIT"),
    (171, "START"),
    (173, "STARTALL"),
    (175, "TEST"),
    (177, "TESTALL"),
    (179, "TESTANY"),
    (181, "TEST_CANCELLED"),
    (183, "TESTSOME"),
    (185, "TYPE_COMMIT"),
    (187, "TYPE_CONTIGUOUS"),
    (189, "TYPE_EXTENT"),
    (191, "TYPE_FREE"),
    (193, "TYPE_HINDEXED"),
    (195, "TYPE_HVECTOR"),
    (197, "TYPE_INDEXED"),
    (199, "TYPE_LB"),
    (201, "TYPE_SIZE"),
    (203, "TYPE_STRUCT"),
    (205, "TYPE_UB"),
    (207, "TYPE_VECTOR"),
    (209, "UNPACK"),
    (211, "WAIT"),
    (213, "WAITALL"),
    (215, "WAITANY"),
    (217, "WAITSOME"),
    (219, "CART_COORDS"),
    (221, "CART_CREATE"),
    (223, "CART_GET"),
    (225, "CART_MAP"),
    (227, "CART_SHIFT"),
    (229, "CARTDIM_GET"),
    (231, "DIMS_CREATE"),
    (233, "GRAPH_CREATE"),
    (235, "GRAPH_GET"),
    (237, "GRAPH_MAP"),
    (239, "GRAPH_NEIGHBORS"),
    (241, "GRAPH_NEIGHBORS_COUNT"),
    (243, "GRAPHDIMS_GET"),
    (245, "TOPO_TEST"),
    (247, "RECV_IDLE"),
    (249, "CART_RANK"),
    (251, "CART_SUB"),
    (257, "FILE_OPEN"),
    (259, "FILE_CLOSE"),
    (261, "FILE_DELETE"),
    (263, "FILE_SET_SIZE"),
    (265, "FILE_PREALLOCATE"),
    (267, "FILE_GET_SIZE"),
    (269, "FILE_GET_GROUP"),
    (271, "FILE_GET_AMODE"),
    (273, "FILE_SET_INFO"),
    (275, "FILE_GET_INFO"),
    (277, "FILE_SET_VIEW"),
    (279, "FILE_GET_VIEW"),
    (281, "FILE_READ_AT"),
    (283, "FILE_READ_AT_ALL"),
    (285, "FILE_WRITE_AT"),
    (287, "FILE_WRITE_AT_ALL"),
    (289, "FILE_IREAD_AT"),
    (291, "FILE_IWRITE_AT"),
    (293, "FILE_READ"),
    (295, "FILE_READ_ALL"),
    (297, "FILE_WRITE"),
    (299, "FILE_WRITE_ALL"),
    (301, "FILE_IREAD"),
    (303, "FILE_IWRITE"),
    (305, "FILE_SEEK"),
    (307, "FILE_GET_POSITION"),
    (309, "FILE_GET_BYTE_OFFSET"),
    (311, "FILE_READ_SHARED"),
    (313, "FILE_WRITE_SHARED"),
    (315, "FILE_IREAD_SHARED"),
    (317, "FILE_IWRITE_SHARED"),
    (319, "FILE_READ_ORDERED"),
    (321, "FILE_WRITE_ORDERED"),
    (323, "FILE_SEEK_SHARED"),
    (325, "FILE_GET_POSITION_SHARED"),
    (327, "FILE_READ_AT_ALL_BEGIN"),
    (329, "FILE_READ_AT_ALL_END"),
    (331, "FILE_WRITE_AT_ALL_BEGIN"),
    (333, "FILE_WRITE_AT_ALL_END"),
    (335, "FILE_READ_ALL_BEGIN"),
    (337, "FILE_READ_ALL_END"),
    (339, "FILE_WRITE_ALL_BEGIN"),
    (341, "FILE_WRITE_ALL_END"),
    (343, "FILE_READ_ORDERED_BEGIN"),
    (345, "FILE_READ_ORDERED_END"),
    (347, "FILE_WRITE_ORDERED_BEGIN"),
    (349, "FILE_WRITE_ORDERED_END"),
    (351, "FILE_GET_TYPE_EXTENT"),
    (353, "REGISTER_DATAREP"),
    (355, "FILE_SET_ATOMICITY"),
    (357, "FILE_GET_ATOMICITY"),
    (359, "FILE_SYNC"),
];

fn call((start, name): (i32, &'static str)) -> WrapperState {
    let look = LOOKS.iter().find(|(known, _)| *known == name);
    WrapperState {
        name,
        start,
        look: look.map_or(PLAIN, |(_, look)| look),
    }
}

/// The calls by their start events.
pub(crate) fn by_start() -> HashMap<i32, WrapperState> {
    CALLS.iter().map(|&one| (one.0, call(one))).collect()
}

/// The call of this name, with or without `MPI_`, in any case.
pub(crate) fn by_name(name: &str) -> Option<WrapperState> {
    let upper = name.to_ascii_uppercase();
    let short = upper.strip_prefix("MPI_").unwrap_or(&upper);
    let found = CALLS.iter().find(|(_, known)| *known == short);
    found.map(|&one| call(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_odd_and_ascend() {
        assert!(CALLS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(CALLS.iter().all(|(start, _)| start % 2 == 1));
        assert!(LOOKS.iter().all(|(name, _)| by_name(name).is_some()));
    }

    #[test]
    fn names_are_found_as_mpi_has_them() {
        let send = WrapperState {
            name: "SEND",
            start: 161,
            look: "blue:gray3",
        };
        assert_eq!(by_name("MPI_Send"), Some(send));
        assert_eq!(by_name("SEND"), Some(send));
        assert_eq!(by_name("MPI_File_sync").map(|call| call.start), Some(359));
        assert_eq!(by_name("MPI_Send_c"), None);
    }
}
