package rma

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/fault"
	"github.com/golci/golci/internal/transport/local"
)

func newJobConduits(t testing.TB, n int) []conduit.Conduit {
	cs, err := local.New(n, conduit.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return cs
}

// accesses are all kinds of access to n bytes at off.
func accesses(m *Memory, peer int, off int64, n int) map[string]error {
	b, c := make([]byte, n), m.NewContext()
	errs := map[string]error{}
	errs["Put"] = m.Put(peer, off, b)
	_, errs["PutNB"] = m.PutNB(peer, off, b)
	_, errs["PutNBBulk"] = m.PutNBBulk(peer, off, b)
	_, _, errs["PutNBLocal"] = m.PutNBLocal(peer, off, b)
	_, errs["TryPutNB"] = m.TryPutNB(peer, off, b)
	errs["Get"] = m.Get(peer, off, b)
	_, errs["GetNB"] = m.GetNB(peer, off, b)
	_, errs["TryGetNB"] = m.TryGetNB(peer, off, b)
	errs["Memset"] = m.Memset(peer, off, 1, n)
	errs["PutNotify"] = m.PutNotify(peer, off, b, 0, 1)
	errs["PutCall"] = m.PutCall(peer, off, b, 0, 1)
	_, errs["PreparePut"] = m.PreparePut(peer, off, 0, n)
	errs["Context.Put"] = c.Put(peer, off, b)
	errs["Context.PutBulk"] = c.PutBulk(peer, off, b)
	errs["Context.TryPut"] = c.TryPut(peer, off, b)
	errs["Context.Get"] = c.Get(peer, off, b)
	errs["Context.TryGet"] = c.TryGet(peer, off, b)
	errs["Context.Memset"] = c.Memset(peer, off, 1, n)
	errs["PutIndexed"] = m.PutIndexed(peer, []Piece{{off, b}})
	errs["GetIndexed"] = m.GetIndexed(peer, []Piece{{off, b}})
	errs["PutStrided"] = m.PutStrided(peer, off, b, Strided{Block: n, Count: 1, Remote: n, Local: n})
	errs["GetStrided"] = m.GetStrided(peer, off, b, Strided{Block: n, Count: 1, Remote: n, Local: n})
	if n == 8 {
		errs["PutValue"] = m.PutValue(peer, off, 1, n)
		_, errs["GetValue"] = m.GetValue(peer, off, n)
		errs["Context.PutValue"] = c.PutValue(peer, off, 1, n)
		_, errs["FetchAdd"] = FetchAdd[int64](m, peer, off, 1)
		errs["AtomicNBI"] = AtomicNBI[int64](c, OpInc, peer, off, 0, 0, nil)
		_, errs["AtomicNB"] = AtomicNB[int64](m, OpInc, peer, off, 0, 0, nil)
	}
	errs["WaitAll"] = nil
	if err := c.WaitAll(); err != nil {
		errs["WaitAll"] = err
	}
	return errs
}

// all checks that every error matches target and has the words.
func all(errs map[string]error, target error, words ...string) error {
	for name, err := range errs {
		if name == "WaitAll" {
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			continue
		}
		if !errors.Is(err, target) {
			return fmt.Errorf("%s: %v, want %v", name, err, target)
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				return fmt.Errorf("%s: %q does not tell %q", name, err, w)
			}
		}
	}
	return nil
}

// TestBounds: an access outside the segment is refused and says what was wrong.
func TestBounds(t *testing.T) {
	overAll(t, 2, func(t *testing.T, j *job) {
		j.run(func(m *Memory) error {
			peer := 1 - m.Rank()
			for _, c := range []struct {
				off int64
				n   int
			}{
				{testSegment, 1},
				{testSegment - 7, 8},
				{-1, 1},
				{math.MinInt64, 8},
				{offsetMask, 8},
				{0, testSegment + 1},
				{testSegment + 1, 0},
				{-1, 0},
			} {
				err := all(accesses(m, peer, c.off, c.n), ErrBounds, fmt.Sprintf("rank %d", peer), fmt.Sprint(c.off),
					fmt.Sprintf("%d bytes", c.n), fmt.Sprint(testSegment))
				if c.n == 0 || err != nil && strings.Contains(err.Error(), "Strided") { // of nothing: the offset alone is looked at
					continue
				}
				if err != nil {
					return fmt.Errorf("offset %d, %d bytes: %w", c.off, c.n, err)
				}
			}
			for _, peer := range []int{-1, 2, math.MaxInt} {
				if err := all(accesses(m, peer, 0, 8), ErrRank, "of 2"); err != nil {
					return err
				}
			}
			return m.Put(peer, testSegment-1, []byte{1}) // the last byte exists
		})
	})
}

// TestLastBytes: nothing at the end of the segment is refused, also without bytes.
func TestLastBytes(t *testing.T) {
	overAll(t, 2, func(t *testing.T, j *job) {
		j.run(func(m *Memory) error {
			peer := 1 - m.Rank()
			return errors.Join(m.Put(peer, testSegment, nil), m.Get(peer, testSegment, nil), m.Put(peer, testSegment-8, pattern(8, 1)),
				m.PutStrided(peer, 0, nil, Strided{}), m.PutIndexed(peer, nil))
		})
	})
}

// TestBadDescriptions: a strided access that contradicts itself is refused.
func TestBadDescriptions(t *testing.T) {
	j := newJob(t, 1, ways[0], 0)
	m := j.ms[0]
	b := make([]byte, 100)
	for _, s := range []Strided{
		{Block: -1, Count: 1},
		{Block: 1, Count: -1, Remote: 1, Local: 1},
		{Block: 10, Count: 2, Remote: 9, Local: 10},
		{Block: 10, Count: 2, Remote: 10, Local: 9},
		{Block: 10, Count: 11, Remote: 10, Local: 10},
		{Block: 8, Count: math.MaxInt / 4, Remote: 8, Local: 8},
		{Block: 0, Count: 2, Remote: math.MaxInt, Local: 1},
	} {
		if err := m.PutStrided(0, 0, b, s); !errors.Is(err, ErrArgument) {
			t.Errorf("put %+v: %v", s, err)
		}
		if err := m.GetStrided(0, 0, b, s); !errors.Is(err, ErrArgument) {
			t.Errorf("get %+v: %v", s, err)
		}
	}
}

// TestConfig: what is out of range is refused, and what the system does not grant is told in numbers.
func TestConfig(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  Config
		want error
		text string
	}{
		"negative": {Config{SegmentSize: -1}, ErrConfig, "-1"},
		"limit":    {Config{SegmentSize: 1 << 20, MaxSegment: 1 << 19}, ErrConfig, "1048576 bytes asked, at most 524288"},
		"huge":     {Config{SegmentSize: 1 << 46}, conduit.ErrGrant, "70368744177664"},
		"huge, am": {Config{SegmentSize: 1 << 46, ActiveMessages: true}, conduit.ErrGrant, "granted"},
		"counters": {Config{Counters: 1 << 20}, ErrConfig, "1048576 counters"},
	} {
		cs := newJobConduits(t, 1)
		e, err := am.New(cs[0], am.Config{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = New(e, c.cfg)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %v with %q", name, err, c.want, c.text)
		}
		var g *conduit.GrantError
		if c.want == conduit.ErrGrant && (!errors.As(err, &g) || g.Asked < 1<<46 || g.Granted <= 0 || g.Granted >= g.Asked || g.Limit == "") {
			t.Errorf("%s: %+v", name, g)
		}
		if err := cs[0].Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTwice: an endpoint has one remote memory.
func TestTwice(t *testing.T) {
	j := newJob(t, 1, ways[0], 0)
	if _, err := New(j.es[0], Config{SegmentSize: 100}); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
}

// TestSizesDiffer: ranks may have segments of different sizes, and know those of others; counters must agree.
func TestSizesDiffer(t *testing.T) {
	for _, am := range []bool{false, true} {
		j := newJobOf(t, Config{SegmentSize: 100, ActiveMessages: am}, Config{SegmentSize: 5000, ActiveMessages: am},
			Config{SegmentSize: 5000, ActiveMessages: am, Counters: 3})
		j.run(func(m *Memory) error {
			switch m.Rank() {
			case 0:
				if n, err := m.SegmentSize(1); n != 5000 || err != nil {
					return fmt.Errorf("%d, %w", n, err)
				}
				if _, err := m.SegmentSize(2); !errors.Is(err, ErrConfig) {
					return fmt.Errorf("different counters: %w", err)
				}
				return m.Put(1, 4999, []byte{1})
			case 1:
				if err := m.Put(0, 100, []byte{1}); !errors.Is(err, ErrBounds) || !strings.Contains(err.Error(), "segment of 100 bytes") {
					return fmt.Errorf("outside the smaller one: %w", err)
				}
				return m.Put(0, 99, []byte{1})
			}
			return nil
		})
	}
}

// TestClosed: what is pending at Close ends with ErrClosed, and so does what comes later.
func TestClosed(t *testing.T) {
	j := newJob(t, 2, ways[1], 0)
	j.run(func(m *Memory) error {
		_, err := m.SegmentSize(1 - m.Rank())
		return err
	})
	m := j.ms[0]
	h, err := m.PutNB(1, 0, pattern(8, 1))
	if err != nil {
		t.Fatal(err)
	}
	c := m.NewContext()
	if err := c.PutValue(1, 0, 1, 8); err != nil {
		t.Fatal(err)
	}
	m.Close()
	if err := h.Wait(); !errors.Is(err, ErrClosed) {
		t.Errorf("pending: %v", err)
	}
	if err := c.WaitPuts(); !errors.Is(err, ErrClosed) {
		t.Errorf("implicit: %v", err)
	}
	if err := all(accesses(m, 1, 0, 8), ErrClosed); err != nil {
		t.Error(err)
	}
	if err := m.WaitCounter(0, 1); !errors.Is(err, ErrClosed) {
		t.Errorf("counter: %v", err)
	}
}

// TestDeadPeer: what is under way towards a peer that dies ends with am.ErrPeer, and so does what comes later; the
// others are not concerned.
func TestDeadPeer(t *testing.T) {
	for _, shared := range []bool{true, false} {
		t.Run(fmt.Sprint("direct=", shared), func(t *testing.T) {
			var cut *fault.Conduit
			v := way{wrap: func(c conduit.Conduit, seed uint64) conduit.Conduit {
				f := fault.New(c, fault.Config{Seed: seed})
				if c.Rank() == 0 {
					cut = f
				}
				if shared {
					return sharing{f, c.(conduit.Remote)}
				}
				return f
			}}
			j := newJob(t, 3, v, newSeed(t))
			j.run(func(m *Memory) error {
				for p := range 3 {
					if d, err := direct(m, p); err != nil || d != (shared || p == m.Rank()) {
						return fmt.Errorf("rank %d: direct %v, %w", p, d, err)
					}
				}
				return nil
			})
			m := j.ms[0]
			big := pattern(200000, 1)
			small, err0 := m.PutNB(1, 0, big[:8]) // leaves at once, and awaits its answer
			h, err := m.PutNBBulk(1, 0, big)
			h2, err2 := m.GetNB(1, 0, make([]byte, 100000))
			h3, local, err3 := m.PutNBLocal(1, 0, big)
			c := m.NewContext()
			if err := errors.Join(err0, err, err2, err3, c.PutBulk(1, 0, big), c.PutBulk(2, 0, big)); err != nil {
				t.Fatal(err)
			}
			cut.Cut(1)
			j.run(func(m *Memory) error {
				if m.Rank() != 0 {
					return nil
				}
				pending := []error{small.Wait(), h.Wait(), h2.Wait(), h3.Wait(), c.WaitPuts()}
				for i, err := range pending {
					if shared == errors.Is(err, am.ErrPeer) {
						return fmt.Errorf("pending %d: %w", i, err)
					}
				}
				if err := local.Wait(); shared && err != nil {
					return err
				}
				// The memory does not know of the cut; the look at the dead does.
				eventually(t, "the news", func() bool { return m.Put(1, 0, nil) != nil })
				if err := all(accesses(m, 1, 0, 8), am.ErrPeer, "rank 1", "cut off"); err != nil {
					return err
				}
				return m.Put(2, 0, big)
			})
		})
	}
}

// TestPeerGoneOverFabric: accesses that the conduit makes end when the peer closes, and the source of each is free then.
func TestPeerGoneOverFabric(t *testing.T) {
	j := newJob(t, 2, way{fabric: "both"}, newSeed(t))
	j.run(func(m *Memory) error {
		_, err := m.SegmentSize(1 - m.Rank())
		return err
	})
	m, c := j.ms[0], j.ms[0].NewContext()
	var hs []Handle
	for i := range 20 {
		h, e1 := m.PutNBBulk(1, 0, pattern(testSegment, i))
		g, e2 := m.GetNB(1, 0, make([]byte, testSegment))
		if err := errors.Join(e1, e2, c.PutBulk(1, 0, pattern(testSegment, i))); err != nil {
			t.Fatal(err)
		}
		hs = append(hs, h, g)
	}
	if err := j.cs[1].Close(); err != nil {
		t.Fatal(err)
	}
	j.run(func(m *Memory) error {
		if m.Rank() != 0 {
			return nil
		}
		for i, err := range append([]error{c.WaitPuts()}, WaitAll(hs)) {
			if !errors.Is(err, am.ErrPeer) {
				return fmt.Errorf("wait %d: %w", i, err)
			}
		}
		eventually(t, "the news", func() bool { return m.Put(1, 0, nil) != nil })
		return all(accesses(m, 1, 0, 8), am.ErrPeer, "rank 1")
	})
}

// TestReleasedKey: an access under a key that the peer has taken back is refused, and the peer does not count as dead.
func TestReleasedKey(t *testing.T) {
	j := newJob(t, 2, way{fabric: "both"}, newSeed(t))
	j.run(func(m *Memory) error {
		_, err := m.SegmentSize(1 - m.Rank())
		return err
	})
	if err := j.cs[1].(conduit.Remote).Release(0, j.ms[1].keys[0]); err != nil {
		t.Fatal(err)
	}
	j.run(func(m *Memory) error {
		if m.Rank() != 0 {
			return nil
		}
		for i, err := range []error{m.Put(1, 0, pattern(8, 1)), m.Get(1, 0, make([]byte, 8))} {
			if !errors.Is(err, ErrRefused) || errors.Is(err, ErrPeer) {
				return fmt.Errorf("access %d: %w", i, err)
			}
		}
		return m.PutValue(1, 0, 1, 8) // which a message brings
	})
}

// sharing is a wrapper that lets the memory through.
type sharing struct {
	conduit.Conduit
	conduit.Remote
}

// TestWaitForTheDead: a wait for a count ends when the peer dies that it is to come from.
func TestWaitForTheDead(t *testing.T) {
	var cut *fault.Conduit
	v := way{wrap: func(c conduit.Conduit, seed uint64) conduit.Conduit {
		f := fault.New(c, fault.Config{Seed: seed})
		if c.Rank() == 0 {
			cut = f
		}
		return f
	}}
	j := newJob(t, 2, v, 1)
	j.run(func(m *Memory) error {
		if m.Rank() == 1 {
			eventually(t, "the wait", func() bool {
				l := &j.ms[0].notes
				l.mu.Lock()
				defer l.mu.Unlock()
				return l.head != nil
			})
			cut.Cut(1)
			return nil
		}
		if err := m.WaitCounter(0, 1, 1); !errors.Is(err, am.ErrPeer) {
			return err
		}
		if err := m.WaitCounter(0, 1, 1); !errors.Is(err, am.ErrPeer) {
			return fmt.Errorf("dead already: %w", err)
		}
		return nil
	})
}
