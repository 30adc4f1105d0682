package comm

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/invariants"
)

// TestPlainBeforeWildcard: a receive without wildcards that was posted before one with wildcards gets the first
// message.
func TestPlainBeforeWildcard(t *testing.T) {
	j := newJob(t, 1, conduit.Config{}, Config{})
	s := j[0]
	for _, order := range [][2]int{{0, AnySource}, {AnySource, 0}} {
		var rs [2]Req
		var bufs [2][1]byte
		for i, src := range order {
			var err error
			if rs[i], err = s.Irecv(1, src, 5, bufs[i][:], nil); err != nil {
				t.Fatal(err)
			}
		}
		for i := range rs {
			if err := s.Send(1, 0, 5, []byte{byte(i)}, nil); err != nil {
				t.Fatal(err)
			}
		}
		for i := range rs {
			if _, err := s.Wait(rs[i]); err != nil {
				t.Fatal(err)
			}
			if int(bufs[i][0]) != i {
				t.Errorf("receives from %v: receive %d got message %d", order, i, bufs[i][0])
			}
		}
	}
}

// TestOldestOfAContext: a receive from any source takes the message that came first, whatever its source.
func TestOldestOfAContext(t *testing.T) {
	const ranks = 4
	j := newJob(t, ranks, conduit.Config{}, Config{})
	want := []int{3, 1, 2, 1, 3, 2}
	for i, src := range want {
		if err := j[src].Send(1, 0, 5, []byte{byte(i)}, nil); err != nil {
			t.Fatal(err)
		}
		for before := j[0].arrived; j[0].arrived == before; {
			j[0].Poll()
		}
	}
	for i, src := range want {
		var b [1]byte
		st, err := j[0].Recv(1, AnySource, []int{5, AnyTag}[i%2], b[:], nil)
		if err != nil || st.Source != src || int(b[0]) != i {
			t.Fatalf("receive %d got message %d of rank %d, want message %d of rank %d (%v)", i, b[0], st.Source, i, src, err)
		}
	}
}

// TestWildcardsInManyContexts: contexts do not disturb each other, and the table matches a context again that has been
// without wildcards for long.
func TestWildcardsInManyContexts(t *testing.T) {
	j := newJob(t, 1, conduit.Config{}, Config{Entries: 1})
	s := j[0]
	for ctx := uint16(250); ctx < 260; ctx++ {
		wild, err := s.Irecv(ctx, AnySource, AnyTag, make([]byte, 1), nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 * s.matching.plainAfter {
			if err := pathExpectedIn(s, ctx+100); err != nil {
				t.Fatal(err)
			}
			if i == s.matching.plainAfter {
				if err := s.Send(ctx, 0, 9, []byte{1}, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		if st, err := s.Wait(wild); err != nil || st.Tag != 9 {
			t.Fatalf("context %d: %+v, %v", ctx, st, err)
		}
		if c := s.matching.findContext(ctx); c == nil || !c.indexed {
			t.Fatalf("context %d has had a wildcard and has no index", ctx)
		}
		for range s.matching.plainAfter {
			if err := pathExpectedIn(s, ctx); err != nil {
				t.Fatal(err)
			}
		}
		if s.matching.findContext(ctx).indexed || s.matching.findContext(ctx+100) != nil {
			t.Fatalf("context %d still has an index, or context %d has one", ctx, ctx+100)
		}
	}
	if p := s.registry.Ops(); len(p) != 0 {
		t.Errorf("left: %v", p)
	}
}

func pathExpectedIn(s *Server, ctx uint16) error {
	r, err := s.Irecv(ctx, s.rank, 3, make([]byte, 1), nil)
	if err != nil {
		return err
	}
	if err := s.Send(ctx, s.rank, 3, []byte{1}, nil); err != nil {
		return err
	}
	_, err = s.Wait(r)
	return err
}

func TestWildcardsDoNotAllocate(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checking builds allocate")
	}
	j := newJob(t, 2, conduit.Config{}, Config{})
	in, out := make([]byte, 8), make([]byte, 8)
	if n := testing.AllocsPerRun(2000, func() {
		if err := pathWild(j[0], j[1], in, out); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
}

// pathWild has a message come before its receive, and one after it.
func pathWild(a, z *Server, in, out []byte) error {
	if err := a.Send(1, 1, 3, out, nil); err != nil {
		return err
	}
	z.Poll()
	if _, err := z.Recv(1, AnySource, 3, in, nil); err != nil {
		return err
	}
	r, err := z.Irecv(1, AnySource, AnyTag, in, nil)
	if err != nil {
		return err
	}
	if err := a.Send(1, 1, 3, out, nil); err != nil {
		return err
	}
	z.Poll()
	_, err = z.Wait(r)
	return err
}

// BenchmarkSwap is T threads on each of two ranks; thread i sends 8 bytes to its twin under tag i and receives the
// same, by the source or from any. An op is a message.
func BenchmarkSwap(b *testing.B) {
	for _, threads := range []int{64, 4096} {
		for _, src := range []string{"given", "any"} {
			b.Run(fmt.Sprintf("threads=%d/source=%s", threads, src), func(b *testing.B) { benchSwap(b, threads, src == "any") })
		}
	}
}

func benchSwap(b *testing.B, threads int, anySource bool) {
	j, scheds := newThreadJob(b, 2, conduit.Config{}, true)
	var wg sync.WaitGroup
	b.ResetTimer()
	for r, s := range j {
		for i := range threads {
			wg.Add(1)
			if _, err := scheds[r].Go(func(*fult.Thread) {
				defer wg.Done()
				src := 1 - r
				if anySource {
					src = AnySource
				}
				if err := swap(s, 1-r, src, i, b.N/threads/2+1); err != nil {
					b.Error(err)
				}
			}); err != nil {
				b.Fatal(err)
			}
		}
	}
	wg.Wait()
}

func swap(s *Server, dst, src, tag, rounds int) error {
	buf := make([]byte, 8)
	for range rounds {
		if err := s.Send(1, dst, tag, buf, nil); err != nil {
			return err
		}
		if _, err := s.Recv(1, src, tag, buf, nil); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkPosted posts receives of different tags, every second one from any source, and then sends their messages,
// the last first. An op is one receive.
func BenchmarkPosted(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprintf("receives=%d", n), func(b *testing.B) {
			j := newJob(b, 2, conduit.Config{}, Config{})
			b.ResetTimer()
			for done := 0; done < b.N; done += n {
				if err := postAndSend(j[0], j[1], n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func postAndSend(a, z *Server, n int) error {
	rs := make([]Req, n)
	buf := make([]byte, 8)
	for i := range rs {
		src := []int{0, AnySource}[i%2]
		var err error
		if rs[i], err = z.Irecv(1, src, i, buf, nil); err != nil {
			return err
		}
	}
	for i := range rs {
		if err := a.Send(1, 1, n-1-i, buf, nil); err != nil {
			return err
		}
		if i%32 == 0 {
			z.Poll()
			runtime.Gosched()
		}
	}
	for _, r := range rs {
		if _, err := z.Wait(r); err != nil {
			return err
		}
	}
	return nil
}
