"""Looks MPI up in a library handle of its own, as Julia and programs with plugins do: private_mpi.py LIBRARY

It asks for functions that are there and for one that is not; what it calls is known to the test."""
import ctypes
import sys

MPI_COMM_WORLD_OF_MPICH = 0x44000000

whole_program = ctypes.CDLL(None)
assert not hasattr(whole_program, "MPI_Init"), "no MPI is loaded that this program could see"
mpi = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_LOCAL)
assert not hasattr(mpi, "MPI_Send_to_the_moon")
assert not hasattr(whole_program, "MPI_Init")

assert mpi.MPI_Init(None, None) == 0
if hasattr(mpi, "ompi_mpi_comm_world"):
    world = ctypes.byref(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world"))
else:
    world = MPI_COMM_WORLD_OF_MPICH
rank, size = ctypes.c_int(-1), ctypes.c_int(-1)
assert mpi.MPI_Comm_rank(world, ctypes.byref(rank)) == 0
assert mpi.PMPI_Comm_size(world, ctypes.byref(size)) == 0
for _ in range(3):
    assert mpi.MPI_Barrier(world) == 0
assert mpi.MPI_Finalize() == 0
assert 0 <= rank.value < size.value == 2
if rank.value == 0:
    print("ok")
