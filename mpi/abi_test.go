package mpi

import "testing"

// TestConstants: the special values are those of mpi.h of the standard ABI.
func TestConstants(t *testing.T) {
	for name, v := range map[string][2]int{
		"MPI_ANY_SOURCE": {AnySource, -1},
		"MPI_ANY_TAG":    {AnyTag, -2},
		"MPI_PROC_NULL":  {ProcNull, -3},
		"MPI_ROOT":       {Root, -4},
		"MPI_UNDEFINED":  {Undefined, -32766},
	} {
		if v[0] != v[1] {
			t.Errorf("%s is %d, want %d", name, v[0], v[1])
		}
	}
}
