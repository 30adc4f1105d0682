package mpi

import (
	"testing"
	"unsafe"

	"github.com/golci/golci/mpi/internal/core"
)

// TestStatusLayout: a status of this package and one of the layer below lie alike in memory, since slices of one are
// handed down as slices of the other.
func TestStatusLayout(t *testing.T) {
	var s Status
	var c core.Status
	if unsafe.Sizeof(s) != unsafe.Sizeof(c) || unsafe.Offsetof(s.bytes) != unsafe.Offsetof(c.Bytes) ||
		unsafe.Offsetof(s.cancelled) != unsafe.Offsetof(c.Cancelled) || unsafe.Offsetof(s.Tag) != unsafe.Offsetof(c.Tag) {
		t.Errorf("%+v and %+v differ", s, c)
	}
}
