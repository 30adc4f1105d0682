//go:build linux

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/golci/golci/mpi/internal/dtype"
)

// undefined is MPI_UNDEFINED.
const undefined = -32766

// TestTypesAsEngine: the library knows of predefined types what package dtype knows: sizes, bounds, and how many
// elements some bytes are.
func TestTypesAsEngine(t *testing.T) {
	const source = `#include <mpi.h>
#include <stdio.h>
int main(void)
{
	for (intptr_t h = 0; h < 0x400; h++) {
		MPI_Datatype type = (MPI_Datatype)h;
		MPI_Count size, lb, extent, data_lb, data, count, elements;
		MPI_Status status;
		if (MPI_Type_size_c(type, &size) != MPI_SUCCESS)
			continue;
		MPI_Type_get_extent_c(type, &lb, &extent);
		MPI_Type_get_true_extent_c(type, &data_lb, &data);
		printf("%#lx %ld %ld %ld %ld %ld\n", (long)h, (long)size, (long)lb, (long)extent, (long)data_lb, (long)data);
		for (int bytes = 0; bytes < 70; bytes++) {
			MPI_Status_set_elements(&status, MPI_BYTE, bytes);
			MPI_Get_count_c(&status, type, &count);
			MPI_Get_elements_c(&status, type, &elements);
			printf(" %ld/%ld", (long)count, (long)elements);
		}
		puts("");
	}
}
`
	got := strings.Split(run(t, source), "\n")
	want := strings.Split(expected(), "\n")
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("line %d:\n%s\nwant\n%s", i+1, strings.Join(got[i:min(i+2, len(got))], "\n"),
				strings.Join(want[i:min(i+2, len(want))], "\n"))
		}
	}
}

// expected is what the program prints, by package dtype.
func expected() string {
	var b strings.Builder
	for _, basic := range dtype.Basics() {
		t := dtype.Named(basic)
		lb, extent := t.Bounds()
		dataLB, data := t.TrueBounds()
		fmt.Fprintf(&b, "%#x %d %d %d %d %d\n", int(basic), t.Size(), lb, extent, dataLB, data)
		for bytes := range int64(70) {
			count, ok := t.Count(bytes)
			if !ok {
				count = undefined
			}
			elements, whole := t.Elements(bytes)
			if !whole {
				elements = undefined
			}
			fmt.Fprintf(&b, " %d/%d", count, elements)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
