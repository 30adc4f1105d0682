package gasnettest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/golci/golci/am/barrier"
)

const (
	named = barrier.Named
	anon  = barrier.Anonymous
	mis   = barrier.Mismatch
)

// way is one of the ways to go through a barrier.
type way struct {
	name string
	pass func(r *rank, notify, wait come) error
}

// come is what a rank says at Notify or Wait.
type come struct {
	id    uint64
	flags barrier.Flags
}

var ways = []way{
	{"notify and wait", func(r *rank, n, w come) error {
		if err := r.b.Notify(n.id, n.flags); err != nil {
			return err
		}
		return r.b.Wait(w.id, w.flags)
	}},
	{"notify and try", func(r *rank, n, w come) error {
		if err := r.b.Notify(n.id, n.flags); err != nil {
			return err
		}
		var err error
		gaveUp := r.until(func() bool {
			var over bool
			over, err = r.b.Try(w.id, w.flags)
			return over || err != nil
		})
		return errors.Join(gaveUp, err)
	}},
}

// passes goes through the barrier in every way, and checks its end and result.
func (r *rank) passes(what string, notify, wait come, want error, result come) error {
	for _, w := range ways {
		err := w.pass(r, notify, wait)
		if !errors.Is(err, want) {
			return fmt.Errorf("%s (%s): ended with %v, want %v", what, w.name, err, want)
		}
		if want != nil {
			continue
		}
		if id, is := r.b.Result(); is != (result.flags == named) || is && id != result.id {
			return fmt.Errorf("%s (%s): result %d, named %v", what, w.name, id, is)
		}
	}
	return nil
}

// at is a where here says so, else b.
func at(here bool, a, b come) come {
	if here {
		return a
	}
	return b
}

// conform is a case of testbarrierconf in which rank odd differs from the others.
type conform struct {
	what         string
	odd, others  come // at Notify
	oddW, otherW come // at Wait
	want         error
	result       come
}

var conforming = []conform{
	{"all named", come{7, named}, come{7, named}, come{7, named}, come{7, named}, nil, come{7, named}},
	{"all anonymous", come{1, anon}, come{2, anon}, come{3, named}, come{4, anon}, nil, come{flags: anon}},
	{"one anonymous among named", come{12, anon}, come{55, named}, come{12, anon}, come{55, named}, nil, come{55, named}},
	{"one anonymous at Notify, named at Wait", come{12, anon}, come{55, named}, come{55, named}, come{55, named}, nil, come{55, named}},
	{"one anonymous at Wait", come{55, named}, come{55, named}, come{9, anon}, come{55, named}, nil, come{55, named}},
	{"one named among anonymous", come{1 << 63, named}, come{911, anon}, come{1 << 63, named}, come{911, anon}, nil, come{1 << 63, named}},
	{"one with another id", come{1, named}, come{0, named}, come{1, named}, come{0, named}, barrier.ErrMismatch, come{}},
	{"one says mismatch", come{0, mis}, come{0, named}, come{0, named}, come{0, named}, barrier.ErrMismatch, come{}},
	{"one says mismatch, others anonymous", come{0, mis | anon}, come{0, anon}, come{0, anon}, come{0, anon}, barrier.ErrMismatch, come{}},
}

// barrierNetworks keep the order of messages, break it, and lose messages. A barrier makes no other difference; that
// ranks pass one over each network is what other tests show.
func barrierNetworks() []network {
	return slices.DeleteFunc(slices.Clone(networks), func(net network) bool {
		return !slices.Contains([]string{"local", "faulty two-slot bare", "udp faulty"}, net.name)
	})
}

// TestBarrierConformance is testbarrierconf: every rank is the odd one out in turn.
func TestBarrierConformance(t *testing.T) {
	sizes := []int{1, 2, 3, 5}
	if raceSlower > 1 {
		sizes = []int{1, 3}
	}
	over(t, barrierNetworks(), func(t *testing.T, net network) {
		for _, n := range sizes {
			spmd(t, net, n, options{}, func(*rank) *struct{} { return nil }, func(r *rank, _ *struct{}) error {
				for range max(1, 3/raceSlower) {
					if err := conformance(r); err != nil {
						return err
					}
				}
				return nil
			})
		}
	})
}

func conformance(r *rank) error {
	for odd := range r.n {
		for _, c := range conforming {
			if r.n == 1 && c.odd.flags&mis == 0 {
				continue // nobody to differ from
			}
			here := r.id == odd
			err := r.passes(c.what, at(here, c.odd, c.others), at(here, c.oddW, c.otherW), c.want, c.result)
			if err != nil {
				return fmt.Errorf("rank %d odd: %w", odd, err)
			}
		}
		if err := misnamedWait(r, odd); err != nil {
			return err
		}
		for two := range r.n {
			if err := twoNames(r, odd, two); err != nil {
				return err
			}
		}
	}
	return nil
}

// misnamedWait has one rank wait for another id than the phase's: that one fails, alone.
func misnamedWait(r *rank, odd int) error {
	want := error(nil)
	if r.id == odd {
		want = barrier.ErrMismatch
	}
	id := at(r.id == odd, come{8, named}, come{7, named})
	err := r.passes("misnamed wait", come{7, named}, id, want, come{7, named})
	if err != nil {
		return err
	}
	flags := at(r.id == odd, come{7, mis}, come{7, named})
	return r.passes("mismatch at Wait", come{7, named}, flags, want, come{7, named})
}

// twoNames has two ranks name different ids while the others are anonymous.
func twoNames(r *rank, a, b int) error {
	if a == b {
		return nil
	}
	me := come{3, anon}
	switch r.id {
	case a:
		me = come{1, named}
	case b:
		me = come{2, named}
	}
	return r.passes("two names among anonymous", me, me, barrier.ErrMismatch, come{})
}
