package fult

import (
	"runtime"
	"testing"
	"time"
)

// crowdedOf makes a scheduler of workers that share cores. They do not run; the test owns them.
func crowdedOf(t *testing.T, workers int) *Scheduler {
	s, err := New(Config{Workers: workers, Crowded: true, coroutines: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestIdleWorkerGivesWay: a worker that polls in vain lets others run if workers share cores. It does so at each turn
// while another one has work, else now and then.
func TestIdleWorkerGivesWay(t *testing.T) {
	s := crowdedOf(t, 3)
	w, other := s.workers[0], s.workers[2]
	check := func(when string, want bool) {
		t.Helper()
		w.idleTurns = 1
		if w.givesWay() != want || w.OthersWork() != want {
			t.Errorf("%s: gives way: %v", when, !want)
		}
		if w.idleTurns = yieldEvery; !w.givesWay() {
			t.Errorf("%s: never gives way", when)
		}
	}
	check("nobody has work", false)
	w.noteWork()
	check("only it has work itself", false)
	other.noteWork()
	check("another one works", true)
	other.noteIdle()
	check("the other one has ended", false)
	other.queue.pushJob(new(job), true)
	check("a thread is to start", true)
	other.parkAs(onFutex)
	check("its worker sleeps", false)
	other.wakeWorker()
	check("its worker has been woken", true)
	other.queue.popJob()
	for _, at := range []int{0, 3, groupsPerWorker - 1} {
		g := new(group)
		other.groups[at].Store(g)
		th := &g.threads[5]
		th.w, th.grp, th.slot = other, g, uint32(at*groupSize+5)
		th.raiseThread()
		check("a thread has been signalled", true)
		other.level2.take2(at / wordBits)
		g.takeWord(0)
		check("the signal has been taken", false)
	}
	w.crowded = false
	other.busy.Store(true)
	if w.idleTurns = yieldEvery; w.givesWay() || w.OthersWork() {
		t.Error("gives way with a core of its own")
	}
}

// TestWorkerSaysThatItWorks: a worker counts as working while a thread of it runs, and not when it is idle.
func TestWorkerSaysThatItWorks(t *testing.T) {
	s := crowdedOf(t, 2)
	for i, w := range s.workers {
		join(t, mustGoOn(t, s, i, func(*Thread) {
			if !w.busy.Load() {
				t.Errorf("worker %d does not say that it works", i)
			}
		}))
		for w.busy.Load() || w.parked.Load() == awake {
			runtime.Gosched()
		}
	}
}

// TestOthersPoll: a worker relies on another one's polling if that is awake and has polled since the last question.
func TestOthersPoll(t *testing.T) {
	s := crowdedOf(t, 2)
	w, other := s.workers[0], s.workers[1]
	check := func(when string, want bool) {
		t.Helper()
		if w.othersPoll() != want {
			t.Errorf("%s: relies on it: %v", when, !want)
		}
	}
	other.noteProgress()
	check("it has polled", true)
	check("it computes", false)
	other.noteProgress()
	check("it polls again", true)
	other.noteProgress()
	other.parkAs(onFutex)
	check("it sleeps", false)
	other.wakeWorker()
	check("it has been woken", true)
	other.unparkSelf()
	w.crowded = false
	other.noteProgress()
	check("both have cores", false)
}

// TestLastOneAwakeDoesNotNap: of workers that each see the other poll, and go to sleep, one stays to sleep in the
// Poller.
func TestLastOneAwakeDoesNotNap(t *testing.T) {
	s := crowdedOf(t, 2)
	s.workers[1].parkAs(onFutex)
	s.workers[0].napFor(time.Hour, true) // returns at once, or the test hangs
	if n := s.sleepers.Load(); n != 1 {
		t.Errorf("%d sleepers, want the other one", n)
	}
	s.workers[1].unparkSelf()
}

// TestSleepersAreCountedOnce: whoever wakes a worker counts it out, and the worker does not do so again.
func TestSleepersAreCountedOnce(t *testing.T) {
	s := crowdedOf(t, 2)
	if err := s.SetPoller(newCounting()); err != nil {
		t.Fatal(err)
	}
	w := s.workers[1]
	check := func(when string, want int32) {
		t.Helper()
		if n := s.sleepers.Load(); n != want {
			t.Errorf("%s: %d sleepers, want %d", when, n, want)
		}
	}
	for _, state := range []uint32{onFutex, inPoller} {
		w.parkAs(state)
		check("asleep", 1)
		w.wakeWorker()
		check("woken", 0)
		w.wakeWorker()
		check("woken again", 0)
		if !w.unparkSelf() {
			t.Error("nobody has woken it")
		}
		check("awake", 0)
		w.parkAs(state)
		if w.unparkSelf() {
			t.Error("somebody has woken it")
		}
		check("awake by itself", 0)
	}
}

// TestBusyWorkerYields: a worker that runs threads yields its core after every timersEvery words of them, if another
// worker has work.
func TestBusyWorkerYields(t *testing.T) {
	s := crowdedOf(t, 2)
	w, other := s.workers[0], s.workers[1]
	check := func(when string, want uint) {
		t.Helper()
		w.yields = 0
		for range 3 * timersEvery {
			w.onTick()
		}
		if w.yields != want {
			t.Errorf("%s: %d yields, want %d", when, w.yields, want)
		}
	}
	check("nobody else has work", 0)
	other.noteWork()
	check("another one works", 3)
	w.crowded = false
	check("with a core of its own", 0)
}

// TestIdleWorkerYields: an idle worker yields at each turn while another one has work.
func TestIdleWorkerYields(t *testing.T) {
	s := crowdedOf(t, 2)
	w, other := s.workers[0], s.workers[1]
	w.spin = time.Hour // it never sleeps
	const turns = 5
	check := func(when string, want uint) {
		t.Helper()
		w.yields = 0
		for range turns {
			w.idleTurn()
		}
		if w.yields != want {
			t.Errorf("%s: %d yields in %d turns, want %d", when, w.yields, turns, want)
		}
	}
	check("nobody has work", 0)
	other.noteWork()
	check("another one works", turns)
	w.crowded = false
	check("with a core of its own", 0)
}

// sleepless is a Poller that counts its sleeps and returns from them at once.
type sleepless struct{ sleeps int }

func (p *sleepless) Poll(*Worker) int { return 0 }
func (p *sleepless) Wake()            {}

func (p *sleepless) Sleep(time.Duration, func() bool) bool {
	p.sleeps++
	return true
}

// TestSleepBesideOthers: a worker sleeps on its futex while another one polls on the same cores, and soon looks again.
// If that one computes by then, or sleeps, the worker sleeps in the Poller.
func TestSleepBesideOthers(t *testing.T) {
	s := crowdedOf(t, 2)
	p := new(sleepless)
	if err := s.SetPoller(p); err != nil {
		t.Fatal(err)
	}
	w, other := s.workers[0], s.workers[1]
	check := func(when string, want int) {
		t.Helper()
		if p.sleeps != want {
			t.Errorf("%s: %d sleeps in the Poller, want %d", when, p.sleeps, want)
		}
		p.sleeps = 0
	}
	other.noteProgress()
	w.sleepFor(time.Hour) // the test hangs if that is more than besideSleep
	check("another one polls", 0)
	w.spin, w.idleSince = time.Minute, -time.Hour // it has spun for long enough, if it does not begin again
	w.idleTurn()
	check("it computes, and the worker does not spin again", 1)
	other.parkAs(onFutex)
	other.noteProgress()
	w.sleepFor(time.Hour)
	check("the other one sleeps", 1)
	other.unparkSelf()
}
