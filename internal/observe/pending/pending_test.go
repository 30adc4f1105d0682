package pending

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/golci/golci/fult"
)

var (
	errA = errors.New("a")
	errB = errors.New("b")
)

// place is a source with one operation. It notes in log what is done with it.
type place struct {
	op  Op
	log *[]string
}

// Each implements Source.
func (p *place) Each(show func(*Op)) {
	*p.log = append(*p.log, "shows "+p.op.Call)
	show(&p.op)
}

// EndWhere implements Source.
func (p *place) EndWhere(why func(*Op) error, _ *fult.Worker) {
	*p.log = append(*p.log, fmt.Sprintf("ends %s: %v", p.op.Call, why(&p.op)))
}

// waiter is an owner that notes in log how it is ended.
type waiter struct {
	name   string
	log    *[]string
	w      *fult.Worker
	thread *fult.Thread
}

// EndPending implements Owner.
func (x *waiter) EndPending(err error, w *fult.Worker) {
	*x.log = append(*x.log, fmt.Sprintf("%s has ended: %v", x.name, err))
	x.w = w
}

// Waiter implements Owner.
func (x *waiter) Waiter() *fult.Thread { return x.thread }

// TestOrder: sources come in the order in which they were attached, and before calls, which may be made of what the
// sources have.
func TestOrder(t *testing.T) {
	var r Registry
	var log []string
	if got := r.Ops(); len(got) != 0 {
		t.Errorf("an empty registry shows %v", got)
	}
	r.EndWhere(func(*Op) error { return errA }, nil)
	r.Attach(&place{Op{Call: "one"}, &log})
	r.Calls.Begin(new(Entry), 1, &Op{Call: "call"}, Terms{}, &waiter{name: "call", log: &log})
	r.Attach(&place{Op{Call: "two"}, &log})
	var shown []string
	r.Each(func(o *Op) { shown = append(shown, o.Call) })
	if want := []string{"one", "two", "call"}; !slices.Equal(shown, want) || len(r.Ops()) != 3 {
		t.Errorf("shown: %v, want %v; all: %v", shown, want, r.Ops())
	}
	log = nil
	r.EndWhere(func(*Op) error { return errA }, nil)
	if want := []string{"ends one: a", "ends two: a", "call has ended: a"}; !slices.Equal(log, want) {
		t.Errorf("%v, want %v", log, want)
	}
}

// TestAttachWhileShown: sources are attached while others look. Who looks finds each source whole or not at all, and no
// source is lost.
func TestAttachWhileShown(t *testing.T) {
	var r Registry
	const n = 50
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			var unread []string
			r.Attach(silent{&place{Op{}, &unread}})
		})
		all.Go(func() {
			for _, o := range r.Ops() {
				if o.Kind != Recv || o.Call != "" {
					t.Errorf("%+v is shown", o)
				}
			}
		})
	}
	all.Wait()
	if got := len(r.Ops()); got != n {
		t.Errorf("%d of %d sources are left", got, n)
	}
}

// silent is a place that notes nothing, so that several may look.
type silent struct{ p *place }

func (s silent) Each(show func(*Op))                    { show(&s.p.op) }
func (s silent) EndWhere(func(*Op) error, *fult.Worker) {}

// TestNeedsRank: Needs tells by itself; without it the peer does.
func TestNeedsRank(t *testing.T) {
	odd := func(rank int) bool { return rank%2 == 1 }
	for _, c := range []struct {
		op   Op
		rank int
		want bool
	}{
		{Op{Peer: 3}, 3, true},
		{Op{Peer: 3}, 2, false},
		{Op{Peer: AnyRank}, 0, false},
		{Op{Peer: 2, Needs: odd}, 2, false},
		{Op{Peer: 2, Needs: odd}, 1, true},
		{Op{Peer: 2, Needs: Nobody}, 2, false},
	} {
		if got := c.op.NeedsRank(c.rank); got != c.want {
			t.Errorf("peer %d, rank %d: %v, want %v", c.op.Peer, c.rank, got, c.want)
		}
	}
}

// TestUnexpected: messages of other ranks are no operations of this one, and all else is.
func TestUnexpected(t *testing.T) {
	for k := Recv; k <= Envelope; k++ {
		if got, want := (&Op{Kind: k}).Unexpected(), k == Message || k == Envelope; got != want {
			t.Errorf("kind %d: %v, want %v", k, got, want)
		}
	}
}
