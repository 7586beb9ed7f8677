! MPI 4.0 chapters 7, 8 and 11: groups, communicators, topologies, intercommunicators, sessions.
#include "binding.h"
module communicators
  use shared
  implicit none
contains

  subroutine test_communicators()
    call groups()
    call made()
    call named()
    call between()
    call cartesian()
    call graphs()
    call distributed()
#ifdef MPI4
    call sessions()
#endif
  end subroutine test_communicators

  subroutine groups()
    HANDLE(MPI_Group) :: all_of, first, rest, other
    integer :: n, result, ranks(1)
    CALL(MPI_Comm_group)(MPI_COMM_WORLD, all_of ERR)
    CALL(MPI_Group_size)(all_of, n ERR)
    CALL(MPI_Group_rank)(all_of, result ERR)
    CHECK(n == size .and. result == rank)
    CALL(MPI_Group_incl)(all_of, 1, [0], first ERR)
    CALL(MPI_Group_excl)(all_of, 1, [0], rest ERR)
    CALL(MPI_Group_union)(first, rest, other ERR)
    CALL(MPI_Group_compare)(all_of, other, result ERR)
    CHECK(result == MPI_IDENT)
    CALL(MPI_Group_free)(other ERR)
    CALL(MPI_Group_intersection)(all_of, first, other ERR)
    CALL(MPI_Group_translate_ranks)(other, 1, [0], all_of, ranks ERR)
    CHECK(ranks(1) == 0)
    CALL(MPI_Group_free)(other ERR)
    CALL(MPI_Group_difference)(all_of, first, other ERR)
    CALL(MPI_Group_free)(other ERR)
    CALL(MPI_Group_range_incl)(all_of, 1, reshape([0, size - 1, 1], [3, 1]), other ERR)
    CALL(MPI_Group_free)(other ERR)
    CALL(MPI_Group_range_excl)(all_of, 1, reshape([0, 0, 1], [3, 1]), other ERR)
    CALL(MPI_Group_free)(other ERR)
    CALL(MPI_Group_free)(rest ERR)
    CALL(MPI_Group_free)(first ERR)
    CALL(MPI_Group_free)(all_of ERR)
  end subroutine groups

  subroutine made()
    HANDLE(MPI_Comm) :: comm
    HANDLE(MPI_Group) :: group
    HANDLE(MPI_Request), asynchronous :: request
    integer :: result
    CALL(MPI_Comm_dup)(MPI_COMM_WORLD, comm ERR)
    CALL(MPI_Comm_compare)(MPI_COMM_WORLD, comm, result ERR)
    CHECK(result == MPI_CONGRUENT)
    CALL(MPI_Comm_free)(comm ERR)
    CHECK(comm == MPI_COMM_NULL)
    CALL(MPI_Comm_dup_with_info)(MPI_COMM_WORLD, MPI_INFO_NULL, comm ERR)
    CALL(MPI_Comm_free)(comm ERR)
    CALL(MPI_Comm_idup)(MPI_COMM_WORLD, comm, request ERR)
    CALL(MPI_Wait)(request, MPI_STATUS_IGNORE ERR)
    CALL(MPI_Comm_free)(comm ERR)
#ifdef MPI4
    CALL(MPI_Comm_idup_with_info)(MPI_COMM_WORLD, MPI_INFO_NULL, comm, request ERR)
    CALL(MPI_Wait)(request, MPI_STATUS_IGNORE ERR)
    CALL(MPI_Comm_free)(comm ERR)
#endif
    CALL(MPI_Comm_split)(MPI_COMM_WORLD, mod(rank, 2), -rank, comm ERR)
    CALL(MPI_Comm_disconnect)(comm ERR)
    CALL(MPI_Comm_split_type)(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, comm ERR)
    CALL(MPI_Comm_free)(comm ERR)
    CALL(MPI_Comm_group)(MPI_COMM_WORLD, group ERR)
    CALL(MPI_Comm_create)(MPI_COMM_WORLD, group, comm ERR)
    CALL(MPI_Comm_free)(comm ERR)
    CALL(MPI_Comm_create_group)(MPI_COMM_WORLD, group, 5, comm ERR)
    CALL(MPI_Comm_free)(comm ERR)
    CALL(MPI_Group_free)(group ERR)
  end subroutine made

  subroutine named()
    HANDLE(MPI_Info) :: info
    character(MPI_MAX_OBJECT_NAME) :: name
    integer :: length
    CALL(MPI_Comm_set_name)(MPI_COMM_SELF, 'just me  ' ERR)
    name = repeat('x', len(name))
    CALL(MPI_Comm_get_name)(MPI_COMM_SELF, name, length ERR)
    CHECK(name == 'just me' .and. length == 7)
    CALL(MPI_Info_create)(info ERR)
    CALL(MPI_Comm_set_info)(MPI_COMM_SELF, info ERR)
    CALL(MPI_Info_free)(info ERR)
    CALL(MPI_Comm_get_info)(MPI_COMM_SELF, info ERR)
    CALL(MPI_Info_free)(info ERR)
  end subroutine named

  subroutine between()
    HANDLE(MPI_Comm) :: half, both, merged
    HANDLE(MPI_Group) :: group
    integer :: n
    logical :: flag
    if (size < 2) return
    CALL(MPI_Comm_split)(MPI_COMM_WORLD, mod(rank, 2), rank, half ERR)
    CALL(MPI_Intercomm_create)(half, 0, MPI_COMM_WORLD, 1 - mod(rank, 2), 9, both ERR)
    CALL(MPI_Comm_test_inter)(both, flag ERR)
    CHECK(flag)
    CALL(MPI_Comm_remote_size)(both, n ERR)
    CHECK(n == (size + mod(rank, 2)) / 2)
    CALL(MPI_Comm_remote_group)(both, group ERR)
    CALL(MPI_Group_free)(group ERR)
    CALL(MPI_Intercomm_merge)(both, rank == 0, merged ERR)
    CALL(MPI_Comm_free)(merged ERR)
    CALL(MPI_Comm_free)(both ERR)
    CALL(MPI_Comm_free)(half ERR)
  end subroutine between

  subroutine cartesian()
    HANDLE(MPI_Comm) :: grid, line
    integer :: dims(2), coords(2), n, from, to, kind
    logical :: periods(2)
    dims = 0
    CALL(MPI_Dims_create)(size, 2, dims ERR)
    CALL(MPI_Cart_map)(MPI_COMM_WORLD, 2, dims, [.true., .false.], n ERR)
    CALL(MPI_Cart_create)(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., grid ERR)
    CALL(MPI_Topo_test)(grid, kind ERR)
    CALL(MPI_Cartdim_get)(grid, n ERR)
    CHECK(kind == MPI_CART .and. n == 2)
    CALL(MPI_Cart_get)(grid, 2, dims, periods, coords ERR)
    CHECK(periods(1) .and. .not. periods(2))
    CALL(MPI_Cart_rank)(grid, coords, n ERR)
    CHECK(n == rank)
    CALL(MPI_Cart_coords)(grid, rank, 2, coords ERR)
    CALL(MPI_Cart_shift)(grid, 1, 1, from, to ERR)
    CHECK(coords(2) > 0 .or. from == MPI_PROC_NULL)
    CALL(MPI_Cart_sub)(grid, [.true., .false.], line ERR)
    CALL(MPI_Comm_size)(line, n ERR)
    CHECK(n == dims(1))
    CALL(MPI_Comm_free)(line ERR)
    CALL(MPI_Comm_free)(grid ERR)
  end subroutine cartesian

  subroutine graphs()
    HANDLE(MPI_Comm) :: graph
    integer :: ends(64), targets(64), nodes, edges, n, list(64), i
    ends(:size) = [(i, i = 1, size)]
    targets(:size) = [(mod(i, size), i = 1, size)]
    CALL(MPI_Graph_map)(MPI_COMM_WORLD, size, ends, targets, n ERR)
    CALL(MPI_Graph_create)(MPI_COMM_WORLD, size, ends, targets, .false., graph ERR)
    CALL(MPI_Graphdims_get)(graph, nodes, edges ERR)
    CHECK(nodes == size .and. edges == size)
    CALL(MPI_Graph_get)(graph, nodes, edges, ends, targets ERR)
    CALL(MPI_Graph_neighbors_count)(graph, rank, n ERR)
    CALL(MPI_Graph_neighbors)(graph, rank, n, list ERR)
    CHECK(n == 1 .and. list(1) == next)
    CALL(MPI_Comm_free)(graph ERR)
  end subroutine graphs

  subroutine distributed()
    HANDLE(MPI_Comm) :: graph
    integer :: in, out, from(2), to(2), weights_in(2), weights_out(2)
    logical :: weighted
    from = [prev, next]
    to = [next, prev]
    CALL(MPI_Dist_graph_create_adjacent)(MPI_COMM_WORLD, 2, from, [1, 2], 2, to, [3, 4], MPI_INFO_NULL, .false., graph ERR)
    CALL(MPI_Dist_graph_neighbors_count)(graph, in, out, weighted ERR)
    CHECK(in == 2 .and. out == 2 .and. weighted)
    CALL(MPI_Dist_graph_neighbors)(graph, 2, from, weights_in, 2, to, weights_out ERR)
    CHECK(all(weights_in == [1, 2]) .and. all(weights_out == [3, 4]))
    CALL(MPI_Comm_free)(graph ERR)
    CALL(MPI_Dist_graph_create)(MPI_COMM_WORLD, 1, [rank], [1], [next], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph ERR)
    CALL(MPI_Dist_graph_neighbors_count)(graph, in, out, weighted ERR)
    CHECK(in == 1 .and. out == 1 .and. .not. weighted)
    CALL(MPI_Dist_graph_neighbors)(graph, 1, from, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED ERR)
    CHECK(from(1) == prev .and. to(1) == next)
    CALL(MPI_Comm_free)(graph ERR)
    ! nobody has neighbours
    CALL(MPI_Dist_graph_create_adjacent)(MPI_COMM_WORLD, 0, from, MPI_WEIGHTS_EMPTY, 0, to, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, .false., graph ERR)
    CALL(MPI_Dist_graph_neighbors_count)(graph, in, out, weighted ERR)
    CHECK(in == 0 .and. out == 0 .and. weighted)
    CALL(MPI_Comm_free)(graph ERR)
  end subroutine distributed

#ifdef MPI4
  subroutine sessions()
    ! MPICH 4.0 counts from 1 where it has no mpi_f08
#if BINDING == 3
    integer, parameter :: FIRST = 0
#else
    integer, parameter :: FIRST = 1
#endif
    HANDLE(MPI_Session) :: session
    HANDLE(MPI_Group) :: group, mine, other
    HANDLE(MPI_Comm) :: comm
    HANDLE(MPI_Info) :: info
    HANDLE(MPI_Errhandler) :: handler
    integer :: n, length
    character(64) :: name
    CALL(MPI_Session_init)(MPI_INFO_NULL, MPI_ERRORS_RETURN, session ERR)
    CALL(MPI_Session_get_num_psets)(session, MPI_INFO_NULL, n ERR)
    CHECK(n >= 1)
    length = 64
    CALL(MPI_Session_get_nth_pset)(session, MPI_INFO_NULL, FIRST, length, name ERR)
    CHECK(name(:6) == 'mpi://')
    CALL(MPI_Session_get_pset_info)(session, 'mpi://WORLD', info ERR)
    CALL(MPI_Info_free)(info ERR)
    CALL(MPI_Session_get_info)(session, info ERR)
    CALL(MPI_Info_free)(info ERR)
    CALL(MPI_Session_get_errhandler)(session, handler ERR)
    CALL(MPI_Session_set_errhandler)(session, handler ERR)
    CALL(MPI_Group_from_session_pset)(session, 'mpi://WORLD', group ERR)
    CALL(MPI_Comm_create_from_group)(group, 'a tag', MPI_INFO_NULL, MPI_ERRORS_RETURN, comm ERR)
    CALL(MPI_Comm_size)(comm, n ERR)
    CHECK(n == size)
    CALL(MPI_Comm_free)(comm ERR)
    if (size > 1 .and. rank < 2) then
      CALL(MPI_Group_incl)(group, 1, [rank], mine ERR)
      CALL(MPI_Group_incl)(group, 1, [1 - rank], other ERR)
      CALL(MPI_Intercomm_create_from_groups)(mine, 0, other, 0, 'another tag', MPI_INFO_NULL, MPI_ERRORS_RETURN, comm ERR)
      CALL(MPI_Comm_free)(comm ERR)
      CALL(MPI_Group_free)(mine ERR)
      CALL(MPI_Group_free)(other ERR)
    end if
    CALL(MPI_Group_free)(group ERR)
    CALL(MPI_Session_finalize)(session ERR)
  end subroutine sessions
#endif

end module communicators
