//go:build !unix || race

package local

// newMemory returns n zeroed bytes of the heap, where the race detector sees what ranks do with them.
func newMemory(n int) memory { return heapMemory(n) }

func (m memory) discard() {}
func (m memory) unmap()   {}
