package shm

import (
	"sync/atomic"
	"testing"
	"unsafe"
)

// TestSizeByRank: what an end keeps for each rank of the job, also of other nodes.
func TestSizeByRank(t *testing.T) {
	sum := unsafe.Sizeof(allocated{}) + unsafe.Sizeof(false) + unsafe.Sizeof(atomic.Bool{}) +
		unsafe.Sizeof(atomic.Pointer[remote]{})
	if sum > 53 {
		t.Errorf("%d bytes for each rank, want 53", sum)
	}
}
