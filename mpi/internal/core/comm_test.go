package core

import (
	"testing"
	"unsafe"
)

// TestHotIsFirst: the package above finds what its direct path needs at the beginning of a communicator.
func TestHotIsFirst(t *testing.T) {
	if at := unsafe.Offsetof(Comm{}.Hot); at != 0 {
		t.Errorf("at byte %d", at)
	}
}
