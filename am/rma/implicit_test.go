package rma

import (
	"errors"
	"fmt"
	"testing"
)

// TestImplicit starts many implicit puts and gets and waits for them together.
func TestImplicit(t *testing.T) {
	overAll(t, 4, func(t *testing.T, j *job) {
		b := newBarrier(4)
		j.run(func(m *Memory) error {
			const each, n = 200, 50
			c := m.NewContext()
			at := func(writer, i int) int64 { return int64((writer*n + i) * each) }
			for peer := range 4 {
				for i := range n {
					src := pattern(each, m.Rank()*n+i)
					if err := c.Put(peer, at(m.Rank(), i), src); err != nil {
						return err
					}
					clear(src)
				}
			}
			if err := c.WaitPuts(); err != nil {
				return err
			}
			b.wait()
			dst := make([]byte, 4*n*each)
			peer := (m.Rank() + 1) % 4
			for i := range 4 * n {
				if err := c.Get(peer, int64(i*each), dst[i*each:(i+1)*each]); err != nil {
					return err
				}
			}
			for done := false; !done; {
				var err error
				if done, err = c.TestGets(); err != nil {
					return err
				}
				if !done {
					m.e.Poll()
				}
			}
			for i := range 4 * n {
				if d := differ(dst[i*each:(i+1)*each], pattern(each, i)); d != "" {
					return fmt.Errorf("piece %d: %s", i, d)
				}
			}
			if done, err := c.TestAll(); !done || err != nil {
				return fmt.Errorf("nothing is under way: %v, %w", done, err)
			}
			return c.WaitAll()
		})
	})
}

// TestMixedImplicit: values, sets and atomics are waited for as puts; large and bulk puts too.
func TestMixedImplicit(t *testing.T) {
	overNetworks(t, 2, func(t *testing.T, j *job) {
		j.run(func(m *Memory) error {
			peer, c := 1-m.Rank(), m.NewContext()
			large, bulk := pattern(50000, 1), pattern(30000, 2)
			old := int64(-1)
			if err := errors.Join(
				c.PutValue(peer, 3, 0x0102, 2),
				c.Memset(peer, 100, 7, 50),
				c.Put(peer, 1000, large),
				c.PutBulk(peer, 100000, bulk),
				AtomicNBI(c, OpAdd, peer, 256, 5, 0, &old),
			); err != nil {
				return err
			}
			clear(large)
			if err := c.WaitPuts(); err != nil {
				return err
			}
			got := make([]byte, 130000)
			if err := errors.Join(c.Get(peer, 0, got), c.WaitGets()); err != nil {
				return err
			}
			if got[3] != 2 || got[4] != 1 || got[99] != 0 || got[100] != 7 || got[149] != 7 || got[256] != 5 || old != 0 {
				return fmt.Errorf("values %v, set %v, atomic %v, old %d", got[3:5], got[99:151], got[256:264], old)
			}
			if d := differ(got[1000:51000], pattern(50000, 1)); d != "" {
				return fmt.Errorf("large: %s", d)
			}
			if d := differ(got[100000:], pattern(30000, 2)); d != "" {
				return fmt.Errorf("bulk: %s", d)
			}
			return nil
		})
	})
}

// TestRegions: a region captures the implicit operations, and those only; it does not nest, and no implicit wait is
// allowed inside.
func TestRegions(t *testing.T) {
	overNetworks(t, 2, func(t *testing.T, j *job) {
		j.run(func(m *Memory) error {
			peer, c := 1-m.Rank(), m.NewContext()
			if _, err := c.EndRegion(); !errors.Is(err, ErrRegion) {
				return fmt.Errorf("end without begin: %w", err)
			}
			if err := c.PutValue(peer, 0, 1, 8); err != nil {
				return err
			}
			if err := c.BeginRegion(); err != nil {
				return err
			}
			_, e1 := c.TestAll()
			_, e2 := c.TestPuts()
			for _, err := range []error{c.BeginRegion(), c.WaitPuts(), c.WaitGets(), c.WaitAll(), e1, e2} {
				if !errors.Is(err, ErrRegion) {
					return fmt.Errorf("inside a region: %w", err)
				}
			}
			explicit, err := m.PutNB(peer, 8, pattern(8, 1))
			if err != nil {
				return err
			}
			dst := make([]byte, 8)
			if err := errors.Join(c.Put(peer, 16, pattern(8, 2)), c.Get(peer, 40, dst)); err != nil {
				return err
			}
			captured := c.region
			if yes, _ := direct(m, peer); yes != (captured == nil) {
				return fmt.Errorf("direct %v, captured %v", yes, captured)
			}
			h, err := c.EndRegion()
			if err != nil {
				return err
			}
			if err := errors.Join(h.Wait(), explicit.Wait(), c.WaitAll()); err != nil {
				return err
			}
			got := make([]byte, 24)
			if err := m.Get(peer, 0, got); err != nil {
				return err
			}
			want := append(append([]byte{1, 0, 0, 0, 0, 0, 0, 0}, pattern(8, 1)...), pattern(8, 2)...)
			if d := differ(got, want); d != "" {
				return errors.New(d)
			}
			if err := c.BeginRegion(); err != nil {
				return err
			}
			if h, err := c.EndRegion(); h != (Handle{}) || err != nil {
				return fmt.Errorf("an empty region gives %v, %w", h, err)
			}
			return nil
		})
	})
}

// TestRegionDoesNotWaitForOthers: the handle of a region is done when its operations are, whatever else is under way.
func TestRegionDoesNotWaitForOthers(t *testing.T) {
	j := newJob(t, 2, ways[1], newSeed(t))
	j.run(func(m *Memory) error {
		_, err := m.SegmentSize(1 - m.Rank())
		return err
	})
	c := j.ms[0].NewContext()
	if err := c.PutValue(1, 0, 1, 8); err != nil {
		t.Fatal(err)
	}
	if err := c.BeginRegion(); err != nil {
		t.Fatal(err)
	}
	h, err := c.EndRegion()
	if err != nil {
		t.Fatal(err)
	}
	if done, _ := h.Test(); !done {
		t.Error("an empty region waits for a put outside")
	}
	if done, _ := c.TestPuts(); done {
		t.Error("nobody has polled")
	}
	j.run(func(m *Memory) error {
		if m.Rank() == 0 {
			return c.WaitPuts()
		}
		return nil
	})
}

// TestOutstanding has 65,535 and more operations outstanding, explicit and implicit.
func TestOutstanding(t *testing.T) {
	const n = 70_000
	for _, v := range ways[:2] {
		t.Run(v.name, func(t *testing.T) {
			j := newJob(t, 2, v, 0)
			j.run(func(m *Memory) error {
				_, err := m.SegmentSize(1 - m.Rank())
				return err
			})
			m := j.ms[0]
			hs := make([]Handle, n)
			c := m.NewContext()
			src := pattern(8, 3) // bulk: must not change
			for i := range hs {
				var err error
				if hs[i], err = m.PutNBBulk(1, int64(i*8), src); err != nil {
					t.Fatal(i, err)
				}
				if err := c.PutBulk(1, int64(i*8)+4, src[4:]); err != nil {
					t.Fatal(i, err)
				}
			}
			if v.cfg.ActiveMessages {
				if got := m.numbers.Used(); got != 2*n {
					t.Errorf("%d outstanding, want %d", got, 2*n)
				}
			}
			j.run(func(m *Memory) error {
				if m.Rank() == 0 {
					return errors.Join(WaitAll(hs), c.WaitPuts())
				}
				return nil
			})
			for i := range n {
				if d := differ(j.ms[1].Segment()[8*i:8*i+8], src); d != "" {
					t.Fatalf("put %d: %s", i, d)
				}
			}
		})
	}
}
