package tickets

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/conduit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fill takes records of n bytes until there is none left, and returns how many.
func fill(p *SendWindow, class conduit.Class, n int) (k int) {
	for p.Take(class, Of(class, n)) {
		k++
	}
	return k
}

func TestTickets(t *testing.T) {
	p := New(Limits{Messages: 20}, 8000)
	if n := fill(p, conduit.Request, 64); n != 20-forAnswers {
		t.Errorf("%d requests", n)
	}
	if !p.MayServe() {
		t.Error("the gate is closed with the tickets for an answer there")
	}
	if n := fill(p, conduit.Reply, 64); n != forAnswers || p.Take(conduit.System, Of(conduit.System, 64)) {
		t.Errorf("%d replies", n)
	}
	if p.MayServe() {
		t.Error("the gate is open without tickets")
	}
	if s := p.Stats(); s != (Stats{NoTicket: 3, Unanswerable: 1}) {
		t.Errorf("%+v", s)
	}
	p.Give(2 * Of(conduit.Reply, 64))
	if !p.MayServe() || p.Stats().Messages != 2 {
		t.Error("what came back is not there")
	}
}

func TestChunks(t *testing.T) {
	p := New(Limits{Messages: MaxMessages, Requests: 20, Replies: 11}, 8000)
	if n := fill(p, conduit.Request, 3000); n != 6 {
		t.Errorf("%d requests of three chunks", n)
	}
	if n := fill(p, conduit.Reply, 2048); n != 5 || p.Stats().NoChunk != 2 {
		t.Errorf("%d replies of two chunks, %+v", n, p.Stats())
	}
	if !p.Take(conduit.System, Of(conduit.System, 8000)) || !p.Take(conduit.Reply, Of(conduit.Reply, 1)) || p.MayServe() {
		t.Error("a system record takes chunks, or the last chunk for replies leaves the gate open")
	}
	if small := New(Limits{Requests: 1, Replies: 1}, 8000); !small.Take(conduit.Request, Of(conduit.Request, 8000)) ||
		!small.Take(conduit.Reply, Of(conduit.Reply, 8000)) {
		t.Error("the longest record does not fit")
	}
}

func TestNoLimits(t *testing.T) {
	p := New(Limits{}, 8000)
	if p != nil || !p.MayServe() || p.Stats() != (Stats{}) {
		t.Error("a purse without limits")
	}
	// One limit alone leaves the others as far as they can be counted.
	if n := fill(New(Limits{Requests: 100000}, 100), conduit.Request, 1); n != MaxMessages-forAnswers {
		t.Errorf("%d messages", n)
	}
	if q := New(Limits{Messages: 100}, 100); !q.Take(conduit.Request, Of(conduit.Request, MaxChunks<<10)) {
		t.Error("a limit on chunks though none was set")
	}
}

func TestCheck(t *testing.T) {
	for _, l := range []Limits{
		{Messages: MinMessages - 1}, {Messages: MaxMessages + 1}, {Requests: -1}, {Requests: MaxChunks + 1}, {Replies: -1}, {Replies: MaxChunks + 1},
	} {
		if err := l.Check(); !errors.Is(err, conduit.ErrConfig) {
			t.Errorf("%+v: %v", l, err)
		}
	}
	for _, l := range []Limits{{}, Without, {Messages: MinMessages}, {MaxMessages, MaxChunks, MaxChunks}} {
		if err := l.Check(); err != nil {
			t.Errorf("%+v: %v", l, err)
		}
	}
}

// TestSumsWrap: what a peer tells is a running sum, whose parts carry into each other; its differences are exact.
func TestSumsWrap(t *testing.T) {
	p := New(Without, 4000)
	start := p.free.Load()
	sent, served := ^Cost(0)-1000, ^Cost(0)-1000
	for i := range 100000 {
		class := conduit.Class(i % 3)
		c := Of(class, 1+i%4000)
		if p.Take(class, c) {
			sent += c
		} else {
			p.Give(sent - served)
			served = sent
		}
	}
	p.Give(sent - served)
	if p.free.Load() != start {
		t.Errorf("%x left of %x", p.free.Load(), start)
	}
}

func TestScarce(t *testing.T) {
	for _, c := range []struct {
		class conduit.Class
		n     int // records of 4 KiB
		want  bool
	}{{conduit.System, 62, false}, {conduit.System, 63, true}, {conduit.Reply, 16, false}, {conduit.Reply, 17, true}, {conduit.Request, 62, false}} {
		if got := Without.Scarce(Cost(c.n) * Of(c.class, 4096)); got != c.want {
			t.Errorf("%d of class %v: %v", c.n, c.class, got)
		}
	}
	if (&Limits{Requests: 100}).Scarce(1 << 15 * ticket) {
		t.Error("tickets are scarce though there is no limit")
	}
}

// TestTakenTogether: many take and give at once; nothing is lost, and no limit is passed.
func TestTakenTogether(t *testing.T) {
	l := Limits{Messages: 40, Requests: 64, Replies: 32}
	p := New(l, 4000)
	start := p.free.Load()
	var wg sync.WaitGroup
	for g := range uint64(8) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(g, 1))
			var held Cost
			for range 20000 {
				class := conduit.Class(r.IntN(3))
				if c := Of(class, 1+r.IntN(4000)); p.Take(class, c) {
					held += c
				}
				if r.IntN(4) == 0 {
					p.Give(held)
					held = 0
				}
			}
			p.Give(held)
		})
	}
	wg.Wait()
	if p.free.Load() != start {
		t.Errorf("%x left of %x", p.free.Load(), start)
	}
}
