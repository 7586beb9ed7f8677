/* libdumpi's API, as libtrace has it: a program written for libdumpi compiles with this header (in the place of
 * <dumpi/libdumpi/libdumpi.h>) and links with -ltrace. All of it may be called before MPI_Init.
 */
#ifndef DUMPI_LIBDUMPI_LIBDUMPI_H_INCLUDED
#define DUMPI_LIBDUMPI_LIBDUMPI_H_INCLUDED

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which calls of a function, or which statuses, are recorded: none, those that succeed, all. */
typedef enum dumpi_setting {
    DUMPI_DISABLE = 0,
    DUMPI_SUCCESS = 1,
    DUMPI_ALWAYS = 2,
    DUMPI_ENABLE = 3
} dumpi_setting;

/* Times of calls. */
typedef enum dumpi_timestamp {
    DUMPI_TIME_NONE = 0,
    DUMPI_TIME_CPU = 4,
    DUMPI_TIME_WALL = 8,
    DUMPI_TIME_FULL = 12
} dumpi_timestamp;

/* Functions by their numbers in DUMPI files; DUMPI_ALL_FUNCTIONS is the master switch. */
typedef enum dumpi_function {
    DUMPI_Send = 0, DUMPI_Recv = 1, DUMPI_Get_count = 2, DUMPI_Bsend = 3, DUMPI_Ssend = 4, DUMPI_Rsend = 5,
    DUMPI_Buffer_attach = 6, DUMPI_Buffer_detach = 7, DUMPI_Isend = 8, DUMPI_Ibsend = 9, DUMPI_Issend = 10,
    DUMPI_Irsend = 11, DUMPI_Irecv = 12, DUMPI_Wait = 13, DUMPI_Test = 14, DUMPI_Request_free = 15,
    DUMPI_Waitany = 16, DUMPI_Testany = 17, DUMPI_Waitall = 18, DUMPI_Testall = 19, DUMPI_Waitsome = 20,
    DUMPI_Testsome = 21, DUMPI_Iprobe = 22, DUMPI_Probe = 23, DUMPI_Cancel = 24, DUMPI_Test_cancelled = 25,
    DUMPI_Send_init = 26, DUMPI_Bsend_init = 27, DUMPI_Ssend_init = 28, DUMPI_Rsend_init = 29, DUMPI_Recv_init = 30,
    DUMPI_Start = 31, DUMPI_Startall = 32, DUMPI_Sendrecv = 33, DUMPI_Sendrecv_replace = 34,
    DUMPI_Type_contiguous = 35, DUMPI_Type_vector = 36, DUMPI_Type_hvector = 37, DUMPI_Type_indexed = 38,
    DUMPI_Type_hindexed = 39, DUMPI_Type_struct = 40, DUMPI_Address = 41, DUMPI_Type_extent = 42,
    DUMPI_Type_size = 43, DUMPI_Type_lb = 44, DUMPI_Type_ub = 45, DUMPI_Type_commit = 46, DUMPI_Type_free = 47,
    DUMPI_Get_elements = 48, DUMPI_Pack = 49, DUMPI_Unpack = 50, DUMPI_Pack_size = 51, DUMPI_Barrier = 52,
    DUMPI_Bcast = 53, DUMPI_Gather = 54, DUMPI_Gatherv = 55, DUMPI_Scatter = 56, DUMPI_Scatterv = 57,
    DUMPI_Allgather = 58, DUMPI_Allgatherv = 59, DUMPI_Alltoall = 60, DUMPI_Alltoallv = 61, DUMPI_Reduce = 62,
    DUMPI_Op_create = 63, DUMPI_Op_free = 64, DUMPI_Allreduce = 65, DUMPI_Reduce_scatter = 66, DUMPI_Scan = 67,
    DUMPI_Group_size = 68, DUMPI_Group_rank = 69, DUMPI_Group_translate_ranks = 70, DUMPI_Group_compare = 71,
    DUMPI_Comm_group = 72, DUMPI_Group_union = 73, DUMPI_Group_intersection = 74, DUMPI_Group_difference = 75,
    DUMPI_Group_incl = 76, DUMPI_Group_excl = 77, DUMPI_Group_range_incl = 78, DUMPI_Group_range_excl = 79,
    DUMPI_Group_free = 80, DUMPI_Comm_size = 81, DUMPI_Comm_rank = 82, DUMPI_Comm_compare = 83, DUMPI_Comm_dup = 84,
    DUMPI_Comm_create = 85, DUMPI_Comm_split = 86, DUMPI_Comm_free = 87, DUMPI_Comm_test_inter = 88,
    DUMPI_Comm_remote_size = 89, DUMPI_Comm_remote_group = 90, DUMPI_Intercomm_create = 91,
    DUMPI_Intercomm_merge = 92, DUMPI_Keyval_create = 93, DUMPI_Keyval_free = 94, DUMPI_Attr_put = 95,
    DUMPI_Attr_get = 96, DUMPI_Attr_delete = 97, DUMPI_Topo_test = 98, DUMPI_Cart_create = 99,
    DUMPI_Dims_create = 100, DUMPI_Graph_create = 101, DUMPI_Graphdims_get = 102, DUMPI_Graph_get = 103,
    DUMPI_Cartdim_get = 104, DUMPI_Cart_get = 105, DUMPI_Cart_rank = 106, DUMPI_Cart_coords = 107,
    DUMPI_Graph_neighbors_count = 108, DUMPI_Graph_neighbors = 109, DUMPI_Cart_shift = 110, DUMPI_Cart_sub = 111,
    DUMPI_Cart_map = 112, DUMPI_Graph_map = 113, DUMPI_Get_processor_name = 114, DUMPI_Get_version = 115,
    DUMPI_Errhandler_create = 116, DUMPI_Errhandler_set = 117, DUMPI_Errhandler_get = 118,
    DUMPI_Errhandler_free = 119, DUMPI_Error_string = 120, DUMPI_Error_class = 121, DUMPI_Wtime = 122,
    DUMPI_Wtick = 123, DUMPI_Init = 124, DUMPI_Finalize = 125, DUMPI_Initialized = 126, DUMPI_Abort = 127,
    DUMPI_Pcontrol = 128, DUMPI_Close_port = 129, DUMPI_Comm_accept = 130, DUMPI_Comm_connect = 131,
    DUMPI_Comm_disconnect = 132, DUMPI_Comm_get_parent = 133, DUMPI_Comm_join = 134, DUMPI_Comm_spawn = 135,
    DUMPI_Comm_spawn_multiple = 136, DUMPI_Lookup_name = 137, DUMPI_Open_port = 138, DUMPI_Publish_name = 139,
    DUMPI_Unpublish_name = 140, DUMPI_Accumulate = 141, DUMPI_Get = 142, DUMPI_Put = 143, DUMPI_Win_complete = 144,
    DUMPI_Win_create = 145, DUMPI_Win_fence = 146, DUMPI_Win_free = 147, DUMPI_Win_get_group = 148,
    DUMPI_Win_lock = 149, DUMPI_Win_post = 150, DUMPI_Win_start = 151, DUMPI_Win_test = 152, DUMPI_Win_unlock = 153,
    DUMPI_Win_wait = 154, DUMPI_Alltoallw = 155, DUMPI_Exscan = 156, DUMPI_Add_error_class = 157,
    DUMPI_Add_error_code = 158, DUMPI_Add_error_string = 159, DUMPI_Comm_call_errhandler = 160,
    DUMPI_Comm_create_keyval = 161, DUMPI_Comm_delete_attr = 162, DUMPI_Comm_free_keyval = 163,
    DUMPI_Comm_get_attr = 164, DUMPI_Comm_get_name = 165, DUMPI_Comm_set_attr = 166, DUMPI_Comm_set_name = 167,
    DUMPI_File_call_errhandler = 168, DUMPI_Grequest_complete = 169, DUMPI_Grequest_start = 170,
    DUMPI_Init_thread = 171, DUMPI_Is_thread_main = 172, DUMPI_Query_thread = 173, DUMPI_Status_set_cancelled = 174,
    DUMPI_Status_set_elements = 175, DUMPI_Type_create_keyval = 176, DUMPI_Type_delete_attr = 177,
    DUMPI_Type_dup = 178, DUMPI_Type_free_keyval = 179, DUMPI_Type_get_attr = 180, DUMPI_Type_get_contents = 181,
    DUMPI_Type_get_envelope = 182, DUMPI_Type_get_name = 183, DUMPI_Type_set_attr = 184, DUMPI_Type_set_name = 185,
    DUMPI_Type_match_size = 186, DUMPI_Win_call_errhandler = 187, DUMPI_Win_create_keyval = 188,
    DUMPI_Win_delete_attr = 189, DUMPI_Win_free_keyval = 190, DUMPI_Win_get_attr = 191, DUMPI_Win_get_name = 192,
    DUMPI_Win_set_attr = 193, DUMPI_Win_set_name = 194, DUMPI_Alloc_mem = 195, DUMPI_Comm_create_errhandler = 196,
    DUMPI_Comm_get_errhandler = 197, DUMPI_Comm_set_errhandler = 198, DUMPI_File_create_errhandler = 199,
    DUMPI_File_get_errhandler = 200, DUMPI_File_set_errhandler = 201, DUMPI_Finalized = 202, DUMPI_Free_mem = 203,
    DUMPI_Get_address = 204, DUMPI_Info_create = 205, DUMPI_Info_delete = 206, DUMPI_Info_dup = 207,
    DUMPI_Info_free = 208, DUMPI_Info_get = 209, DUMPI_Info_get_nkeys = 210, DUMPI_Info_get_nthkey = 211,
    DUMPI_Info_get_valuelen = 212, DUMPI_Info_set = 213, DUMPI_Pack_external = 214, DUMPI_Pack_external_size = 215,
    DUMPI_Request_get_status = 216, DUMPI_Type_create_darray = 217, DUMPI_Type_create_hindexed = 218,
    DUMPI_Type_create_hvector = 219, DUMPI_Type_create_indexed_block = 220, DUMPI_Type_create_resized = 221,
    DUMPI_Type_create_struct = 222, DUMPI_Type_create_subarray = 223, DUMPI_Type_get_extent = 224,
    DUMPI_Type_get_true_extent = 225, DUMPI_Unpack_external = 226, DUMPI_Win_create_errhandler = 227,
    DUMPI_Win_get_errhandler = 228, DUMPI_Win_set_errhandler = 229, DUMPI_File_open = 230, DUMPI_File_close = 231,
    DUMPI_File_delete = 232, DUMPI_File_set_size = 233, DUMPI_File_preallocate = 234, DUMPI_File_get_size = 235,
    DUMPI_File_get_group = 236, DUMPI_File_get_amode = 237, DUMPI_File_set_info = 238, DUMPI_File_get_info = 239,
    DUMPI_File_set_view = 240, DUMPI_File_get_view = 241, DUMPI_File_read_at = 242, DUMPI_File_read_at_all = 243,
    DUMPI_File_write_at = 244, DUMPI_File_write_at_all = 245, DUMPI_File_iread_at = 246, DUMPI_File_iwrite_at = 247,
    DUMPI_File_read = 248, DUMPI_File_read_all = 249, DUMPI_File_write = 250, DUMPI_File_write_all = 251,
    DUMPI_File_iread = 252, DUMPI_File_iwrite = 253, DUMPI_File_seek = 254, DUMPI_File_get_position = 255,
    DUMPI_File_get_byte_offset = 256, DUMPI_File_read_shared = 257, DUMPI_File_write_shared = 258,
    DUMPI_File_iread_shared = 259, DUMPI_File_iwrite_shared = 260, DUMPI_File_read_ordered = 261,
    DUMPI_File_write_ordered = 262, DUMPI_File_seek_shared = 263, DUMPI_File_get_position_shared = 264,
    DUMPI_File_read_at_all_begin = 265, DUMPI_File_read_at_all_end = 266, DUMPI_File_write_at_all_begin = 267,
    DUMPI_File_write_at_all_end = 268, DUMPI_File_read_all_begin = 269, DUMPI_File_read_all_end = 270,
    DUMPI_File_write_all_begin = 271, DUMPI_File_write_all_end = 272, DUMPI_File_read_ordered_begin = 273,
    DUMPI_File_read_ordered_end = 274, DUMPI_File_write_ordered_begin = 275, DUMPI_File_write_ordered_end = 276,
    DUMPI_File_get_type_extent = 277, DUMPI_Register_datarep = 278, DUMPI_File_set_atomicity = 279,
    DUMPI_File_get_atomicity = 280, DUMPI_File_sync = 281, DUMPIO_Test = 282, DUMPIO_Wait = 283, DUMPIO_Testall = 284,
    DUMPIO_Waitall = 285, DUMPIO_Testany = 286, DUMPIO_Waitany = 287, DUMPIO_Waitsome = 288, DUMPIO_Testsome = 289,
    DUMPI_ALL_FUNCTIONS = 290
} dumpi_function;

/* The master switch, as MPI_Pcontrol(0) and MPI_Pcontrol(1). */
void libdumpi_disable_profiling(void);
void libdumpi_enable_profiling(void);

/* The setting of one function from now on. */
void libdumpi_set_profiling(dumpi_function function, dumpi_setting setting);

/* What the names of DUMPI files begin with; before MPI_Init has returned. NULL is ignored. */
void libdumpi_set_output(const char *root);

/* Which statuses the DUMPI files have. */
void libdumpi_set_status_output(dumpi_setting setting);

/* Calls of each function so far, 291 numbers that are brought up to date by each call of this. Calls that were lost for want of room, or
   given up for newer ones (at-disk-limit newest), are not among them. */
const uint32_t *libdumpi_call_counts(void);

#ifdef __cplusplus
}
#endif

#endif
