package comm

import (
	"encoding/binary"
	"errors"
	"testing"
	"unsafe"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/local"
)

// reversed delivers the records of each poll last first, as a network without order may.
type reversed struct {
	conduit.Conduit
	recs [][]byte
	from []int
	gone []*conduit.PeerError
	sink conduit.Sink
}

func (c *reversed) Poll(budget int, sink conduit.Sink) int {
	c.recs, c.from, c.gone, c.sink = nil, nil, nil, sink
	n := c.Conduit.Poll(budget, c)
	for i := len(c.recs) - 1; i >= 0; i-- {
		sink.Record(c.from[i], c.recs[i])
	}
	for _, e := range c.gone {
		sink.Gone(e.Peer, e)
	}
	return n
}

func (c *reversed) Record(src int, rec []byte) {
	b := make([]uint64, (len(rec)+7)/8) // records are aligned
	for i := range b {
		var w [8]byte
		copy(w[:], rec[8*i:])
		b[i] = binary.NativeEndian.Uint64(w[:])
	}
	c.recs, c.from = append(c.recs, unsafe.Slice((*byte)(unsafe.Pointer(&b[0])), len(rec))), append(c.from, src)
}

func (c *reversed) Bulk(src int, id uint64, off int64, chunk []byte) {
	c.sink.Bulk(src, id, off, chunk)
}

// Gone implements conduit.Sink.
func (c *reversed) Gone(_ int, err error) { c.gone = append(c.gone, err.(*conduit.PeerError)) }

// TestCancelOvertakesItsEnvelope: a send is cancelled though the receiver is asked to forget the envelope before it
// has come.
func TestCancelOvertakesItsEnvelope(t *testing.T) {
	cs, err := local.New(2, conduit.Config{})
	if err != nil {
		t.Fatal(err)
	}
	cs[1] = &reversed{Conduit: cs[1]}
	j := jobOver(t, cs, Config{})
	a, z := j[0], j[1]
	r, err := a.Isend(1, 1, 5, make([]byte, 16), &Options{Form: Nonblocking, Mode: Synchronous})
	if err != nil {
		t.Fatal(err)
	}
	a.Cancel(r)
	for range 1000 {
		z.Poll()
		a.Poll()
	}
	if !r.Ready() {
		t.Fatal("the send waits for a receive that is never posted")
	}
	if st, err := a.Wait(r); !errors.Is(err, ErrCancelled) || !st.Cancelled {
		t.Errorf("%+v, %v", st, err)
	}
	if _, ok, err := z.Iprobe(1, 0, 5); ok || err != nil {
		t.Errorf("the envelope is still there: %v", err)
	}
}
