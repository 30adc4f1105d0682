package comm

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/test/fault"
	"github.com/golci/golci/internal/transport/credit"
	"github.com/golci/golci/internal/transport/local"
)

// cuttable is a job whose ranks can be cut off from one another.
func cuttable(t *testing.T, n int, cc conduit.Config, cfg Config, below ...func(*am.Config)) (job, []*fault.Conduit) {
	t.Helper()
	cs, err := local.New(n, cc)
	if err != nil {
		t.Fatal(err)
	}
	fs := make([]*fault.Conduit, n)
	for i, c := range cs {
		fs[i] = fault.New(c, fault.Config{Seed: uint64(i)})
		cs[i] = fs[i]
	}
	return jobOver(t, cs, cfg, below...), fs
}

// TestPeerFailsAmongMany: operations of all kinds end once when their peer fails. There are sends in the queue, sends
// that wait for an answer, and receives of both kinds. Some are cancelled meanwhile, and several goroutines poll.
func TestPeerFailsAmongMany(t *testing.T) {
	for round := range 30 {
		j, fs := cuttable(t, 2, conduit.Config{TinyQueues: true}, Config{})
		s := j[0]
		var rs []Req
		for i := range 40 {
			mode := Mode(i % 2)
			q, err := s.Isend(1, 1, i, make([]byte, 1+i*500), &Options{Form: Nonblocking, Mode: mode})
			if err != nil {
				t.Fatal(err)
			}
			r, err := s.Irecv(1, 1, i, make([]byte, 8), nil)
			if err != nil {
				t.Fatal(err)
			}
			wild, err := s.Irecv(2, 1, AnyTag, make([]byte, 8), nil)
			if err != nil {
				t.Fatal(err)
			}
			rs = append(rs, q, r, wild)
		}
		for range round {
			j[1].Poll()
			s.Poll()
		}
		j.run(t, func(x *Server) error {
			if x != s {
				return nil
			}
			var wg sync.WaitGroup
			wg.Go(func() { fs[0].Cut(1) })
			errs := make([]error, 4)
			for k := range errs {
				wg.Go(func() { errs[k] = endAll(s, rs, k, len(errs)) })
			}
			wg.Wait()
			return errors.Join(errs...)
		})
		if n := s.ids.Used(); n != 0 {
			t.Errorf("round %d: %d numbers are left", round, n)
		}
	}
}

// endAll cancels some of every step-th of rs, from one on, and waits for them.
func endAll(s *Server, rs []Req, from, step int) error {
	for i := from; i < len(rs); i += step {
		if i%7 == 0 {
			s.Cancel(rs[i])
		}
		_, err := s.Wait(rs[i])
		if err != nil && !errors.Is(err, ErrPeer) && !errors.Is(err, ErrCancelled) {
			return fmt.Errorf("operation %d: %w", i, err)
		}
		if err == nil && i%3 != 0 {
			return fmt.Errorf("operation %d, a receive, has ended without an error", i)
		}
	}
	return nil
}

// TestWaitForWildcardAmongPolls: a wait for a receive with a wildcard must not read what pollers write when they match
// it.
func TestWaitForWildcardAmongPolls(t *testing.T) {
	j := newJob(t, 2, conduit.Config{}, Config{})
	rounds := fewer(2000)
	posted, stop := make(chan int), make(chan struct{})
	j.run(t, func(s *Server) error {
		if s.rank == 0 {
			for tag := range posted {
				if err := s.Send(1, 1, tag, nil, nil); err != nil {
					return err
				}
			}
			return nil
		}
		defer close(posted)
		defer close(stop)
		go func() {
			for {
				select {
				case <-stop:
					return
				default:
					s.Poll()
				}
			}
		}()
		for tag := range rounds {
			r, err := s.Irecv(1, AnySource, AnyTag, nil, nil)
			if err != nil {
				return err
			}
			posted <- tag
			if st, err := s.Wait(r); err != nil || st.Source != 0 || st.Tag != tag {
				return fmt.Errorf("round %d: %+v, %v", tag, st, err)
			}
		}
		return nil
	})
}

// TestMalformedMessages: what a peer says of operations is checked before it is used.
func TestMalformedMessages(t *testing.T) {
	for name, send := range map[string]func(s *Server, id uint64){
		"reserved context": func(s *Server, _ uint64) {
			s.e.PostUrgent(1, handlerEager, ^uint64(0)&^(0xfffff<<tagBits))
		},
		"source of another rank": func(s *Server, _ uint64) { s.e.PostUrgent(1, handlerEager, makeKey(1, 1, 3)) },
		"copied what is not":     func(s *Server, id uint64) { s.e.PostUrgent(1, handlerCopied, id, 0) },
		"retracted a receive":    func(s *Server, id uint64) { s.e.PostUrgent(1, handlerRetracted, id) },
		"answer to a receive":    func(s *Server, id uint64) { s.e.PostUrgent(1, handlerCTS, id, 1, 0) },
		"go for a receive":       func(s *Server, id uint64) { s.e.PostUrgent(1, handlerGo, id, 1, 0, 1, 1, 1) },
		"bulk far off":           func(s *Server, id uint64) { bulk(s, id, math.MaxInt64-3, 8) },
		"bulk before":            func(s *Server, id uint64) { bulk(s, id, -8, 8) },
		"bulk twice": func(s *Server, id uint64) {
			bulk(s, id, 0, 6<<10)
			bulk(s, id, 4<<10, 6<<10) // within the message, but more than is left of it
		},
		"bulk too long": func(s *Server, id uint64) { bulk(s, id, 0, 20<<10) },
	} {
		t.Run(name, func(t *testing.T) {
			var fatal []error
			j := newJob(t, 2, conduit.Config{}, Config{}, fatalTo(func(err error) { fatal = append(fatal, err) }))
			// A receive at rank 1 whose bytes rank 0 was asked for.
			r, err := j[1].Irecv(1, 0, 3, make([]byte, 10<<10), nil)
			if err != nil {
				t.Fatal(err)
			}
			j[0].e.PostUrgent(1, handlerRTS, makeKey(1, 0, 3), 10<<10, 1<<40, 0, 0)
			j[1].Poll()
			if r.o.id == 0 {
				t.Fatal("the receive has no number")
			}
			send(j[0], r.o.id)
			for range 100 {
				j[0].Poll()
				j[1].Poll()
			}
			if len(fatal) != 1 || !errors.Is(fatal[0], ErrProtocol) {
				t.Errorf("%v", fatal)
			}
			if r.Ready() {
				t.Error("the receive has ended")
			}
		})
	}
}

// bulk sends n bytes that nobody has asked for in this way.
func bulk(s *Server, id uint64, off int64, n int) {
	s.e.PutBulk(1, &am.Bulk{ID: id, Off: off, Data: make([]byte, n), Owner: nobody{}})
}

// nobody is an owner that needs not be told.
type nobody struct{}

func (nobody) Sent(*fult.Worker)        {}
func (nobody) Fail(error, *fult.Worker) {}

// TestCreditsOfADeadPeer: nothing is asked back of a peer that has died.
func TestCreditsOfADeadPeer(t *testing.T) {
	j, fs := cuttable(t, 3, conduit.Config{Loan: 100, MaxRecord: 1024}, Config{}, func(c *am.Config) {
		c.Credits = credit.Config{
			PerPeer: 20, Min: 4, Bank: 10, Max: 60, LenderLimit: 32, RevokeLimit: 32, Scavenge: 4, Patience: 64, Epoch: 64,
		}
	})
	s := j[0]
	listed := func(peer int) bool { return s.e.Credits().Peers[peer].Lent.Listed }
	if !listed(1) || !listed(2) {
		t.Fatal("what is lent beyond the least cannot be asked back")
	}
	r, err := s.Irecv(1, 1, 0, make([]byte, 8), nil)
	if err != nil {
		t.Fatal(err)
	}
	fs[0].Cut(1)
	if _, err := s.Wait(r); !errors.Is(err, ErrPeer) {
		t.Errorf("a receive from the dead: %v", err)
	}
	if listed(1) || !listed(2) {
		t.Errorf("of the dead may be asked back: %v, of the living: %v", listed(1), listed(2))
	}
	if err := s.e.CheckCredits(); err != nil {
		t.Error(err)
	}
}
