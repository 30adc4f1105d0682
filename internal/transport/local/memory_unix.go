//go:build unix && !race

package local

import "golang.org/x/sys/unix"

// newMemory maps n zeroed bytes, of which the system gives only the pages that are used. On the heap a job would wait
// until all are cleared: a MiB for each pair of ranks. Where the system maps nothing they are on the heap.
func newMemory(n int) memory {
	mem, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return heapMemory(n)
	}
	return memory{mem: mem, mapped: true}
}

// discard gives the pages back. A late call finds zeros.
func (m memory) discard() {
	if m.mapped {
		_ = unix.Madvise(m.mem, unix.MADV_DONTNEED) // cannot fail for a mapping that is there
	}
}

// unmap gives the addresses back. Nobody can reach them any more.
func (m memory) unmap() {
	if m.mapped {
		_ = unix.Munmap(m.mem) // cannot fail for a mapping that is there, and nobody could do anything about it
	}
}
