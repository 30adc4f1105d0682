package am

import (
	"testing"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/transport/local"
)

// arming is a conduit that does not sleep but tells how long it would. Between the decision to sleep and the arming of
// the bell another goroutine does something. Its Wake finds nobody asleep.
type arming struct {
	conduit.Conduit
	meanwhile func()
	slept     time.Duration // 0: ready said not to
}

func (c *arming) Sleep(d time.Duration, ready func() bool) bool {
	if c.meanwhile != nil {
		c.meanwhile()
	}
	c.slept = 0
	if !ready() {
		c.slept = d
	}
	return true
}

// refused is a send that the conduit never has room for.
type refused struct{ next Queued }

func (*refused) Emit() bool               { return false }
func (*refused) Sent(*fult.Worker)        {}
func (*refused) Fail(error, *fult.Worker) {}
func (x *refused) Next() *Queued          { return &x.next }

// unsent owns bulk data.
type unsent struct{}

func (unsent) Sent(*fult.Worker)        {}
func (unsent) Fail(error, *fult.Worker) {}

// TestQueuedWhileArming: a send is queued just before a sleeper has armed the bell. It must not wait for the end of the
// sleep, because neither returned credits nor room for bulk data would end it.
func TestQueuedWhileArming(t *testing.T) {
	for what, queue := range map[string]func(e *Endpoint){
		"a send": func(e *Endpoint) {
			if e.Lock(1) != Stalled {
				t.Fatal("rank 1 is not there")
			}
			e.Enqueue(1, &refused{})
		},
		"bulk data": func(e *Endpoint) { e.PutBulk(1, &Bulk{Data: make([]byte, 8<<20), Owner: unsent{}}) },
		"nothing":   func(*Endpoint) {},
	} {
		cs, err := local.New(2, conduit.Config{})
		if err != nil {
			t.Fatal(err)
		}
		c := &arming{Conduit: cs[0]}
		e, err := New(c, Config{})
		if err != nil {
			t.Fatal(err)
		}
		c.meanwhile = func() { queue(e) }
		for look := range 2 {
			source{e}.Sleep(time.Hour, func() bool { return false })
			if long := c.slept > stalledNap; long != (what == "nothing") {
				t.Errorf("look %d, with %s queued: it sleeps for %v", look, what, c.slept)
			}
			c.meanwhile = nil
		}
		if what != "nothing" && c.slept == 0 {
			t.Errorf("with %s queued before it decides, it does not sleep at all", what)
		}
		e.Close()
		for _, c := range cs {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestOwedWhileArming: a sleeper has paid its debts. Then another goroutine serves a request and stops polling. The
// sleeper has to pay again, since that request rang no bell.
func TestOwedWhileArming(t *testing.T) {
	cs, err := local.New(2, conduit.Config{})
	if err != nil {
		t.Fatal(err)
	}
	c := &arming{Conduit: cs[0]}
	e, err := New(c, Config{})
	if err != nil {
		t.Fatal(err)
	}
	from, err := New(cs[1], Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []*Endpoint{e, from} {
		if err := x.Register(1, Spec{Name: "nothing much", MaxReply: NoReply, Run: func(*Token, []uint64, []byte) {}}); err != nil {
			t.Fatal(err)
		}
	}
	c.meanwhile = func() {
		if err := from.RequestShort(0, 1); err != nil {
			t.Error(err)
		}
		e.Poll()
	}
	source{e}.Sleep(time.Hour, func() bool { return false })
	if c.slept != 0 {
		t.Errorf("it sleeps for %v, and peers are owed credits", c.slept)
	}
	c.meanwhile = nil
	source{e}.Sleep(time.Hour, func() bool { return false })
	if c.slept <= stalledNap {
		t.Errorf("with its debts paid it sleeps for %v", c.slept)
	}
	e.Close()
	from.Close()
	for _, c := range cs {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
