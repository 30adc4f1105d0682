package nic

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/golci/golci/internal/transport/udp/mmsg"
)

// wire is a path in virtual time: what is larger than passes is lost, what is larger than kernel is refused. Each
// datagram's fate is told 10 ms after it was sent.
type wire struct {
	t      *testing.T
	m      *MTU
	now    time.Duration
	kernel int
	passes int
	loss   float64 // of those that would pass
	dice   *rand.Rand
	probes []int
}

// leastSize is the least that a user of the tests needs.
const leastSize = 548

func newWire(t *testing.T, kernel int) *wire {
	const seed = 5
	return &wire{t: t, m: NewMTU(kernel, kernel, leastSize), kernel: kernel, passes: kernel, dice: rand.New(rand.NewPCG(seed, seed))}
}

func (w *wire) send(size int) {
	w.now += 10 * time.Millisecond
	switch {
	case size > w.kernel:
		w.m.TooBig(size, w.kernel, w.now)
	case size > w.passes || w.dice.Float64() < w.loss:
		w.m.TimedOut(size, w.now)
	default:
		w.m.Arrived(size, w.now)
	}
}

// traffic sends n datagrams as large as allowed, each with small ones, and the probes asked for.
func (w *wire) traffic(n, small int) {
	w.t.Helper()
	for range n {
		w.send(w.m.Payload())
		for range small {
			w.send(100)
		}
		if size, ok := w.m.Probe(w.now); ok {
			if size <= w.m.Payload() {
				w.t.Fatalf("probe of %d with %d in use", size, w.m.Payload())
			}
			w.probes = append(w.probes, size)
			w.send(size)
		}
	}
}

func (w *wire) want(payload int) {
	w.t.Helper()
	if got := w.m.Payload(); got != payload {
		w.t.Fatalf("at %v: %d bytes, want %d", w.now, got, payload)
	}
}

// TestKernelIsBelieved: jumbo frames are used at once, and nothing changes while all goes well.
func TestKernelIsBelieved(t *testing.T) {
	for _, size := range []int{mmsg.MaxPayload, 8972, 1472, mmsg.SafePayload, 548} {
		w := newWire(t, size)
		w.traffic(1000, 1)
		w.want(size)
		if _, ok := w.m.nextProbe(); ok || len(w.probes) > 0 {
			t.Errorf("%d: probes %v", size, w.probes)
		}
	}
}

// TestRouterComplains: the kernel learns a smaller MTU, and says it; later it forgets, and the old size is found again.
func TestRouterComplains(t *testing.T) {
	w := newWire(t, 8972)
	w.kernel = 1372
	w.traffic(3, 1)
	w.want(1372)
	w.traffic(100, 1)
	w.want(1372)
	w.kernel = 8972
	w.traffic(2000, 1)
	w.want(8972)
}

// TestRefusedAndNotTold: the kernel refuses what it says would fit.
func TestRefusedAndNotTold(t *testing.T) {
	m := NewMTU(8972, 8972, leastSize)
	for _, c := range []struct {
		size, says, want int
		ok               bool
	}{
		{8972, 8972, 4304, true},
		{1000, 0, leastSize, true},
		{mmsg.SafePayload, 9000, leastSize, true},
		{leastSize + 1, 500, leastSize, true},
		{leastSize, 0, leastSize, false},
		{100, 0, leastSize, false},
	} {
		if ok := m.TooBig(c.size, c.says, 0); ok != c.ok || m.Payload() != c.want {
			t.Fatalf("%d refused, %d told: %v, %d, want %v, %d", c.size, c.says, ok, m.Payload(), c.ok, c.want)
		}
	}
}

// TestTheKernelIsNotBelievedBelowTheLeast: whatever it says at the start, later, or after losses.
func TestTheKernelIsNotBelievedBelowTheLeast(t *testing.T) {
	for _, says := range []int{524, 496, 40, 0, -1} {
		m := NewMTU(says, 1472, leastSize)
		if m.Payload() != leastSize {
			t.Errorf("%d at the start: %d", says, m.Payload())
		}
		m = NewMTU(1472, 1472, leastSize)
		m.Told(1472, says)
		if m.Payload() != 1472 {
			t.Errorf("%d after losses: %d", says, m.Payload())
		}
		m.TooBig(1472, says, 0)
		if m.Payload() < leastSize || m.Payload() >= 1472 {
			t.Errorf("%d when one is refused: %d", says, m.Payload())
		}
	}
	m := NewMTU(8972, 8972, leastSize)
	for range lostAlone {
		m.TimedOut(8972, 0)
	}
	if m.Told(8972, 1172); m.Payload() != 1172 {
		t.Errorf("1172 after losses: %d", m.Payload())
	}
}

// TestLessThanTheInterface: what the kernel says at the start is where it begins; what the interface takes is found
// in time.
func TestLessThanTheInterface(t *testing.T) {
	w := newWire(t, 8972)
	w.m = NewMTU(552-28, 8972, leastSize)
	w.want(leastSize)
	w.traffic(2000, 1)
	w.want(8972)
}

// TestBlackHole: the kernel says 9000, a link on the way takes 1500, nobody tells.
func TestBlackHole(t *testing.T) {
	for name, small := range map[string]int{"with small ones": 1, "large ones only": 0} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, 8972)
			w.passes = 1472
			w.traffic(2*lostAlone, small)
			w.want(1452)
			w.traffic(5, small)
			w.want(1452)
		})
	}
}

// TestWorstPath: only what fits everywhere passes, and what fits everywhere is not made smaller.
func TestWorstPath(t *testing.T) {
	w := newWire(t, mmsg.MaxPayload)
	w.passes = mmsg.SafePayload
	w.traffic(8*lostWithOthers, 1)
	w.want(mmsg.SafePayload)
	w.passes = 0
	w.traffic(100, 1)
	w.want(leastSize)
}

// TestDeadPeer: while nothing arrives at all, it is not the size; it goes down slowly.
func TestDeadPeer(t *testing.T) {
	w := newWire(t, 8972)
	w.passes = 0
	w.traffic(lostAlone-1, 5)
	w.want(8972)
}

// TestBadNetwork: losses of all sizes alike do not make datagrams small.
func TestBadNetwork(t *testing.T) {
	w := newWire(t, 8972)
	w.loss = 0.1
	w.traffic(20_000, 2)
	w.want(8972)
}

// TestUpAgain: when the bad link is gone the old size comes back, step by step.
func TestUpAgain(t *testing.T) {
	w := newWire(t, 8972)
	w.passes = 1452
	w.traffic(100, 1)
	w.want(1452)
	if len(w.probes) != 0 {
		t.Fatalf("probes %v at once", w.probes)
	}
	w.passes = 8972
	w.traffic(1000, 1)
	w.want(8972)
	if want := []int{4304, 8972}; !slices.Equal(w.probes, want) {
		t.Errorf("probes %v", w.probes)
	}
}

// TestProbesBecomeRare while they fail, and never stop.
func TestProbesBecomeRare(t *testing.T) {
	w := newWire(t, 8972)
	w.passes = 1452
	w.traffic(100, 1)
	last, pause := w.now, time.Duration(0)
	for range 20 {
		at, ok := w.m.nextProbe()
		if !ok || at <= last || at-last < pause || at-last > maxPause+time.Second {
			t.Fatalf("next probe at %v, %v; the last was at %v, the pause %v", at, ok, last, pause)
		}
		if _, early := w.m.Probe(at - 1); early {
			t.Fatal("probe before its time")
		}
		w.now = at
		size, ok := w.m.Probe(at)
		if !ok || size != 4304 {
			t.Fatalf("probe of %d, %v", size, ok)
		}
		pause, last = at-last-time.Second, at
		w.send(size)
	}
	if pause < maxPause-2*time.Second {
		t.Errorf("the last pause was %v", pause)
	}
	w.want(1452)
}

// TestStragglers: what was sent before a step down and is given up after it is no failed probe; if it does arrive, it
// counts.
func TestStragglers(t *testing.T) {
	w := newWire(t, 8972)
	w.passes = 1472
	w.traffic(100, 1)
	before, _ := w.m.nextProbe()
	for range 50 {
		w.m.TimedOut(8972, w.now)
		w.m.TimedOut(4304, w.now)
	}
	if after, _ := w.m.nextProbe(); after != before {
		t.Errorf("the next probe moved from %v to %v", before, after)
	}
	w.m.Arrived(8000, w.now)
	w.want(4304)
	w.m.Arrived(8972, w.now)
	w.want(8972)
}

// TestOtherPayloadsSayNothing: small datagrams that are lost do not make the large ones small.
func TestOtherPayloadsSayNothing(t *testing.T) {
	m := NewMTU(8972, 8972, leastSize)
	for range 1000 {
		m.TimedOut(1000, 0)
		m.Arrived(100, 0)
	}
	if m.Payload() != 8972 {
		t.Error(m.Payload())
	}
}
