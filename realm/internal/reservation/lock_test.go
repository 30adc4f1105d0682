package reservation

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/golci/golci/realm/internal/event"
)

func single() *Lock { return New(Config{ID: event.MakeReservation(0, 1), Ranks: 1}) }

// TestDefaultTurns: 64 local grants in a row, while another rank waits, and no 65th.
func TestDefaultTurns(t *testing.T) {
	l := New(Config{ID: event.MakeReservation(0, 1), Ranks: 2})
	var out Out
	l.Acquire(nil, Exclusive, &out)
	for range 100 {
		l.Acquire(&event.Waiter{}, Exclusive, &out)
	}
	l.Handle(Message{Kind: Request, Want: Want{1, Exclusive, 1}}, &out)
	local := 0
	for ; out.Send == nil; local++ {
		if err := l.Release(&out); err != nil {
			t.Fatal(err)
		}
	}
	if local--; local != 64 || out.Send[0].Kind != Transfer || out.Send[0].To != 1 {
		t.Errorf("%d local grants, then %s", local, describe(out.Send[0]))
	}
}

// TestCarry: those who do not fit the transfer follow it as requests of their own, in order.
func TestCarry(t *testing.T) {
	l := New(Config{ID: event.MakeReservation(0, 1), Ranks: 9, Carry: 2})
	var out Out
	l.Acquire(nil, Exclusive, &out)
	for r := range int32(6) {
		l.Handle(Message{Kind: Request, Want: Want{r + 1, Exclusive, 1}}, &out)
	}
	if err := l.Release(&out); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range out.Send {
		got = append(got, fmt.Sprintf("%d: %s", m.To, describe(m)))
	}
	want := "1: transfer epoch 1, 2 waits, 3 waits|" +
		"1: request of 4 (1, mode 0, epoch 1)|1: request of 5 (1, mode 0, epoch 1)|" +
		"1: request of 6 (1, mode 0, epoch 1)"
	if strings.Join(got, "|") != want {
		t.Errorf("got %q", got)
	}
}

// TestRefusal: a release is skipped if, and only if, its precondition stems from a refused grant of its reservation.
func TestRefusal(t *testing.T) {
	cause := &event.Poison{Rank: 3, Text: "the disk is full", Err: errors.New("the disk is full")}
	a, b, c := event.MakeReservation(0, 1), event.MakeReservation(0, 11), event.MakeReservation(10, 1)
	p := Refusal(b, Refusal(a, cause))
	if !IsRefusal(a, p) || !IsRefusal(b, p) || IsRefusal(c, p) || IsRefusal(a, cause) || IsRefusal(a, nil) {
		t.Errorf("%q is taken for the wrong one", p.Text)
	}
	if p.Rank != 3 || !errors.Is(p.Err, cause.Err) || p.String() != "reservation 0.11, 0.1 not acquired: "+cause.Text {
		t.Errorf("%+v has lost its cause: %v", p, p)
	}
	if Refusal(a, p) != p {
		t.Error("the poison grows")
	}
}

// TestLongRefusals: a poison that has refused many reservations names all of them and no other, also behind its bytes.
func TestLongRefusals(t *testing.T) {
	const n = 100
	p := &event.Poison{Text: "full"}
	for i := 1; i <= n; i++ {
		p = Refusal(event.MakeReservation(7, i), p)
	}
	far, rest, err := event.ParsePoison(p.Append(nil))
	if err != nil || len(rest) > 0 {
		t.Fatal(err, rest)
	}
	if far.String() != p.String() || !strings.Contains(p.String(), "7.97 and 96 others not acquired: full") {
		t.Errorf("%q, and elsewhere %q", p, far)
	}
	for i := range 2 * n {
		id := event.MakeReservation(7, i)
		if want := i >= 1 && i <= n; IsRefusal(id, p) != want || IsRefusal(id, far) != want {
			t.Errorf("reservation %d of %d: refused %v, %v elsewhere", i, n, IsRefusal(id, p), IsRefusal(id, far))
		}
	}
}

// TestNewAfterDeath: a lock whose home has died refuses at once; one with a dead peer does not wait for it.
func TestNewAfterDeath(t *testing.T) {
	var out Out
	l := New(Config{ID: event.MakeReservation(1, 1), Ranks: 3, Gone: []int32{1}})
	if l.Acquire(&event.Waiter{}, Exclusive, &out) || out.Fire.Empty() || l.Dead() == nil {
		t.Error("a lock that rank 1 has made is alive, and rank 1 is not")
	}
	l = New(Config{ID: event.MakeReservation(0, 1), Ranks: 3, Gone: []int32{1}})
	l.Try(Exclusive)
	l.Handle(Message{Kind: Request, Want: Want{1, Exclusive, 1}}, &out)
	if l.Release(&out) != nil || len(out.Send) > 0 || !l.Owned() || l.Held() {
		t.Errorf("the lock went to the dead: %v", out.Send)
	}
}

// TestPayloadOfReaders: a second shared grant of the same version does not write the payload, which those of the first
// grant read without a lock. One of another version does.
func TestPayloadOfReaders(t *testing.T) {
	l := New(Config{ID: event.MakeReservation(0, 1), Self: 1, Ranks: 2, Payload: []byte("-")})
	var out Out
	for _, c := range []struct {
		version uint64
		payload string
		want    string
	}{{1, "a", "a"}, {1, "b", "a"}, {2, "c", "c"}} {
		l.Acquire(&event.Waiter{}, 1, &out)
		l.Handle(Message{
			Kind: Grant, To: 1, Want: Want{1, 1, 1}, Version: c.version, Payload: []byte(c.payload),
		}, &out)
		if got := string(l.Payload); got != c.want {
			t.Errorf("a grant of version %d with payload %q makes it %q, want %q", c.version, c.payload, got, c.want)
		}
	}
}

func TestAllocations(t *testing.T) {
	l, w := single(), &event.Waiter{}
	var out Out
	for name, f := range map[string]func(){
		"uncontended": func() {
			l.Try(Exclusive)
			l.Release(&out)
		},
		"deferred": func() {
			l.Try(Exclusive)
			l.Acquire(w, Exclusive, &out)
			l.Release(&out)
			out.Fire.Pop()
			l.Release(&out)
		},
		"shared": func() {
			l.Try(1)
			l.Acquire(w, 2, &out)
			l.Release(&out)
			out.Fire.Pop()
			l.Release(&out)
		},
	} {
		if n := testing.AllocsPerRun(1000, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkUncontended(b *testing.B) {
	l := single()
	var out Out
	for b.Loop() {
		if !l.Try(Exclusive) || l.Release(&out) != nil {
			b.Fatal("not free")
		}
	}
}

// BenchmarkDeferred is a grant to the next of 256 local waiters, with and without another rank that waits.
func BenchmarkDeferred(b *testing.B) {
	for _, remote := range []int{0, 1} {
		b.Run(fmt.Sprintf("remote=%d", remote), func(b *testing.B) {
			l := New(Config{ID: event.MakeReservation(0, 1), Ranks: 2, Turns: 1 << 62})
			var out Out
			l.Try(Exclusive)
			for range 256 {
				l.Acquire(&event.Waiter{}, Exclusive, &out)
			}
			if remote == 1 {
				l.Handle(Message{Kind: Request, Want: Want{1, Exclusive, 1}}, &out)
			}
			for b.Loop() {
				l.Release(&out)
				l.Acquire(out.Fire.Pop(), Exclusive, &out)
			}
		})
	}
}
