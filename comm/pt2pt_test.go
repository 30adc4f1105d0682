package comm

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
)

var sizes = []int{0, 1, 8, 63, 64, 65, 1000, 4096, 8191, 8192, 8193, 32 << 10, 100_000, 1 << 20, 3<<20 + 17}

func TestPingPongOfEverySize(t *testing.T) {
	j := newJob(t, 2, conduit.Config{}, Config{})
	j.run(t, func(s *Server) error {
		peer := 1 - s.Rank()
		for i, n := range sizes {
			out, in := make([]byte, n), make([]byte, n+5)
			pattern(out, i)
			if s.Rank() == 0 {
				if err := s.Send(1, peer, i, out, nil); err != nil {
					return err
				}
			}
			st, err := s.Recv(1, peer, i, in, nil)
			if err != nil {
				return err
			}
			if st != (Status{Source: peer, Tag: i, Bytes: int64(n)}) {
				return fmt.Errorf("size %d: status %+v", n, st)
			}
			if err := checkPattern(in[:n], i); err != nil {
				return fmt.Errorf("size %d: %w", n, err)
			}
			if s.Rank() == 1 {
				if err := s.Send(1, peer, i, in[:n], &Options{Mode: Synchronous}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func TestUnexpectedOfEverySize(t *testing.T) {
	j := newJob(t, 2, conduit.Config{}, Config{})
	j.run(t, func(s *Server) error {
		if s.Rank() == 0 {
			rs := make([]Req, len(sizes))
			for i, n := range sizes {
				b := make([]byte, n)
				pattern(b, i)
				r, err := s.Isend(1, 1, i, b, nil)
				if err != nil {
					return err
				}
				rs[i] = r
			}
			if err := s.AwaitAll(rs); err != nil {
				return err
			}
			for _, r := range rs {
				if _, err := s.Wait(r); err != nil {
					return err
				}
			}
			return nil
		}
		for i := len(sizes) - 1; i >= 0; i-- { // the last first: all the others are unexpected
			b := make([]byte, sizes[i])
			if _, err := s.Recv(1, 0, i, b, nil); err != nil {
				return err
			}
			if err := checkPattern(b, i); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestOrderWithinAPair sends messages of random sizes, eager and rendezvous, under one tag.
func TestOrderWithinAPair(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	count := fewer(600)
	j := newJob(t, 2, conduit.Config{}, Config{})
	j.run(t, func(s *Server) error {
		r := rand.New(rand.NewPCG(seed, uint64(s.Rank())))
		if s.Rank() == 0 {
			rs := make([]Req, 0, count)
			for i := range count {
				b := make([]byte, 8+r.IntN(20000))
				pattern(b, i)
				q, err := s.Isend(1, 1, 7, b, nil)
				if err != nil {
					return err
				}
				rs = append(rs, q)
			}
			return s.AwaitAll(rs)
		}
		buf := make([]byte, 21000)
		for i := range count {
			tag := 7
			if i%5 == 0 {
				tag = AnyTag
			}
			st, err := s.Recv(1, 0, tag, buf, nil)
			if err != nil {
				return err
			}
			if err := checkPattern(buf[:st.Bytes], i); err != nil {
				return fmt.Errorf("message %d: %w", i, err)
			}
		}
		return nil
	})
}

func TestTruncation(t *testing.T) {
	j := newJob(t, 2, conduit.Config{}, Config{})
	j.run(t, func(s *Server) error {
		for i, n := range []int{100, 9000, 100_000} {
			if s.Rank() == 0 {
				b := make([]byte, n)
				pattern(b, i)
				if err := s.Send(1, 1, i, b, nil); err != nil {
					return err
				}
				continue
			}
			b := make([]byte, n/2)
			st, err := s.Recv(1, 0, i, b, nil)
			if !errors.Is(err, ErrTruncate) || st.Bytes != int64(n/2) {
				return fmt.Errorf("%d bytes into %d: %+v, %v", n, n/2, st, err)
			}
			full := make([]byte, n)
			pattern(full, i)
			if string(b) != string(full[:n/2]) {
				return errors.New("the beginning is not there")
			}
		}
		return nil
	})
}

func TestSelfMessages(t *testing.T) {
	j := newJob(t, 1, conduit.Config{}, Config{})
	j.run(t, func(s *Server) error {
		for i, n := range sizes {
			b, in := make([]byte, n), make([]byte, n)
			pattern(b, i)
			r, err := s.Isend(1, 0, i, b, nil)
			if err != nil {
				return err
			}
			if _, err := s.Recv(1, 0, i, in, nil); err != nil {
				return err
			}
			if _, err := s.Wait(r); err != nil {
				return err
			}
			if err := checkPattern(in, i); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestManyGoroutines has threads of two ranks ping-pong, each pair under its own tag.
func TestManyGoroutines(t *testing.T) {
	for _, below := range [][]func(*am.Config){nil, {dedicated}} {
		t.Run(fmt.Sprintf("dedicated=%v", below != nil), func(t *testing.T) {
			j := newJob(t, 2, conduit.Config{}, Config{}, below...)
			j.run(t, func(s *Server) error {
				peer := 1 - s.Rank()
				var wg sync.WaitGroup
				errs := make([]error, 64)
				for i := range errs {
					wg.Go(func() { errs[i] = pingPong(s, peer, i, fewer(100)) })
				}
				wg.Wait()
				return errors.Join(errs...)
			})
		})
	}
}

func pingPong(s *Server, peer, tag, rounds int) error {
	b := make([]byte, 16)
	for k := range rounds {
		if s.Rank() == 0 {
			pattern(b, tag*1000+k)
			if err := s.Send(1, peer, tag, b, nil); err != nil {
				return err
			}
			clear(b)
		}
		if _, err := s.Recv(1, peer, tag, b, nil); err != nil {
			return err
		}
		if err := checkPattern(b, tag*1000+k); err != nil {
			return fmt.Errorf("tag %d round %d: %w", tag, k, err)
		}
		if s.Rank() == 1 {
			if err := s.Send(1, peer, tag, b, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestFloodDoesNotBlock floods one tag that nobody receives; another tag gets through, memory stays bounded.
func TestFloodDoesNotBlock(t *testing.T) { floodDoesNotBlock(t, 100_000) }

// floodDoesNotBlock sends so many messages, of which the receiver keeps some thousands before it asks for them.
func floodDoesNotBlock(t *testing.T, flood int) {
	const limit = 1 << 20
	if invariants.Enabled {
		flood = 5_000 // checking builds take a hundred times as long
	}
	j := newJob(t, 2, conduit.Config{}, Config{Unexpected: limit})
	j.run(t, func(s *Server) error {
		if s.Rank() == 0 {
			rs := make([]Req, 0, flood)
			data := make([]byte, 8)
			for range flood {
				r, err := s.Isend(1, 1, 1, data, nil)
				if err != nil {
					return err
				}
				rs = append(rs, r)
			}
			if err := s.Send(1, 1, 2, []byte("through"), nil); err != nil {
				return err
			}
			if err := s.AwaitAll(rs); err != nil {
				return err
			}
			for _, r := range rs {
				if _, err := s.Wait(r); err != nil {
					return err
				}
			}
			return nil
		}
		b := make([]byte, 8)
		st, err := s.Recv(1, 0, 2, b, nil)
		if err != nil || string(b[:st.Bytes]) != "through" {
			return fmt.Errorf("%+v %v", st, err)
		}
		if kept := s.peers[0].unexpected.Load(); kept > limit+300*(256+opOverhead) {
			return fmt.Errorf("%d unmatched bytes are kept", kept)
		}
		for i := range flood {
			if _, err := s.Recv(1, 0, 1, b, nil); err != nil {
				return fmt.Errorf("message %d: %w", i, err)
			}
		}
		return nil
	})
	if n := j[1].peers[0].unexpected.Load(); n != 0 {
		t.Errorf("%d unexpected bytes are left on the books", n)
	}
}

func TestWildcardsFromManySenders(t *testing.T) {
	const ranks = 5
	count := fewer(400)
	j := newJob(t, ranks, conduit.Config{}, Config{})
	j.run(t, func(s *Server) error {
		if s.Rank() > 0 {
			for i := range count {
				b := make([]byte, 4+i%3*6000)
				b[0], b[1] = byte(i), byte(i>>8)
				if err := s.Send(3, 0, i%7, b, nil); err != nil {
					return err
				}
			}
			return nil
		}
		var next [ranks]int
		b := make([]byte, 13000)
		for range (ranks - 1) * count {
			st, err := s.Recv(3, AnySource, AnyTag, b, nil)
			if err != nil {
				return err
			}
			i := int(b[0]) | int(b[1])<<8
			if i != next[st.Source] || st.Tag != i%7 {
				return fmt.Errorf("from %d: got %d with tag %d, want %d", st.Source, i, st.Tag, next[st.Source])
			}
			next[st.Source]++
		}
		return nil
	})
	if p := j[0].registry.Ops(); len(p) != 0 {
		t.Errorf("left: %v", p)
	}
}

// TestWildcardsAmongOthers mixes receives with and without wildcards from several goroutines: every message is
// received exactly once.
func TestWildcardsAmongOthers(t *testing.T) {
	const senders, count = 3, 500
	j := newJob(t, senders+1, conduit.Config{}, Config{})
	j.run(t, func(s *Server) error {
		if s.Rank() > 0 {
			for i := range count {
				if err := s.Send(1, 0, i%4, []byte{byte(i), byte(i >> 8)}, nil); err != nil {
					return err
				}
			}
			return nil
		}
		seen := make([][]int, senders+1)
		for i := range seen {
			seen[i] = make([]int, count)
		}
		var mu sync.Mutex
		take := func(src, tag int) error {
			b := make([]byte, 2)
			st, err := s.Recv(1, src, tag, b, nil)
			if err != nil {
				return err
			}
			mu.Lock()
			seen[st.Source][int(b[0])|int(b[1])<<8]++
			mu.Unlock()
			return nil
		}
		// Tags 2 and 3 are received by name, the rest by a wildcard of the source; both at once.
		var wg sync.WaitGroup
		errs := make([]error, 2*senders+2)
		for src := 1; src <= senders; src++ {
			for tag := 2; tag < 4; tag++ {
				wg.Go(func() {
					for range count / 4 {
						if err := take(src, tag); err != nil {
							errs[2*(src-1)+tag-2] = err
							return
						}
					}
				})
			}
		}
		for tag := range 2 {
			wg.Go(func() {
				for range senders * count / 4 {
					if err := take(AnySource, tag); err != nil {
						errs[2*senders+tag] = err
						return
					}
				}
			})
		}
		wg.Wait()
		for src := 1; src <= senders; src++ {
			for i, n := range seen[src] {
				if n != 1 {
					return fmt.Errorf("message %d of rank %d was received %d times", i, src, n)
				}
			}
		}
		return errors.Join(errs...)
	})
}

func TestProbeAndMprobe(t *testing.T) {
	j := newJob(t, 2, conduit.Config{}, Config{})
	j.run(t, func(s *Server) error {
		const count = 200
		if s.Rank() == 0 {
			for i := range count {
				b := make([]byte, i*97)
				pattern(b, i)
				if err := s.Send(1, 1, 5, b, nil); err != nil {
					return err
				}
			}
			return nil
		}
		for i := range count {
			var st Status
			var err error
			var b []byte
			switch i % 3 {
			case 0:
				if st, err = s.Probe(1, AnySource, AnyTag); err == nil {
					b = make([]byte, st.Bytes)
					_, err = s.Recv(1, st.Source, st.Tag, b, nil)
				}
			case 1:
				var m *Message
				if m, st, err = s.Mprobe(1, 0, AnyTag); err == nil {
					b = make([]byte, st.Bytes)
					_, err = s.Mrecv(m, b)
				}
			case 2:
				_, err = s.Recv(1, 0, 5, nil, &Options{Alloc: func(n int) []byte { b = make([]byte, n); return b }})
			}
			if err != nil {
				return err
			}
			if len(b) != i*97 {
				return fmt.Errorf("message %d has %d bytes", i, len(b))
			}
			if err := checkPattern(b, i); err != nil {
				return err
			}
		}
		_, ok, err := s.Iprobe(1, AnySource, AnyTag)
		if ok || err != nil {
			return fmt.Errorf("a message too many, %v", err)
		}
		return nil
	})
}

func TestCancel(t *testing.T) {
	j := newJob(t, 2, conduit.Config{}, Config{})
	j.run(t, func(s *Server) error {
		if s.Rank() == 1 {
			// Wait for the last message of rank 0, which comes after it has cancelled.
			_, err := s.Recv(1, 0, 9, make([]byte, 1), nil)
			if _, ok, _ := s.Iprobe(1, 0, 3); ok {
				return errors.New("the cancelled envelope is still there")
			}
			return err
		}
		for _, r := range []struct{ src, tag int }{{1, 4}, {AnySource, 4}, {1, AnyTag}} {
			q, err := s.Irecv(1, r.src, r.tag, make([]byte, 8), nil)
			if err != nil {
				return err
			}
			if !s.Cancel(q) {
				return fmt.Errorf("receive from %d could not be cancelled", r.src)
			}
			if st, err := s.Wait(q); !st.Cancelled || !errors.Is(err, ErrCancelled) {
				return fmt.Errorf("%+v %v", st, err)
			}
		}
		q, err := s.Isend(1, 1, 3, make([]byte, 100_000), nil)
		if err != nil {
			return err
		}
		s.Cancel(q)
		if st, err := s.Wait(q); !st.Cancelled || !errors.Is(err, ErrCancelled) {
			return fmt.Errorf("send: %+v %v", st, err)
		}
		return s.Send(1, 1, 9, []byte{1}, nil)
	})
}

func TestRequestsAreUsedOnce(t *testing.T) {
	j := newJob(t, 1, conduit.Config{}, Config{})
	s := j[0]
	r, err := s.Irecv(1, 0, 1, make([]byte, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(1, 0, 1, []byte{7}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Wait(r); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Wait(r); !errors.Is(err, ErrRequest) {
		t.Fatalf("second wait: %v", err)
	}
}

func TestBadArguments(t *testing.T) {
	j := newJob(t, 2, conduit.Config{}, Config{})
	s := j[0]
	for _, c := range []struct {
		name string
		err  error
		want error
	}{
		{"send to rank 2", s.Send(1, 2, 0, nil, nil), ErrRank},
		{"send to rank -1", s.Send(1, -1, 0, nil, nil), ErrRank},
		{"send with tag -1", s.Send(1, 1, -1, nil, nil), ErrTag},
		{"send with a tag too large", s.Send(1, 1, MaxTag+1, nil, nil), ErrTag},
		{"send in the reserved context", s.Send(0xffff, 1, 0, nil, nil), ErrContext},
		{"receive from rank 7", second(s.Recv(1, 7, 0, nil, nil)), ErrRank},
		{"receive from rank -2", second(s.Recv(1, AnyTag, 0, nil, nil)), ErrRank},
		{"receive with tag -1", second(s.Recv(1, 1, AnySource, nil, nil)), ErrTag},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v", c.name, c.err)
		}
	}
	s.Close()
	if err := s.Send(1, 1, 0, nil, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestCloseEndsWhatWaits(t *testing.T) {
	j := newJob(t, 2, conduit.Config{}, Config{})
	errs := make(chan error, 3)
	go func() { errs <- second(j[0].Recv(1, 1, 1, make([]byte, 1), nil)) }()
	go func() { errs <- second(j[0].Recv(1, AnySource, 2, make([]byte, 1), nil)) }()
	go func() { errs <- j[0].Send(1, 1, 3, make([]byte, 1<<20), nil) }()
	for len(j[0].registry.Ops()) < 3 {
		time.Sleep(time.Millisecond)
	}
	j[0].Close()
	for range 3 {
		if err := <-errs; !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
}

func TestTinyQueues(t *testing.T) {
	j := newJob(t, 3, conduit.Config{TinyQueues: true}, Config{})
	j.run(t, func(s *Server) error {
		var wg sync.WaitGroup
		errs := make([]error, 0, 32)
		var mu sync.Mutex
		fail := func(err error) {
			mu.Lock()
			errs = append(errs, err)
			mu.Unlock()
		}
		for k := range 8 {
			for peer := range 3 {
				wg.Go(func() {
					b := make([]byte, 1+k*5000)
					for i := range fewer(20) {
						pattern(b, i)
						if err := s.Send(1, peer, k, b, nil); err != nil {
							fail(err)
						}
					}
				})
				wg.Go(func() {
					b := make([]byte, 1+k*5000)
					for i := range fewer(20) {
						if _, err := s.Recv(1, peer, k, b, nil); err != nil {
							fail(err)
						} else if err := checkPattern(b, i); err != nil {
							fail(err)
						}
					}
				})
			}
		}
		wg.Wait()
		return errors.Join(errs...)
	})
}
