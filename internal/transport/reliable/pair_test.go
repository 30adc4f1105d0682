package reliable

import (
	"errors"
	"math"
	"testing"
	"time"
)

var errLeft = errors.New("left")

// ideal is a network that delays packets by 100 us.
func ideal(_, _ int, _ []byte, now time.Duration) []time.Duration {
	return []time.Duration{now + 100*time.Microsecond}
}

// TestAnswer asks for an acknowledgement where none is due: one packet leaves, with the next Outgoing, and no other.
// A segment that leaves at the same time serves as well.
func TestAnswer(t *testing.T) {
	w := newWorld(t, 1, 2, Config{}, Link{MTU: 1400})
	w.Fate = ideal
	n := w.ranks[0]
	const now = 5 * time.Millisecond
	w.Now = now
	n.e.Answer(7) // there is none
	if k := n.e.Outgoing(now, 10, n); k != 0 {
		t.Errorf("%d packets though nothing was asked", k)
	}
	n.e.Answer(1)
	if at := n.e.NextTimer(); at != now {
		t.Errorf("an answer that may leave at %v has its time at %v", now, at)
	}
	for i, want := range []int{1, 0} {
		if k := n.e.Outgoing(now, 10, n); k != want {
			t.Errorf("Outgoing %d after Answer: %d packets, want %d", i, k, want)
		}
	}
	if s := n.e.Stats(1); s.Acks != 1 {
		t.Errorf("%d acknowledgements left, want 1", s.Acks)
	}
	n.count, w.ranks[1].count = true, true
	n.e.Answer(1)
	n.e.Send(1, Message{Data: []byte{1}}, now)
	if k := n.e.Outgoing(now, 10, n); k != 1 || n.e.Stats(1).Sent != 1 {
		t.Errorf("a message and an answer left in %d packets, want 1", k)
	}
	w.Run(time.Second)
	w.check(t)
}

// TestWatch finds out that a peer is dead. Watch and the first message begin to look, and nothing does before.
func TestWatch(t *testing.T) {
	for name, begin := range map[string]func(*Endpoint, int, time.Duration){
		"watch":   (*Endpoint).Watch,
		"message": func(e *Endpoint, id int, now time.Duration) { e.Send(id, Message{Data: []byte{1}}, now) },
	} {
		w := newWorld(t, 1, 3, Config{DeadAfter: 3 * time.Second}, Link{MTU: 1400})
		w.Fate = func(int, int, []byte, time.Duration) []time.Duration { return nil }
		n := w.ranks[0]
		w.Now = time.Second
		begin(n.e, 7, w.Now) // there is none
		begin(n.e, 1, w.Now)
		w.Run(3900 * time.Millisecond)
		begin(n.e, 1, w.Now) // it looks already: changes nothing
		if len(n.died) > 0 {
			t.Errorf("%s: died too soon", name)
		}
		w.Run(4200 * time.Millisecond)
		w.check(t)
		if len(n.died) != 1 || n.died[0] != 1 {
			t.Errorf("%s: %v died, want 1", name, n.died)
		}
	}
}

// TestTheEarliestTimerStands: a later time changes nothing.
func TestTheEarliestTimerStands(t *testing.T) {
	w := newWorld(t, 1, 2, Config{}, Link{MTU: 1400})
	e := w.ranks[0].e
	e.Watch(1, 0)
	first := e.cfg.KeepAlive
	for _, at := range []time.Duration{5, 7, 4, 6} {
		at *= time.Millisecond
		first = min(first, at)
		if e.peers.peerAt(1).wakeAt(at); e.NextTimer() != first {
			t.Errorf("after one at %v the next timer ends at %v, want %v", at, e.NextTimer(), first)
		}
	}
}

// TestWatchKeepsAlive has a pair that only one side watches stay alive without a message.
func TestWatchKeepsAlive(t *testing.T) {
	w := newWorld(t, 1, 2, Config{}, Link{MTU: 1400})
	w.Fate = ideal
	w.ranks[0].e.Watch(1, 0)
	w.Run(time.Minute)
	w.check(t)
	if k := len(w.ranks[0].died) + len(w.ranks[1].died); k > 0 {
		t.Errorf("%d died", k)
	}
	if s := w.ranks[1].e.Stats(0); s.Acks < 30 {
		t.Errorf("%d answers in a minute", s.Acks)
	}
}

// TestIdle follows messages of both kinds from Send to their acknowledgement.
func TestIdle(t *testing.T) {
	for _, size := range []int{12, 20_000} {
		w := newWorld(t, 1, 2, Config{}, Link{MTU: 1400})
		w.Fate = ideal
		e := w.ranks[0].e
		if !e.Idle(1) || !e.Idle(7) || e.News(1) != 0 || e.News(7) != 0 {
			t.Error("not idle at first")
		}
		e.Send(1, Message{Data: payload(1, size)}, 0)
		if s := e.Stats(1); e.Idle(1) || s.Waiting != 1 || s.Unacknowledged != 0 {
			t.Errorf("%d bytes wait: idle %v, %d wait, %d unacknowledged", size, e.Idle(1), s.Waiting, s.Unacknowledged)
		}
		w.Poll()
		if s := e.Stats(1); e.Idle(1) || s.Waiting != 0 || s.Unacknowledged == 0 {
			t.Errorf("%d bytes under way: idle %v, %d wait, %d unacknowledged", size, e.Idle(1), s.Waiting, s.Unacknowledged)
		}
		w.Run(time.Second)
		w.check(t)
		if s := e.Stats(1); !e.Idle(1) || s.Waiting != 0 || s.Unacknowledged != 0 {
			t.Errorf("%d bytes acknowledged: idle %v, %d wait, %d unacknowledged", size, e.Idle(1), s.Waiting, s.Unacknowledged)
		}
		if at := e.News(1); at <= 0 || at > time.Second {
			t.Errorf("%d bytes: acknowledged last at %v", size, at)
		}
	}
}

// TestTable compares the table with a map.
func TestTable(t *testing.T) {
	seed := seedOf(t)
	r := newWorld(t, seed, 1, Config{}, Link{}).r
	ids := []int{0, 1, 2, 63, 1000, maxPeers - 1}
	var tab table
	want := map[int]*peer{}
	for range 2000 {
		id := ids[r.IntN(len(ids))]
		if want[id] == nil {
			p := &peer{id: id}
			tab.putPeer(id, p)
			want[id] = p
		} else {
			tab.removePeer(id)
			delete(want, id)
		}
		for _, id := range append([]int{maxPeers, -1, math.MaxInt, math.MinInt}, ids...) {
			if tab.peerAt(id) != want[id] {
				t.Fatalf("peer %d: %p, want %p", id, tab.peerAt(id), want[id])
			}
		}
	}
}

// TestRemoveAnyOrder takes peers away in random order and looks whether the others are still served.
func TestRemoveAnyOrder(t *testing.T) {
	seed := seedOf(t)
	s := &farewell{}
	e, err := New(Config{Sink: s})
	if err != nil {
		t.Fatal(err)
	}
	r := newWorld(t, seed, 1, Config{}, Link{}).r
	for _, id := range []int{-1, maxPeers} {
		if err := e.Add(id, Link{MTU: 1400}, 0); !errors.Is(err, errConfig) {
			t.Errorf("peer %d: %v", id, err)
		}
	}
	const peers = 50
	for id := range peers {
		if err := e.Add(id, Link{MTU: 1400}, 0); err != nil {
			t.Fatal(err)
		}
	}
	for left, id := range r.Perm(peers) {
		e.Remove(id, errLeft)
		if st := e.Send(id, Message{}, 0); st != Gone {
			t.Errorf("to %d, removed: %v", id, st)
		}
		if len(e.all) != peers-1-left || s.n != left+1 {
			t.Fatalf("%d peers left and %d ended after %d of %d were removed", len(e.all), s.n, left+1, peers)
		}
		for i, p := range e.all {
			if p.at != i || e.peers.peerAt(p.id) != p {
				t.Fatalf("peer %d stands at %d and thinks %d", p.id, i, p.at)
			}
		}
	}
}

// farewell counts the peers that ended.
type farewell struct{ nothing }

func (f *farewell) Dead(int, error) { f.n++ }
