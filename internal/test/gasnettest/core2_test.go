package gasnettest

import (
	"sync/atomic"
	"testing"

	"github.com/golci/golci/am"
)

const (
	hEcho = 30 + iota
	hEchoed
	hEchoLong
	hEchoedLong
)

// depth is how many messages of a size are in flight at once.
const depth = 4

// echoer is a rank's state in testcore2.
type echoer struct{ back atomic.Int64 }

// seedOf names the bytes of a message of n bytes in slot k.
func seedOf(n, k int) uint64 { return uint64(n)<<8 | uint64(k) }

func newEchoer(r *rank) *echoer {
	x := new(echoer)
	max := r.e.MaxMedium()
	check := func(what string, a []uint64, data []byte) {
		if len(data) != int(a[0]) || sum(nil, data) != a[2] {
			r.bad("%s of %d bytes, slot %d: %d bytes came", what, a[0], a[1], len(data))
		}
	}
	r.handle(hEcho, max, func(t *am.Token, a []uint64, data []byte) {
		check("request", a, data)
		r.ok(t.ReplyMedium(hEchoed, data, a...))
	})
	r.handle(hEchoed, am.NoReply, func(_ *am.Token, a []uint64, data []byte) {
		check("reply", a, data)
		x.back.Add(1)
	})
	r.handle(hEchoLong, max, func(t *am.Token, a []uint64, data []byte) {
		check("Long", a, data)
		at := int64(depth+int(a[1])) * longSlot // the other half of the segment
		r.ok(t.ReplyLong(hEchoedLong, data[:min(len(data), max)], at, uint64(min(len(data), max)), a[1], sum(nil, data[:min(len(data), max)])))
	})
	r.handle(hEchoedLong, am.NoReply, func(_ *am.Token, a []uint64, data []byte) {
		check("Long reply", a, data)
		x.back.Add(1)
	})
	return x
}

const longSlot = 32 << 10

// TestCore2 is testcore2. Medium payloads have every size from 1 to the largest. Long payloads lie on both sides of the
// limit between packed and split. Several of each are in flight, echoed and checksummed.
func TestCore2(t *testing.T) {
	overAll(t, func(t *testing.T, net network) {
		o := options{segment: 2 * depth * longSlot}
		spmd(t, net, 2, o, newEchoer, func(r *rank, x *echoer) error {
			step := 1
			if net.slow {
				step = 29
			}
			step *= raceSlower * raceSlower
			medium := step
			if net.like {
				medium = 29 * raceSlower
			}
			max := r.e.MaxMedium()
			var sent int64
			for n := 1 + r.rng.IntN(medium); n <= max; n += medium {
				if err := echoes(r, x, n, &sent, false); err != nil {
					return err
				}
			}
			for n := max - 40; n < max+40; n += 1 + step/7 {
				if err := echoes(r, x, n, &sent, true); err != nil {
					return err
				}
			}
			for n := 1 + r.rng.IntN(100); n <= longSlot; n += 97 * step {
				if err := echoes(r, x, n, &sent, true); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// echoes sends depth messages of n bytes, and waits for their echoes.
func echoes(r *rank, x *echoer, n int, sent *int64, long bool) error {
	var buf [longSlot]byte
	for k := range depth {
		data := fill(buf[:n], seedOf(n, k))
		args := []uint64{uint64(n), uint64(k), sum(nil, data)}
		var err error
		if long {
			err = r.e.RequestLong(r.next(), hEchoLong, data, int64(k)*longSlot, args...)
		} else {
			err = r.e.RequestMedium(r.next(), hEcho, data, args...)
		}
		if err != nil {
			return err
		}
		*sent++
	}
	return r.until(func() bool { return x.back.Load() == *sent })
}
