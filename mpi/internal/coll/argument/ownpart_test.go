package argument

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/golci/golci/mpi/internal/sentinel"
)

// TestFitOneBuffer: a reduction whose two buffers are one is refused wherever both are arguments (2.3). That is so on
// rank 0 of an Exscan, which gets no result. A rank that is not the root of a Reduce has no receive buffer.
func TestFitOneBuffer(t *testing.T) {
	var b [2]int64
	mem, bytes := unsafe.Pointer(&b), int(unsafe.Sizeof(b))
	for _, c := range []struct {
		kind  Kind
		store bool
		want  error
	}{
		{KindExscan, true, sentinel.ErrBuffer},
		{KindExscan, false, sentinel.ErrBuffer},
		{KindScan, true, sentinel.ErrBuffer},
		{KindReduce, true, sentinel.ErrBuffer},
		{KindReduce, false, nil},
	} {
		g := Datatypes{In: Area{mem: mem, Bytes: bytes, load: true}, Out: Area{mem: mem, Bytes: bytes, store: c.store}}
		if err := g.fit(&Description{Kind: c.kind}, 0, 4); !errors.Is(err, c.want) {
			t.Errorf("kind %d, result used %v: %v, want %v", c.kind, c.store, err, c.want)
		}
	}
}
