package mixed

import (
	"testing"
	"unsafe"
)

// TestSizeOfARoute: there is one for each rank of the job.
func TestSizeOfARoute(t *testing.T) {
	if n := unsafe.Sizeof(route{}); n > 40 {
		t.Errorf("a road takes %d bytes, want 40", n)
	}
}
