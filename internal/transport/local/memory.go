package local

import "github.com/golci/golci/conduit"

// memory is the memory of one segment.
type memory struct {
	mem    []byte
	mapped bool // by the system, so that the collector does not know of it
}

func heapMemory(n int) memory { return memory{mem: conduit.HeapMemory(n)} }
