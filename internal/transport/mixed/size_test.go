package mixed

import (
	"testing"
	"unsafe"
)

// TestSizeOfARoad: there is one for each rank of the job.
func TestSizeOfARoad(t *testing.T) {
	if n := unsafe.Sizeof(road{}); n > 40 {
		t.Errorf("a road takes %d bytes, want 40", n)
	}
}
