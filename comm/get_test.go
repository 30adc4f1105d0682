package comm

import (
	"bytes"
	"errors"
	"testing"

	"github.com/golci/golci/conduit"
)

// TestGet: a rank copies from what another one has exposed to it, and nothing beyond that.
func TestGet(t *testing.T) {
	j := newJob(t, 2, conduit.Config{}, Config{})
	theirs := make([]byte, 100_000)
	for i := range theirs {
		theirs[i] = byte(i * 7)
	}
	k, ok := j[1].e.Expose(0, theirs)
	if !ok {
		t.Fatal("the memory cannot be exposed")
	}
	for _, x := range []struct{ off, n int }{{0, 0}, {0, 1}, {1, 99_999}, {70_001, 8}, {0, 100_000}} {
		dst := make([]byte, x.n)
		if err := j[0].Get(1, dst, k, int64(x.off)); err != nil || !bytes.Equal(dst, theirs[x.off:][:x.n]) {
			t.Errorf("%d bytes at %d: %v", x.n, x.off, err)
		}
	}
	for _, x := range []struct {
		off, n int
		k      conduit.Key
	}{{1, 100_000, k}, {-1, 1, k}, {100_001, 0, k}, {0, 1, conduit.Key{Size: 1}}} {
		if err := j[0].Get(1, make([]byte, x.n), x.k, int64(x.off)); !errors.Is(err, conduit.ErrKey) {
			t.Errorf("%d bytes at %d: %v, want ErrKey", x.n, x.off, err)
		}
	}
	j[1].e.Release(0, k)
	if err := j[0].Get(1, make([]byte, 8), k, 0); err == nil {
		t.Error("memory that is not exposed any more was copied")
	}
}
