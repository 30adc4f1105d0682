package gasnettest

import (
	"testing"

	"golang.org/x/sys/unix"
)

// unmapped is an empty slice of memory that has been given back to the system.
func unmapped(t testing.TB) [][]byte {
	mem, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	empty := mem[:0:0]
	if err := unix.Munmap(mem); err != nil {
		t.Fatal(err)
	}
	return [][]byte{empty}
}
