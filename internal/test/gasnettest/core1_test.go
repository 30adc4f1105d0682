package gasnettest

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/golci/golci/am"
)

const (
	hRelay = 20 + iota
	hVerdict
)

// parcel is what a relay passes on.
type parcel struct {
	from, hops uint64
	data       []byte
}

// relay is a rank's state in testcore1.
type relay struct {
	mu      sync.Mutex
	inbox   []parcel // received, to be passed on; guarded by mu
	verdict int      // replies; guarded by mu
}

func newRelay(r *rank) *relay {
	x := new(relay)
	r.handle(hRelay, 64, func(t *am.Token, a []uint64, data []byte) {
		check := sum(a[:3], data)
		if check != a[3] {
			r.bad("parcel of rank %d damaged on hop %d", a[0], a[1])
		}
		x.mu.Lock()
		x.inbox = append(x.inbox, parcel{a[0], a[1], bytes.Clone(data)})
		x.mu.Unlock()
		r.ok(t.ReplyMedium(hVerdict, data[:min(len(data), 64)], check, uint64(len(data))))
	})
	r.handle(hVerdict, am.NoReply, func(_ *am.Token, a []uint64, data []byte) {
		if len(data) != min(64, int(a[1])) {
			r.bad("verdict of %d bytes on %d", len(data), a[1])
		}
		x.mu.Lock()
		x.verdict++
		x.mu.Unlock()
	})
	return x
}

// take takes a parcel out of the inbox, if there is one.
func (x *relay) take() (p parcel, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.inbox) == 0 {
		return p, false
	}
	p = x.inbox[0]
	x.inbox = x.inbox[1:]
	return p, true
}

func (x *relay) send(r *rank, p parcel) error {
	a := []uint64{p.from, p.hops, uint64(len(p.data))}
	return r.e.RequestMedium(r.next(), hRelay, p.data, append(a, sum(a, p.data))...)
}

// TestCore1 is testcore1: parcels of random size go round the ring, checked at every hop and at the end against what
// was sent; each hop is acknowledged.
func TestCore1(t *testing.T) {
	overAll(t, func(t *testing.T, net network) { spmd(t, net, 3, options{}, newRelay, relayAll) })
}

func relayAll(r *rank, x *relay) error {
	const parcels, rounds = 30, 3
	sent := make(map[uint64][]byte) // by length, which is unique
	for len(sent) < parcels {
		n := r.rng.IntN(r.e.MaxMedium() + 1)
		if sent[uint64(n)] != nil {
			continue
		}
		data := fill(make([]byte, n), r.rng.Uint64())
		sent[uint64(n)] = data
		if err := x.send(r, parcel{uint64(r.id), 1, data}); err != nil {
			return err
		}
	}
	// Each rank passes on every parcel of every rank in every round, and keeps its own in the last.
	passes := r.n * parcels * rounds
	for range passes {
		var p parcel
		if err := r.until(func() (ok bool) { p, ok = x.take(); return ok }); err != nil {
			return err
		}
		if p.hops == uint64(r.n*rounds) {
			if want := sent[uint64(len(p.data))]; p.from != uint64(r.id) || want == nil || !bytes.Equal(p.data, want) {
				return fmt.Errorf("a parcel of %d bytes of rank %d came back damaged", len(p.data), p.from)
			}
			delete(sent, uint64(len(p.data)))
			continue
		}
		p.hops++
		if err := x.send(r, p); err != nil {
			return err
		}
	}
	if len(sent) != 0 {
		return fmt.Errorf("%d parcels did not come back", len(sent))
	}
	return r.until(func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		return x.verdict == passes
	})
}
