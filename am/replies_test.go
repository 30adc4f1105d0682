package am

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/golci/golci/conduit"
)

// TestReplyLong: the payload of a reply lies in the requester's segment when its handler runs, and nothing else of
// that has changed.
func TestReplyLong(t *testing.T) {
	const off, most = 7, 100
	for _, v := range []variant{{name: "words"}, {name: "bare", bare: true}} {
		t.Run(v.name, func(t *testing.T) {
			es := endpoints(t, 2, v, Config{})
			seg := make([]byte, 4*most)
			es[0].SetSegment(seg)
			want := fill(most, 3)
			register(t, es, 1, Spec{Name: "ask", MaxReply: most, Run: func(k *Token, a []uint64, _ []byte) {
				if err := k.ReplyLong(2, want, -1); !errors.Is(err, ErrSize) {
					t.Errorf("a segment offset of -1: %v", err)
				}
				if err := k.ReplyMedium(2, make([]byte, most+1)); !errors.Is(err, ErrSize) {
					t.Errorf("more bytes than declared: %v", err)
				}
				if err := k.ReplyLong(2, want[:a[0]], off, 1, 2, 3); err != nil {
					t.Error(err)
				}
			}})
			got := -1
			register(t, es, 2, Spec{Name: "answer", MaxReply: NoReply, Run: func(_ *Token, a []uint64, p []byte) {
				if !slices.Equal(a, []uint64{1, 2, 3}) || len(p) > 0 && &p[0] != &seg[off] {
					t.Errorf("arguments %v, a payload of %d bytes that is elsewhere", a, len(p))
				}
				got = len(p)
			}})
			for _, n := range []int{0, 1, 8, most} {
				clear(seg)
				if err := es[0].RequestShort(1, 1, uint64(n)); err != nil {
					t.Fatal(err)
				}
				es[1].Poll()
				es[0].Poll()
				if got != n || !bytes.Equal(seg[off:off+n], want[:n]) || len(bytes.Trim(seg[off+n:], "\x00")) > 0 ||
					seg[off-1] != 0 {
					t.Errorf("a reply of %d bytes: %d came, and the segment is not as it should be", n, got)
				}
			}
		})
	}
}

// forbidding is a guard that forbids one kind of call.
type forbidding Call

var errForbidden = errors.New("forbidden")

func (forbidding) Leave() error { return nil }

func (f forbidding) Allow(c Call) error {
	if c == Call(f) {
		return errForbidden
	}
	return nil
}

// TestGuardedReply: a guard is asked before a reply leaves. If it forbids that, none does, and the space is free for
// the next request.
func TestGuardedReply(t *testing.T) {
	for _, forbidden := range []Call{CallReply, CallWait} {
		es := endpoints(t, 2, variant{}, Config{})
		es[1].SetGuard(forbidding(forbidden))
		asked, answered := 0, 0
		register(t, es, 1, Spec{Name: "ask", MaxReply: 0, Run: func(k *Token, _ []uint64, _ []byte) {
			asked++
			if err := k.ReplyShort(2); errors.Is(err, errForbidden) != (forbidden == CallReply) {
				t.Errorf("a reply where each %v is forbidden: %v", forbidden, err)
			}
		}})
		register(t, es, 2, Spec{Name: "answer", MaxReply: NoReply, Run: func(*Token, []uint64, []byte) { answered++ }})
		for range 1000 {
			if err := es[0].RequestShort(1, 1); err != nil {
				t.Fatal(err)
			}
			es[1].Poll()
			es[0].Poll()
		}
		want := 1000
		if forbidden == CallReply {
			want = 0
		}
		if asked != 1000 || answered != want {
			t.Errorf("where each %v is forbidden %d were asked and %d answered, want %d",
				forbidden, asked, answered, want)
		}
	}
}

// noting is a conduit that notes the classes of the records.
type noting struct {
	conduit.Conduit
	classes []conduit.Class
}

func (c *noting) Reserve(peer int, class conduit.Class, n int) ([]byte, conduit.Status) {
	c.classes = append(c.classes, class)
	return c.Conduit.Reserve(peer, class, n)
}

// TestClasses: only requests take the space that the peer has lent.
func TestClasses(t *testing.T) {
	for _, v := range []variant{{name: "words"}, {name: "bare", bare: true}} {
		t.Run(v.name, func(t *testing.T) {
			over := v
			over.make = func(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
				cs := (&variant{cfg: cfg, bare: v.bare}).conduits(t, n)
				for i, c := range cs {
					cs[i] = &noting{Conduit: c}
				}
				return cs
			}
			over.cfg = conduit.Config{Loan: 100, MaxRecord: 1024}
			es := endpoints(t, 2, over, Config{Credits: terms(20)})
			register(t, es, 1, Spec{Name: "ask", MaxReply: 0, Run: func(k *Token, _ []uint64, _ []byte) {
				if k.Source() == 0 {
					if err := k.ReplyShort(1); err != nil {
						t.Error(err)
					}
				}
			}})
			register(t, es, 3, Spec{Name: "say nothing", MaxReply: 0, Run: func(*Token, []uint64, []byte) {}})
			took := func(what string, e *Endpoint, want ...conduit.Class) {
				t.Helper()
				c := e.c.(*noting)
				if !slices.Equal(c.classes, want) {
					t.Errorf("%s took %v, want %v", what, c.classes, want)
				}
				c.classes = nil
			}
			returns := []conduit.Class{} // of credits, by a message of their own
			if v.bare {
				returns = append(returns, conduit.System)
			}
			for _, h := range []uint8{1, 3} {
				if err := es[0].RequestShort(1, h); err != nil {
					t.Fatal(err)
				}
				took("a request", es[0], conduit.Request)
				es[1].Poll()
				took("a reply, and what is owed", es[1], append([]conduit.Class{conduit.Reply}, returns...)...)
				es[0].Poll()
				took("a reply that is served", es[0])
			}
			es[0].Hint(10, 1)
			took("a hint", es[0], conduit.System)
			es[1].Poll()
			took("a loan", es[1], returns...)
		})
	}
}
