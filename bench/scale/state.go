package scale

import "runtime"

// heap is how many bytes are in use.
func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first one found is swept by now
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// copies of what is weighed: enough for the allocator's rounding, and few enough for those that grow with the job.
const copies = 16

// weigh is how many bytes one of what make makes takes.
func weigh[T any](make func() T) int {
	var kept [copies]T
	before := heap()
	for i := range kept {
		kept[i] = make()
	}
	each := max(0, heap()-before) / copies
	runtime.KeepAlive(&kept)
	return each
}
