! What differs between the bindings, chosen with -DBINDING=1 (mpif.h), 2 (use mpi) or 3 (use mpi_f08).
!
! CALL(f)(...)   counts a call of f and makes it. LARGE(f)(...) the same for procedures with a large-count form: with
!                -DLARGE_COUNT all integers of that kind are wide, and what is called and counted is f_c.
! ERR            the last argument; in mpi_f08 it may be left out (NO_ERR)
#if BINDING == 3
#define HANDLE(kind) type(kind)
#define STATUS(name) type(MPI_Status) :: name
#define STATUSES(name, n) type(MPI_Status) :: name(n)
#define FIELD(status, field) status%field
#define NO_ERR
#else
#define HANDLE(kind) integer
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES(name, n) integer :: name(MPI_STATUS_SIZE, n)
#define FIELD(status, field) status(field)
#define NO_ERR , ierr
#endif
#define ERR , ierr
#define CALL(f) call tally('f'); call f
#ifdef LARGE_COUNT
#define LARGE(f) call tally('f' // '_c'); call f
#else
#define LARGE(f) call tally('f'); call f
#endif
! A count, a displacement of the v and w collectives.
#define N(x) int(x, CK)
#define D(x) int(x, DK)
#define CHECK(condition) call check(condition, __FILE__, __LINE__)
