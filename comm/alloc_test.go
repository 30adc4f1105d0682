package comm

import (
	"errors"
	"testing"

	"github.com/golci/golci/conduit"
)

// TestTooMuchMemory: a peer tells a size that no process can have. The size does not reach alloc. The receive ends with
// ErrMemory, posted before the envelope or after it. The next message is received.
func TestTooMuchMemory(t *testing.T) {
	for _, size := range []int64{1<<46 + 1, 1 << 60, 1<<63 - 1} {
		for _, posted := range []bool{true, false} {
			tooMuchMemory(t, size, posted)
		}
	}
}

func tooMuchMemory(t *testing.T, size int64, posted bool) {
	j := newJob(t, 2, conduit.Config{}, Config{})
	a, z := j[0], j[1]
	got := make([]byte, 0)
	alloc := func(n int) []byte {
		if int64(n) == size {
			t.Errorf("size %d, posted %v: it was to be allocated", size, posted)
			return nil
		}
		got = make([]byte, n)
		return got
	}
	post := func() Req {
		r, err := z.Irecv(1, 0, 5, nil, &Options{Alloc: alloc})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	var r Req
	if posted {
		r = post()
	}
	a.e.PostUrgent(1, handlerRTS, makeKey(1, 0, 5), uint64(size), 1<<40, 0, 0) // a number that rank 0 does not know
	z.Poll()
	if !posted {
		r = post()
	}
	var op *OpError
	if _, err := z.Wait(r); !errors.Is(err, ErrMemory) || !errors.As(err, &op) || op.Peer != 0 || op.Tag != 5 ||
		op.Rank != 1 {
		t.Errorf("size %d, posted %v: %v", size, posted, err)
	}
	if err := a.Send(1, 1, 5, []byte("next"), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := z.Recv(1, 0, 5, nil, &Options{Alloc: alloc}); err != nil || string(got) != "next" {
		t.Errorf("size %d, posted %v: then %q, %v", size, posted, got, err)
	}
}
