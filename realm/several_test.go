package realm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// several is a task that is spawned after n events.
type several struct {
	rt     *Runtime
	events []UserEvent
	runs   int // of the task; ordered by its finish event
	finish Event
}

func newSeveral(rt *Runtime, n int, opts ...Option) *several {
	s := &several{rt: rt}
	var after []Event
	for range n {
		s.events = append(s.events, rt.NewUserEvent())
		after = append(after, s.events[len(s.events)-1].Event())
	}
	opts = append([]Option{After(after...)}, opts...)
	s.finish = SpawnLocal(rt, rt.CPU(0), func(*Ctx) error { s.runs++; return nil }, opts...)
	return s
}

// idle triggers when the processor has run what was ready.
func idle(rt *Runtime) Event {
	return SpawnLocal(rt, rt.CPU(0), func(*Ctx) error { return nil }, Priority(-1))
}

func (s *several) idle() error { return s.rt.Wait(context.Background(), idle(s.rt)) }

// TestSpawnAfterSeveral: a task runs once, when the last of its events has triggered, however many they are and
// whatever their order.
func TestSpawnAfterSeveral(t *testing.T) {
	err := Run(1, func(rt *Runtime) error {
		for n := 1; n <= inlineMerge+3; n++ {
			for first := range n {
				s := newSeveral(rt, n)
				for i := range n {
					if err := s.idle(); err != nil {
						return err
					}
					if done, err := rt.HasTriggered(s.finish); done || err != nil || s.runs != 0 {
						return fmt.Errorf("%d of %d events: done %v, %d runs, %w", i, n, done, s.runs, err)
					}
					if err := s.events[(first+i)%n].Trigger(NoEvent); err != nil {
						return err
					}
				}
				if err := rt.Wait(context.Background(), s.finish); err != nil || s.runs != 1 {
					return fmt.Errorf("%d events: %d runs, %w", n, s.runs, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestSpawnAfterPoison: the first poison of several events ends a task, which does not wait for the others. What comes
// later has no effect. A task that ignores faults waits for all.
func TestSpawnAfterPoison(t *testing.T) {
	err := Run(1, func(rt *Runtime) error {
		for n := 2; n <= inlineMerge+2; n++ {
			for bad := range n {
				if err := poisonOne(rt, n, bad); err != nil {
					return fmt.Errorf("%d events, the %d-th poisoned: %w", n, bad, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func poisonOne(rt *Runtime, n, bad int) error {
	s, ignoring := newSeveral(rt, n), newSeveral(rt, n, IgnoreFaults())
	for _, x := range []*several{s, ignoring} {
		if err := x.events[bad].Cancel(errTest); err != nil {
			return err
		}
	}
	if err := rt.Wait(context.Background(), s.finish); !errors.Is(err, errTest) {
		return fmt.Errorf("at once: %w", err)
	}
	other := newSeveral(rt, n) // takes the memory of the task that has ended
	if err := other.idle(); err != nil {
		return err
	}
	if done, err := rt.HasTriggered(ignoring.finish); done || err != nil {
		return fmt.Errorf("with IgnoreFaults: done at once, %w", err)
	}
	for _, x := range []*several{s, ignoring} {
		for i, e := range x.events {
			if i == bad {
				continue
			}
			if err := e.Trigger(NoEvent); err != nil {
				return err
			}
		}
	}
	if err := errors.Join(rt.Wait(context.Background(), ignoring.finish), other.idle()); err != nil {
		return err
	}
	if s.runs != 0 || ignoring.runs != 1 || other.runs != 0 {
		return fmt.Errorf("%d runs, %d with IgnoreFaults, %d of another task", s.runs, ignoring.runs, other.runs)
	}
	return other.end()
}

// TestSpawnAfterPoisons: later poisons of the events of a task have no effect, neither on the task, which has ended,
// nor on the one that has taken its memory.
func TestSpawnAfterPoisons(t *testing.T) {
	err := Run(1, func(rt *Runtime) error {
		for n := 2; n <= inlineMerge+2; n++ {
			s := newSeveral(rt, n)
			if err := s.events[0].Cancel(errTest); err != nil {
				return err
			}
			other := newSeveral(rt, n)
			for _, u := range s.events[1:] {
				if err := u.Cancel(ErrCanceled); err != nil {
					return err
				}
			}
			if err := rt.Wait(context.Background(), s.finish); !errors.Is(err, errTest) {
				return fmt.Errorf("the first of %d poisons does not count: %w", n, err)
			}
			if done, err := rt.HasTriggered(other.finish); done || err != nil {
				return fmt.Errorf("%d poisons: another task has ended: %w", n, err)
			}
			if err := other.end(); err != nil || other.runs != 1 {
				return fmt.Errorf("%d poisons: another task has run %d times: %w", n, other.runs, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func (s *several) end() error {
	for _, e := range s.events {
		if err := e.Trigger(NoEvent); err != nil {
			return err
		}
	}
	return s.rt.Wait(context.Background(), s.finish)
}

// TestSpawnAfterOptions: events of several options count together, those that are equal or have triggered too. Each of
// the three events in turn is the last one to trigger.
func TestSpawnAfterOptions(t *testing.T) {
	err := Run(1, func(rt *Runtime) error {
		for last := range 3 {
			if err := afterOptions(rt, last); err != nil {
				return fmt.Errorf("event %d last: %w", last, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func afterOptions(rt *Runtime, last int) error {
	var u [3]UserEvent
	for i := range u {
		u[i] = rt.NewUserEvent()
	}
	a, b, c, over := u[0].Event(), u[1].Event(), u[2].Event(), rt.NewUserEvent()
	if err := over.Trigger(NoEvent); err != nil {
		return err
	}
	var ends []Event
	for _, opts := range [][]Option{
		{After(a, b), After(c)},
		{After(a), After(), After(b, c)},
		{After(a), After(b), Priority(1), After(c)},
		{After(over.Event(), a, a, NoEvent, b, c, a)},
		{After(), After(a, b, c), IgnoreFaults()},
	} {
		ends = append(ends, SpawnLocal(rt, rt.CPU(0), func(*Ctx) error { return nil }, opts...))
	}
	for i := range u {
		if err := errors.Join(u[(last+1+i)%3].Trigger(NoEvent), rt.Wait(context.Background(), idle(rt))); err != nil {
			return err
		}
		for k, e := range ends {
			if done, err := rt.HasTriggered(e); done != (i == 2) || err != nil {
				return fmt.Errorf("case %d with %d events triggered: done %v, %w", k, i+1, done, err)
			}
		}
	}
	return nil
}

// TestPendingNamesSeveral: a task that waits for several events at the end is told as such.
func TestPendingNamesSeveral(t *testing.T) {
	err := Run(1, func(rt *Runtime) error {
		s := newSeveral(rt, 3)
		return s.events[0].Trigger(NoEvent)
	})
	if !errors.Is(err, ErrPending) || !strings.Contains(err.Error(), "several preconditions") {
		t.Errorf("%v", err)
	}
}
