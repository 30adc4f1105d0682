package gasnettest

import (
	"sync/atomic"
	"testing"

	"github.com/golci/golci/am"
)

const (
	hArgs = 40 + iota
	hArgsBack
	hArgsMedium
	hArgsMediumBack
	hArgsLong
	hArgsLongBack
)

// arg is the i-th of n arguments of request or reply: all 64 bits matter.
func arg(n, i int, reply bool) uint64 {
	x := uint64(n)<<56 | uint64(i)<<48 | 0x8000_ffff_0001
	if reply {
		return ^x
	}
	return x
}

func argList(n int, reply bool) []uint64 {
	a := make([]uint64, n)
	for i := range a {
		a[i] = arg(n, i, reply)
	}
	return a
}

// arguments is a rank's state in testcore4.
type arguments struct{ back [am.MaxArgs + 1]atomic.Int64 } // by number of arguments

func newArguments(r *rank) *arguments {
	x := new(arguments)
	max := r.e.MaxMedium()
	check := func(a []uint64, data []byte, want int, reply bool) {
		for i, v := range a {
			if v != arg(len(a), i, reply) {
				r.bad("argument %d of %d, reply %v: %#x", i, len(a), reply, v)
			}
		}
		if len(data) != want || (want > 0 && sum(nil, data) != sum(nil, fill(make([]byte, want), uint64(len(a))))) {
			r.bad("%d arguments, reply %v: payload of %d bytes damaged", len(a), reply, len(data))
		}
	}
	back := func(n int) am.Handler {
		return func(_ *am.Token, a []uint64, data []byte) {
			check(a, data, n, true)
			x.back[len(a)].Add(1)
		}
	}
	r.handle(hArgs, 0, func(t *am.Token, a []uint64, data []byte) {
		check(a, data, 0, false)
		r.ok(t.ReplyShort(hArgsBack, argList(len(a), true)...))
	})
	r.handle(hArgsMedium, max, func(t *am.Token, a []uint64, data []byte) {
		check(a, data, max, false)
		r.ok(t.ReplyMedium(hArgsMediumBack, data, argList(len(a), true)...))
	})
	r.handle(hArgsLong, max, func(t *am.Token, a []uint64, data []byte) {
		check(a, data, longSlot, false)
		r.ok(t.ReplyLong(hArgsLongBack, fill(make([]byte, max), uint64(len(a))), longSlot, argList(len(a), true)...))
	})
	r.handle(hArgsBack, am.NoReply, back(0))
	r.handle(hArgsMediumBack, am.NoReply, back(max))
	r.handle(hArgsLongBack, am.NoReply, back(max))
	return x
}

// TestCore4 is testcore4: every number of arguments, with no payload, the largest Medium, and a split Long, there and
// back.
func TestCore4(t *testing.T) {
	overAll(t, func(t *testing.T, net network) {
		spmd(t, net, 2, options{segment: 2 * longSlot}, newArguments, func(r *rank, x *arguments) error {
			for n := range am.MaxArgs + 1 {
				a := argList(n, false)
				long := fill(make([]byte, longSlot), uint64(n))
				medium := fill(make([]byte, r.e.MaxMedium()), uint64(n))
				for _, err := range []error{
					r.e.RequestShort(r.next(), hArgs, a...),
					r.e.RequestMedium(r.next(), hArgsMedium, medium, a...),
					r.e.RequestLong(r.next(), hArgsLong, long, 0, a...),
				} {
					if err != nil {
						return err
					}
				}
				if err := r.until(func() bool { return x.back[n].Load() == 3 }); err != nil {
					return err
				}
			}
			return nil
		})
	})
}
