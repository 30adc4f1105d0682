package conformance

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
)

// long is a sleep that only a wake-up ends: a lost one shows as a test that hangs until patience is over.
const long = 10 * patience

// onceAsked is a condition that never holds. It calls f when it is asked first: the sleeper is then armed.
func onceAsked(f func()) (ready func() bool) {
	first := sync.OnceFunc(f)
	return func() bool {
		first()
		return false
	}
}

func testSleepTimesOut(t suite, cs []conduit.Conduit) {
	for _, d := range []time.Duration{-1, 0, 1, time.Microsecond, 3 * time.Millisecond} {
		if !cs[0].Sleep(d, nil) {
			t.Errorf("Sleep(%v) = false", d)
		}
	}
}

func testSleepSeesReady(t suite, cs []conduit.Conduit) {
	asks := func(what string, d time.Duration, answer bool) {
		t.Helper()
		calls := 0
		if !cs[0].Sleep(d, func() bool { calls++; return answer }) || calls != 1 {
			t.Errorf("%s: Sleep called ready %d times", what, calls)
		}
	}
	asks("nothing pending", long, true)
	asks("no time to sleep", 0, false)
	send(t, cs[0], &sink{t: t}, 0, conduit.Request, 64, 0)
	asks("a record pending", long, false)
	asks("a record pending", long, true)
	if !cs[0].Sleep(long, nil) {
		t.Error("Sleep with a record pending = false")
	}
}

// testSleepBesideReserved: places that were reserved and are never committed are no reason to leave ready out.
func testSleepBesideReserved(t suite, cs []conduit.Conduit) {
	for i := range t.rounds(200) {
		class := []conduit.Class{conduit.Request, conduit.Reply, conduit.System}[i%3]
		for k := range 2 {
			from := (i + k) % 2 // which of the two drops what it reserved the round before first
			if _, st := cs[from].Reserve(1, class, 24+i%100*4); st == conduit.Dead {
				t.Fatalf("rank %d to 1: %v", from, cs[from].Failed(1))
			}
		}
		calls := 0
		if !cs[1].Sleep(long, func() bool { calls++; return true }) || calls != 1 {
			t.Fatalf("round %d: Sleep called ready %d times", i, calls)
		}
		if n := cs[1].Poll(16, &sink{t: t}); n != 0 {
			t.Fatalf("round %d: %d records of places given up", i, n)
		}
	}
}

// await polls until n things have come, sleeping in between without limit.
func await(t testing.TB, c conduit.Conduit, s conduit.Sink, n int) {
	w := newWaiter(t, "a wake-up of rank %d", c.Rank())
	stop := watchdog(w)
	defer stop()
	for n > 0 {
		if k := c.Poll(16, s); k > 0 {
			n -= k
			continue
		}
		c.Sleep(long, nil)
	}
}

// watchdog reports a hang of a goroutine that cannot look at the clock.
func watchdog(w *waiter) (stop func()) {
	timer := time.AfterFunc(patience, func() { w.end = time.Time{}; w.n = 999; w.pause() })
	return func() { timer.Stop() }
}

func testSleepWakes(t suite, cs []conduit.Conduit) {
	for i := range uint64(20) {
		var wg sync.WaitGroup
		armed := make(chan struct{})
		wg.Go(func() {
			for asked := onceAsked(func() { close(armed) }); !cs[1].Sleep(long, asked); {
				t.Error("Sleep = false")
			}
			await(t, cs[1], &sink{t: t}, 1)
		})
		<-armed
		send(t, cs[0], &sink{t: t}, 1, conduit.Request, 64, i)
		wg.Wait()
	}
}

// testNoLostWakeUp plays ping-pong in which both sides sleep as soon as nothing is there.
func testNoLostWakeUp(t suite, cs []conduit.Conduit) {
	trips := t.rounds(5000)
	var wg sync.WaitGroup
	for i, c := range cs {
		wg.Go(func() {
			s := &sink{t: t}
			for k := range uint64(trips) {
				if i == 1 {
					await(t, c, s, 1)
				}
				send(t, c, s, 1-i, conduit.Request, 24, k)
				if i == 0 {
					await(t, c, s, 1)
				}
				s.recs = s.recs[:0]
			}
		})
	}
	wg.Wait()
}

func testWakeFromOutside(t suite, cs []conduit.Conduit) {
	last := int64(t.rounds(3000)) &^ 1
	var turn atomic.Int64
	var wg sync.WaitGroup
	wg.Go(func() {
		for k := int64(1); k <= last; k += 2 {
			for w := newWaiter(t, "turn"); turn.Load() != k; {
				w.pause()
			}
			turn.Add(1)
			cs[0].Wake()
		}
	})
	stop := watchdog(newWaiter(t, "Wake"))
	defer stop()
	for k := int64(0); k < last; k += 2 {
		turn.Add(1)
		for turn.Load() == k+1 {
			if !cs[0].Sleep(long, func() bool { return turn.Load() != k+1 }) {
				t.Error("Sleep = false")
			}
		}
	}
	wg.Wait()
	cs[0].Wake()
}

func testOneSleeper(t suite, cs []conduit.Conduit) {
	armed, done := make(chan struct{}), make(chan struct{})
	var awake atomic.Bool
	go func() {
		defer close(done)
		var once sync.Once
		for !awake.Load() {
			cs[0].Sleep(long, func() bool { once.Do(func() { close(armed) }); return awake.Load() })
		}
	}()
	<-armed
	if cs[0].Sleep(long, nil) && !awake.Load() {
		// The first may have come back early and be on its way to sleep again; then the second one slept and was woken
		// by nothing but chance, which long excludes.
		t.Error("two goroutines sleep at once")
	}
	awake.Store(true)
	for w := newWaiter(t, "the sleeper"); ; {
		cs[0].Wake()
		select {
		case <-done:
			return
		default:
			w.pause()
		}
	}
}

func testCloseWhileAsleep(t suite, cs []conduit.Conduit) {
	armed, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for asked := onceAsked(func() { close(armed) }); cs[1].Sleep(long, asked); {
			continue
		}
	}()
	<-armed
	if err := cs[1].Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	stop := watchdog(newWaiter(t, "the sleeper after Close"))
	<-done
	stop()
	if err := cs[1].Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if _, st := cs[1].Reserve(0, conduit.Request, 64); st != conduit.Dead {
		t.Errorf("Reserve after Close: %v", st)
	}
	if n, _ := cs[1].BulkSend(0, 1, 0, make([]byte, 8), nil); n != -1 {
		t.Errorf("BulkSend after Close: %d", n)
	}
	if err := cs[1].Failed(0); !errors.Is(err, conduit.ErrClosed) {
		t.Errorf("Failed after Close: %v", err)
	}
	if cs[1].Pending() || cs[1].Poll(10, &sink{t: t}) != 0 || cs[1].Sleep(long, nil) {
		t.Error("a closed conduit has something to poll")
	}
	cs[1].Commit(0, 64)
	cs[1].Wake()
}

func testClosedPeer(t suite, cs []conduit.Conduit) {
	y, s := newTallied(t, cs[1])
	sent := fillUp(t, cs[0], 1, constant(100), 0)
	checkClose(t, cs[0])
	stop := watchdog(newWaiter(t, "news of the closed peer"))
	defer stop()
	for cs[1].Failed(0) == nil || total(y) < uint64(sent) {
		if cs[1].Poll(3, s) <= 0 {
			cs[1].Sleep(long, func() bool { return cs[1].Failed(0) != nil })
		}
	}
	y.want(0, sent)
	err := cs[1].Failed(0)
	var pe *conduit.PeerError
	if !errors.Is(err, conduit.ErrPeerClosed) || !errors.As(err, &pe) || pe.Peer != 0 {
		t.Errorf("Failed: %v", err)
	}
	if _, st := cs[1].Reserve(0, conduit.System, 8); st != conduit.Dead {
		t.Errorf("Reserve to a closed peer: %v", st)
	}
	if err := cs[1].Failed(1); err != nil {
		t.Errorf("a rank reaches itself still: %v", err)
	}
}
