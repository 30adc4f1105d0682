package gasnettest

import (
	"sync/atomic"
	"testing"

	"github.com/golci/golci/am"
)

const (
	hNil = 50 + iota
	hNilBack
	hNilLong
	hNilLongBack
)

// empties are empty payloads whose place must not matter; files for one system add to them.
func empties(t testing.TB) [][]byte {
	page := make([]byte, 4096)
	return append([][]byte{nil, {}, page[:0], page[:0:0], page[len(page):]}, unmapped(t)...)
}

// counted is a rank's state in testcore3.
type counted struct{ back atomic.Int64 }

func newNil(all [][]byte) func(r *rank) *counted {
	return func(r *rank) *counted {
		x := new(counted)
		empty := func(what string, data []byte) {
			if len(data) != 0 {
				r.bad("%s: %d bytes", what, len(data))
			}
		}
		back := func(_ *am.Token, a []uint64, data []byte) {
			empty("reply", data)
			x.back.Add(1)
		}
		r.handle(hNil, 0, func(t *am.Token, a []uint64, data []byte) {
			empty("Medium", data)
			r.ok(t.ReplyMedium(hNilBack, all[a[0]], a...))
		})
		r.handle(hNilLong, 0, func(t *am.Token, a []uint64, data []byte) {
			empty("Long", data)
			r.ok(t.ReplyLong(hNilLongBack, all[a[0]], int64(a[1]), a...))
		})
		r.handle(hNilBack, am.NoReply, back)
		r.handle(hNilLongBack, am.NoReply, back)
		return x
	}
}

// TestCore3 is testcore3: payloads of no bytes at all sorts of places, among them memory that is no longer there.
// Nobody may look.
func TestCore3(t *testing.T) {
	all := empties(t)
	overAll(t, func(t *testing.T, net network) {
		const segment = 100
		spmd(t, net, 2, options{segment: segment}, newNil(all), func(r *rank, x *counted) error {
			var sent int64
			for i, p := range all {
				if err := r.e.RequestMedium(r.next(), hNil, p, uint64(i)); err != nil {
					return err
				}
				sent++
				for _, off := range longPlaces(segment) {
					if err := r.e.RequestLong(r.next(), hNilLong, p, off, uint64(i), uint64(off)); err != nil {
						return err
					}
					sent++
				}
			}
			return r.until(func() bool { return x.back.Load() == sent })
		})
	})
}

// longPlaces are offsets at which a Long of no bytes may point.
func longPlaces(segment int64) []int64 {
	return []int64{0, 1, segment - 1, segment, segment + 1, 1<<63 - 1}
}
