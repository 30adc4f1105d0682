package reliable

import (
	"errors"
	"testing"
	"time"

	"github.com/golci/golci/internal/test/simlink"
)

// TestLinkComesBack cuts one direction, or both, for two seconds: nothing is lost, nobody dies, and there is no storm.
func TestLinkComesBack(t *testing.T) {
	seed := seedOf(t)
	for name, cut := range map[string]func(src int) bool{
		"there": func(src int) bool { return src == 0 },
		"back":  func(src int) bool { return src == 1 },
		"both":  func(int) bool { return true },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, seed, 2, Config{Queue: 64}, Link{MTU: 1400})
			link := simlink.Link{Rate: gigabit / 10, Queue: 2 * time.Millisecond, Delay: 500 * time.Microsecond}
			w.Fate = func(src, _ int, packet []byte, now time.Duration) []time.Duration {
				if cut(src) && now > time.Second && now < 3*time.Second {
					return nil
				}
				if src == 1 {
					return []time.Duration{now + 500*time.Microsecond}
				}
				if at, ok := link.Pass(len(packet), now); ok {
					return []time.Duration{at}
				}
				return nil
			}
			var sent, taken int
			var data []byte // of the next message
			w.ranks[0].feed = func(n *node) {
				for w.Now < 4*time.Second {
					if data == nil {
						data = payload(uint64(sent), 12+w.r.IntN(20_000))
					}
					st := n.e.Send(1, Message{ID: uint64(sent), Data: data}, w.Now)
					if st >= Full {
						return
					}
					data = nil
					sent++
					if st == Taken {
						taken++
					}
				}
			}
			w.Run(3500 * time.Millisecond)
			healed := len(w.ranks[1].got)
			w.Run(10 * time.Second)
			w.check(t)
			s := w.ranks[0].e.Stats(1)
			t.Logf("%d messages; resent %d bytes of %d, lost %d; %d timeouts", sent, s.ResentBytes, s.SentBytes, w.lost, s.Timeouts)
			if len(w.ranks[1].got) != sent || w.ranks[0].ends != taken || len(w.ranks[0].died)+len(w.ranks[1].died) > 0 {
				t.Errorf("%d of %d messages came, %d of %d ended", len(w.ranks[1].got), sent, w.ranks[0].ends, taken)
			}
			if healed == 0 || s.Timeouts == 0 || s.ResentBytes > w.lost*3/2+100*1400 {
				t.Errorf("%d messages half a second after the cut; %d bytes resent, %d lost", healed, s.ResentBytes, w.lost)
			}
		})
	}
}

// TestBurstLoss loses 2 ms of packets every 50 ms, 40 times, or 10 with -short.
func TestBurstLoss(t *testing.T) {
	span := 2 * time.Second
	if testing.Short() {
		span /= 4
	}
	w := newWorld(t, 1, 2, Config{Queue: 64}, Link{MTU: 1400})
	link := simlink.Link{Rate: gigabit, Queue: 2 * time.Millisecond, Delay: 500 * time.Microsecond}
	w.Fate = func(src, _ int, packet []byte, now time.Duration) []time.Duration {
		at, ok := now+500*time.Microsecond, true
		if src == 0 {
			at, ok = link.Pass(len(packet), now)
		}
		if !ok || now%(50*time.Millisecond) > 48*time.Millisecond {
			return nil
		}
		return []time.Duration{at}
	}
	w.ranks[0].feed, w.ranks[1].count, w.ranks[0].count = flood(1, 64<<10), true, true
	w.Run(span)
	w.check(t)
	got, s := float64(w.ranks[1].bytes[0])/span.Seconds(), w.ranks[0].e.Stats(1)
	t.Logf("%.1f MB/s, resent %d bytes for %d lost", got/1e6, s.ResentBytes, w.lost)
	if got < gigabit/2 || s.ResentBytes > w.lost*3/2 {
		t.Errorf("%.0f bytes a second; %d bytes resent for %d lost", got, s.ResentBytes, w.lost)
	}
}

// TestSilentPeerDies cuts the link for good: both sides learn of it in time, and every message ends, once.
func TestSilentPeerDies(t *testing.T) {
	w := newWorld(t, 1, 2, Config{DeadAfter: 3 * time.Second}, Link{MTU: 1400})
	w.Fate = func(_, _ int, _ []byte, now time.Duration) []time.Duration {
		if now > time.Millisecond {
			return nil
		}
		return []time.Duration{now + 100*time.Microsecond}
	}
	a, b := w.ranks[0], w.ranks[1]
	for i := range uint64(50) {
		if st := a.e.Send(1, Message{ID: i, Data: payload(i, 100_000)}, 0); st != Taken {
			t.Fatal(st)
		}
	}
	w.Run(2900 * time.Millisecond)
	if len(a.died)+len(b.died) > 0 {
		t.Error("died too soon")
	}
	w.Run(3100 * time.Millisecond)
	w.check(t)
	if len(a.died) != 1 || len(b.died) != 1 || len(a.ended) != 50 {
		t.Errorf("%v and %v died, %d messages ended", a.died, b.died, len(a.ended))
	}
	if !errors.Is(a.ended[49], ErrSilent) {
		t.Errorf("the last message ended with %v", a.ended[49])
	}
	if st := a.e.Send(1, Message{}, w.Now); st != Gone || a.e.NextTimer() != never {
		t.Errorf("afterwards: %v, timer %v", st, a.e.NextTimer())
	}
	if err := a.e.Add(1, Link{MTU: 1400}, w.Now); err != nil {
		t.Error(err)
	}
}

// TestIdlePeersStayAlive lets two ranks be idle for long, and one of them away for longer than the limit.
func TestIdlePeersStayAlive(t *testing.T) {
	w := newWorld(t, 1, 2, Config{}, Link{MTU: 1400})
	w.Fate = func(_, _ int, _ []byte, now time.Duration) []time.Duration {
		return []time.Duration{now + 100*time.Microsecond}
	}
	w.ranks[0].e.Send(1, Message{Data: payload(1, 100)}, 0)
	w.Run(time.Minute)
	w.Now += time.Minute
	w.Run(3 * time.Minute)
	w.check(t)
	if n := len(w.ranks[0].died) + len(w.ranks[1].died); n > 0 {
		t.Errorf("%d died", n)
	}
	if s := w.ranks[0].e.Stats(1); s.Acks < 100 {
		t.Errorf("%d packets in 3 minutes keep nobody alive", s.Acks)
	}
}

// TestBeyondTheWindow has a peer send where it may not, and acknowledge what was not sent.
func TestBeyondTheWindow(t *testing.T) {
	w := newWorld(t, 1, 2, Config{}, Link{MTU: 1400})
	w.Fate = func(int, int, []byte, time.Duration) []time.Duration { return nil }
	n := w.ranks[0]
	n.count = true
	p := n.e.peers.peerAt(1)
	b := make([]byte, headerSize+fragHeader+1)
	r := record{kind: kindFrag, data: []byte{1}}
	r.putRecord(b[headerSize:])
	for _, c := range []struct {
		seq, ack uint32
		want     Stats
	}{
		{p.want + Window, p.next - 1, Stats{Beyond: 1}},
		{p.want, p.next, Stats{Beyond: 1, Malformed: 1}},
		{p.want + Window - 1, p.next - 1, Stats{Beyond: 1, Malformed: 1, Received: 1}},
		{p.want + Window - 1, p.next - 1, Stats{Beyond: 1, Malformed: 1, Received: 1, Duplicates: 1}},
		{p.want - 1, p.next - 1, Stats{Beyond: 1, Malformed: 1, Received: 1, Duplicates: 2}},
	} {
		h := header{flags: flagSegment, seq: c.seq, ack: c.ack, size: fragHeader + 1}
		h.putHeader(b)
		n.e.Incoming(1, b, 0)
		if p.stats != c.want {
			t.Errorf("segment %d, ack %d: %+v, want %+v", c.seq, c.ack, p.stats, c.want)
		}
	}
}
