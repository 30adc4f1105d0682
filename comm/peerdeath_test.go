package comm

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/local"
)

// mortal makes two ranks, and what closes the second one's conduit under its server.
func mortal(t *testing.T, cfg Config) (j job, die func()) {
	cs, err := local.New(2, conduit.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return jobOver(t, cs, cfg), func() {
		if err := cs[1].Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestStartedAfterDeath: an operation that names a dead peer ends at once. What the peer had sent is still received.
func TestStartedAfterDeath(t *testing.T) {
	j, die := mortal(t, Config{})
	s := j[0]
	small, large := make([]byte, 8), make([]byte, 1<<20)
	if err := j[1].Send(1, 0, 3, small, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := j[1].Isend(1, 0, 4, large, nil); err != nil {
		t.Fatal(err)
	}
	die()
	for !s.e.Gone(1) {
		s.Poll()
	}
	recv := func(src, tag int, buf []byte) error {
		_, err := s.Recv(1, src, tag, buf, nil)
		return err
	}
	j[:1].run(t, func(*Server) error {
		if err := recv(1, 3, small); err != nil {
			return fmt.Errorf("what came before: %w", err)
		}
		// Before the others: the receive of any tag would take it, too.
		if err := recv(1, 4, large); !errors.Is(err, ErrPeer) || !errors.Is(err, conduit.ErrPeerClosed) {
			return fmt.Errorf("an envelope that came before: %w", err)
		}
		for what, call := range map[string]func() error{
			"a receive":            func() error { return recv(1, 5, small) },
			"a receive of any tag": func() error { return recv(1, AnyTag, small) },
			"a send":               func() error { return s.Send(1, 1, 5, small, nil) },
			"a synchronous send":   func() error { return s.Send(1, 1, 5, small, &Options{Mode: Synchronous}) },
			"a large send":         func() error { return s.Send(1, 1, 5, large, nil) },
			"a probe": func() error {
				_, err := s.Probe(1, 1, 5)
				return err
			},
		} {
			if err := call(); !errors.Is(err, ErrPeer) || !errors.Is(err, conduit.ErrPeerClosed) {
				return fmt.Errorf("%s: %w", what, err)
			}
		}
		return nil
	})
}

// TestStartedAtDeath starts receives, with and without wildcards, and sends, while the peer dies: each ends.
func TestStartedAtDeath(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range fewer(150) {
		j, die := mortal(t, Config{Entries: 64})
		var wg sync.WaitGroup
		delay := r.IntN(200)
		wg.Go(func() {
			for range delay {
				runtime.Gosched()
			}
			die()
		})
		j[:1].run(t, func(s *Server) error {
			var reqs []Req
			for k := range 200 {
				var q Req
				var err error
				switch k % 4 {
				case 0:
					q, err = s.Irecv(1, 1, k, make([]byte, 8), nil)
				case 1:
					q, err = s.Irecv(1, 1, AnyTag, make([]byte, 8), nil)
				case 2:
					q, err = s.Isend(1, 1, k, make([]byte, 8), &Options{Form: Nonblocking, Mode: Synchronous})
				default:
					q, err = s.Irecv(2, 1, k, make([]byte, 8), nil)
				}
				if err != nil {
					return err
				}
				reqs = append(reqs, q)
				s.Poll()
			}
			for k, q := range reqs {
				if _, err := s.Wait(q); !errors.Is(err, ErrPeer) {
					return fmt.Errorf("request %d: %w", k, err)
				}
			}
			return nil
		})
		wg.Wait()
	}
}

// counted counts looks at peers.
type counted struct {
	conduit.Conduit
	looks atomic.Int64
}

func (c *counted) Failed(peer int) error {
	c.looks.Add(1)
	return c.Conduit.Failed(peer)
}

// TestNobodyLooksForDeaths: a rank that polls and sleeps among many asks for none of them.
func TestNobodyLooksForDeaths(t *testing.T) {
	cs, err := local.New(64, conduit.Config{Loan: 4, ReplySpace: 512, MaxRecord: 512, BulkChunk: -1})
	if err != nil {
		t.Fatal(err)
	}
	c := &counted{Conduit: cs[0]}
	cs[0] = c
	j := jobOver(t, cs[:2], Config{})
	const messages = 20
	j.run(t, func(s *Server) error {
		for k := range messages {
			if s.rank == 1 {
				time.Sleep(2 * time.Millisecond) // the other one sleeps by then
				if err := s.Send(1, 0, k, nil, nil); err != nil {
					return err
				}
				continue
			}
			if _, err := s.Recv(1, 1, k, nil, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if n := c.looks.Load(); n != 0 {
		t.Errorf("%d looks at peers for %d messages", n, messages)
	}
}
