package comm

import (
	stdcontext "context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
)

// TestGiveUp gives up sends and receives at random moments, and uses the buffers again at once. Received messages are
// whole and in order. No completed send is missing.
func TestGiveUp(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	giveUp(t, newJob(t, 2, conduit.Config{}, Config{}), seed, false)
	giveUp(t, newJob(t, 2, conduit.Config{TinyQueues: true}, Config{Eager: 200}), seed, false)
	giveUp(t, newJob(t, 2, conduit.Config{}, Config{}), seed, true)
}

// message i of giveUp: its number and size follow from the seed.
func giveUpMessage(b []byte, i int) {
	pattern(b, i)
	b[0], b[1] = byte(i), byte(i>>8)
}

func isendAs(s *Server, m []byte, mode Mode, packed bool) (Req, error) {
	if packed {
		return s.Isend(1, 1, 3, nil, &Options{Source: whole(m), Mode: mode, Endable: true})
	}
	return s.Isend(1, 1, 3, m, &Options{Mode: mode, Endable: true})
}

func irecvAs(s *Server, b []byte, packed bool) (Req, error) {
	if packed {
		return s.Irecv(1, 0, 3, nil, &Options{Target: whole(b), Endable: true})
	}
	return s.Irecv(1, 0, 3, b, &Options{Endable: true})
}

// giveUp gives messages of random sizes up after random times; packed: they go from and to cursors.
func giveUp(t *testing.T, j job, seed uint64, packed bool) {
	rounds := fewer(400)
	const last = 9 // tag of the end
	sent := make([]bool, rounds)
	sizes := rand.New(rand.NewPCG(seed, 2))
	size := make([]int, rounds)
	for i := range size {
		size[i] = 2 + sizes.IntN(1<<uint(1+sizes.IntN(19)))
	}
	j.run(t, func(s *Server) error {
		dice := rand.New(rand.NewPCG(seed, uint64(s.rank)))
		within := func(f func(ctx stdcontext.Context) error) error {
			ctx, cancel := stdcontext.WithTimeout(stdcontext.Background(), time.Duration(dice.IntN(200))*time.Microsecond)
			defer cancel()
			return f(ctx)
		}
		if s.rank == 0 {
			b := make([]byte, 1<<20)
			for i := range rounds {
				m := b[:size[i]]
				giveUpMessage(m, i)
				err := within(func(ctx stdcontext.Context) error {
					r, err := isendAs(s, m, Mode(i%2), packed)
					if err == nil {
						_, err = s.WaitContext(r, ctx)
					}
					return err
				})
				if sent[i] = err == nil; err != nil && !errors.Is(err, ErrCancelled) {
					return err
				}
				clear(m)
			}
			if err := s.Send(1, 1, last, nil, nil); err != nil {
				return err
			}
			_, err := s.Recv(1, 1, last, nil, nil) // serves what was given up meanwhile
			return err
		}
		end, err := s.Irecv(1, 0, last, nil, nil)
		if err != nil {
			return err
		}
		next := 0
		for b := make([]byte, 1<<20); ; {
			over := end.Ready() // what was sent before is here, or is answered
			var st Status
			err := within(func(ctx stdcontext.Context) error {
				r, err := irecvAs(s, b, packed)
				if err == nil {
					st, err = s.WaitContext(r, ctx)
				}
				return err
			})
			if errors.Is(err, ErrCancelled) {
				if over {
					break
				}
				continue
			}
			if err != nil {
				return err
			}
			i := int(b[0]) | int(b[1])<<8
			for next < i {
				if sent[next] {
					return fmt.Errorf("message %d of %d bytes was sent, and message %d came", next, size[next], i)
				}
				next++
			}
			if i != next || int(st.Bytes) != size[i] {
				return fmt.Errorf("message %d of %d bytes in the place of %d of %d", i, st.Bytes, next, size[min(next, rounds-1)])
			}
			next++
			want := make([]byte, size[i])
			giveUpMessage(want, i)
			for k := range want {
				if b[k] != want[k] {
					return fmt.Errorf("byte %d of message %d, of %d bytes, is damaged", k, i, size[i])
				}
			}
			clear(b)
		}
		if _, err := s.Wait(end); err != nil {
			return err
		}
		return s.Send(1, 0, last, nil, nil)
	})
	for _, s := range j {
		for range 1000 {
			for _, x := range j {
				x.Poll()
			}
		}
		if n := s.ids.Used(); n != 0 {
			t.Errorf("rank %d: %d numbers are left", s.rank, n)
		}
	}
}

// TestGiveUpInEveryState: a send that is given up has its buffer back at once, in any state. A matched receive gets the
// whole message. No envelope of the others is left.
func TestGiveUpInEveryState(t *testing.T) {
	const size = 3 << 20 // more than the bulk channel holds
	for name, step := range map[string]func(a, z *Server){
		"told":     func(_, z *Server) { z.Poll() },
		"answered": func(_, z *Server) { z.Poll() },
		"sending":  func(a, z *Server) { z.Poll(); a.Poll() },
		"not told": func(_, _ *Server) {},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJob(t, 2, conduit.Config{}, Config{})
			a, z := j[0], j[1]
			b, in := make([]byte, size), make([]byte, size)
			pattern(b, 7)
			r, err := a.Isend(1, 1, 5, b, &Options{Endable: true})
			if err != nil {
				t.Fatal(err)
			}
			var q Req
			if name == "answered" || name == "sending" {
				if q, err = z.Irecv(1, 0, 5, in, nil); err != nil {
					t.Fatal(err)
				}
			}
			step(a, z)
			ctx, cancel := stdcontext.WithCancel(stdcontext.Background())
			cancel()
			if !a.End(r) {
				t.Fatal("the send has not ended")
			}
			if st, err := a.WaitContext(r, ctx); !errors.Is(err, ErrCancelled) || !errors.Is(err, stdcontext.Canceled) || !st.Cancelled {
				t.Errorf("%+v %v", st, err)
			}
			clear(b)
			for range 1000 {
				a.Poll()
				z.Poll()
			}
			if q.o != nil {
				if !q.Ready() {
					t.Fatal("the receive that was matched waits")
				}
				if _, err := z.Wait(q); err != nil {
					t.Error(err)
				}
				if err := checkPattern(in, 7); err != nil {
					t.Error(err)
				}
			}
			if _, ok, err := z.Iprobe(1, AnySource, AnyTag); ok || err != nil {
				t.Errorf("the envelope is still there: %v", err)
			}
			if n := a.ids.Used() + z.ids.Used(); n != 0 {
				t.Errorf("%d numbers are left", n)
			}
		})
	}
}
