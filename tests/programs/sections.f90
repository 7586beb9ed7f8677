! Sections of arrays that are no contiguous memory. MPICH's binding makes a datatype of its own for each, whose handle another one had before. Rank 1 sends
! to rank 0, which prints what it has received:
!
!     SOURCE TAG BYTES
!
! tests/tests/mpi/receive_order.rs compares.
program sections
    use mpi_f08
    implicit none
    integer, parameter :: n = 100
    real(8) :: matrix(n, n), column(n)
    type(MPI_Datatype) :: rows
    integer :: rank, tag

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    matrix = rank
    call MPI_Type_contiguous(1000, MPI_DOUBLE_PRECISION, rows)
    call MPI_Type_commit(rows)
    call MPI_Type_free(rows)
    do tag = 1, 3
        call exchange(n / tag)
    end do
    ! A datatype of the program's in between.
    call MPI_Type_contiguous(2, MPI_DOUBLE_PRECISION, rows)
    call MPI_Type_commit(rows)
    tag = 4
    if (rank == 1) call MPI_Send(column, 5, rows, 0, tag, MPI_COMM_WORLD)
    if (rank == 0) call MPI_Recv(column, 5, rows, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    if (rank == 0) print '(i0, 1x, i0, 1x, i0)', 1, tag, 80
    tag = 5
    call exchange(n)
    call MPI_Type_free(rows)
    call exchange(n - 1)
    call MPI_Finalize()

contains

    subroutine exchange(length)
        integer, intent(in) :: length
        if (rank == 1) call MPI_Send(matrix(2, 1:length), length, MPI_DOUBLE_PRECISION, 0, tag, MPI_COMM_WORLD)
        if (rank == 0) then
            call MPI_Recv(column, length, MPI_DOUBLE_PRECISION, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
            print '(i0, 1x, i0, 1x, i0)', 1, tag, 8 * length
        end if
    end subroutine
end program
