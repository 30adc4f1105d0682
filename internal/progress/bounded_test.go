package progress

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/fult"
)

// still is a source to which nothing comes, and that counts what is done with it.
type still struct {
	polls, sleeps int
	polled, slept func() // called in each poll and sleep, if not nil
}

func (s *still) Poll(*fult.Worker) int {
	s.polls++
	if s.polled != nil {
		s.polled()
	}
	return 0
}

func (s *still) Sleep(time.Duration, func() bool) bool {
	s.sleeps++
	if s.slept != nil {
		s.slept()
	}
	return true
}

func (*still) Wake() {}

// tooMany is far above what a wait without spinning time may take.
const tooMany = 1 << 16

// TestServerSleeps: a dedicated server without spinning time sleeps after each poll in vain. One with much polls on.
func TestServerSleeps(t *testing.T) {
	const turns = 10
	for _, spin := range []time.Duration{-1, time.Hour} {
		s := &still{}
		e := New(s, nil, Config{Spin: spin, Dedicated: true})
		e.Serve(func() bool { return s.sleeps == turns || s.polls == tooMany })
		if spin < 0 && (s.sleeps != turns || s.polls != turns) || spin > 0 && s.sleeps != 0 {
			t.Errorf("spinning time %v: %d polls, %d sleeps", spin, s.polls, s.sleeps)
		}
	}
}

// TestServerShares: a server that shares its core gives it away after each sleep.
func TestServerShares(t *testing.T) {
	s, given, before := &still{}, 0, -1
	s.slept = func() { before = given }
	c := Config{Spin: time.Nanosecond, Crowded: true, Dedicated: true, Share: func() { given++ }}
	New(s, nil, c).Serve(func() bool { return s.sleeps > 0 || s.polls == tooMany })
	if s.sleeps != 1 || given != before+1 {
		t.Errorf("%d sleeps; the core was given away %d times before and %d in all", s.sleeps, before, given)
	}
}

// TestBehindServerParks: who waits behind a dedicated server, and has spun in vain, parks. It does not come back before
// the operation has ended. The test completes that when the waiter is parked, or has come back too early.
func TestBehindServerParks(t *testing.T) {
	e := New(&still{}, nil, Config{Spin: -1, Dedicated: true})
	d := new(Done)
	x := want{one: d}
	x.beginWant(newGroup(e, nil))
	early := make(chan bool, 1)
	go func() {
		s := newSpinner(e)
		e.behindServer(&x, &s)
		early <- !d.Ready()
	}()
	until(func() bool { return len(early) > 0 || parked("behindServer") })
	if len(early) > 0 {
		t.Error("the waiter does not park")
	}
	d.Complete(nil)
	if <-early {
		t.Error("the waiter was back before the end")
	}
	x.endWant()
}

// TestLingerUntilEnds: to look for a condition has an end when the spinning time is over, and one at an alarm. Behind a
// dedicated server nobody polls meanwhile.
func TestLingerUntilEnds(t *testing.T) {
	rung := new(Done)
	rung.Finish()
	for _, c := range []struct {
		spin  time.Duration
		alarm *Done
	}{{-1, new(Done)}, {time.Hour, rung}} {
		for _, dedicated := range []bool{false, true} {
			s, looked := &still{}, 0
			e := New(s, nil, Config{Spin: c.spin, Dedicated: dedicated})
			met := e.LingerUntil(func() bool { looked++; return looked == tooMany }, c.alarm)
			if want := map[bool]int{false: 1, true: 0}[dedicated]; met || looked != looks+1 || s.polls != want {
				t.Errorf("spinning time %v, dedicated %v: met %v after %d looks and %d polls", c.spin, dedicated, met,
					looked, s.polls)
			}
		}
	}
}

// TestLingerIsBounded: a thread polls for itself as often as it may, until its operation has ended, and not at all
// where others want the core or a server polls.
func TestLingerIsBounded(t *testing.T) {
	for _, c := range []struct {
		name           string
		dedicated, two bool
		end            int // of the operation: in that poll
		polls          int
	}{
		{"nothing comes", false, false, tooMany, inlinePolls},
		{"it ends", false, false, 3, 3},
		{"a server polls", true, false, 1, 0},
		{"another thread can run", false, true, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := fult.New(fult.Config{Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if s.Kind() != fult.Fult {
				t.Skip("threads are goroutines here")
			}
			d, src := new(Done), &still{}
			src.polled = func() {
				if src.polls == c.end {
					d.Finish()
				}
			}
			e := New(src, s, Config{Dedicated: c.dedicated})
			got := make(chan bool, 1)
			if _, err := s.Go(func(th *fult.Thread) {
				if c.two {
					if _, err := s.Go(func(*fult.Thread) {}); err != nil {
						t.Error(err)
					}
				}
				got <- e.Linger(th, d)
			}); err != nil {
				t.Fatal(err)
			}
			if ended := <-got; ended != (c.polls == c.end) || src.polls != c.polls {
				t.Errorf("%d polls, want %d; ended: %v", src.polls, c.polls, ended)
			}
		})
	}
}

// parked reports whether a goroutine blocks in a call of park by a function of that name.
func parked(caller string) bool {
	for _, g := range goroutines() {
		if strings.Contains(g, "[chan receive") && strings.Contains(g, ").parkFor(") && strings.Contains(g, caller) {
			return true
		}
	}
	return false
}

// goroutines are the stacks of all.
func goroutines() []string {
	buf := make([]byte, 1<<20)
	return strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
}
