# The rank in Python, which calls the library without a module for MPI; see ingo/main.go. The argument is the library.
import ctypes
import sys

mpi = ctypes.CDLL(sys.argv[1])
handle = ctypes.c_void_p
WORLD, INT, SUM = handle(0x101), handle(0x209), handle(0x21)
rank, n = ctypes.c_int(), ctypes.c_int()
assert mpi.MPI_Init(None, None) == 0
assert mpi.MPI_Comm_rank(WORLD, ctypes.byref(rank)) == 0
assert mpi.MPI_Comm_size(WORLD, ctypes.byref(n)) == 0
one, ten = ctypes.c_int(rank.value + 1), ctypes.c_int(10 * rank.value)
total, source = ctypes.c_int(), ctypes.c_int(-1)
assert mpi.MPI_Allreduce(ctypes.byref(one), ctypes.byref(total), 1, INT, SUM, WORLD) == 0
following, before = (rank.value + 1) % n.value, (rank.value + n.value - 1) % n.value
assert mpi.MPI_Sendrecv(ctypes.byref(ten), 1, INT, following, 4, ctypes.byref(source), 1, INT, before, 4, WORLD, None) == 0
print("Python: sum %d, from the rank before %d" % (total.value, source.value), flush=True)
assert mpi.MPI_Finalize() == 0
