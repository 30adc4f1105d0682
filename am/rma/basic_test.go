package rma

import (
	"errors"
	"fmt"
	"testing"
)

// sizes of transfers: around a record, a reply, and the pieces of a large one.
var sizes = []int{0, 1, 7, 8, 9, 63, 64, 65, 1024, 1025, 4095, 4096, 4097, 8191, 8192, 9000, 40000, 100000}

// half gives each rank its own half of its neighbour's segment to write to.
const half = testSegment / 2

// TestBlocking puts and gets every size at odd offsets, and overwrites the source right after a put.
func TestBlocking(t *testing.T) {
	overNetworks(t, 2, func(t *testing.T, j *job) {
		b := newBarrier(2)
		j.run(func(m *Memory) error {
			peer := 1 - m.Rank()
			for i, n := range sizes {
				off := int64(i * 3)
				src := pattern(n, i+m.Rank())
				if err := m.Put(peer, off, src); err != nil {
					return err
				}
				clear(src)
				got := make([]byte, n)
				if err := m.Get(peer, off, got); err != nil {
					return err
				}
				if d := differ(got, pattern(n, i+m.Rank())); d != "" {
					return fmt.Errorf("size %d: %s", n, d)
				}
				b.wait()
				if d := differ(m.Segment()[off:off+int64(n)], pattern(n, i+peer)); d != "" {
					return fmt.Errorf("size %d, in the segment: %s", n, d)
				}
				b.wait()
			}
			return nil
		})
	})
}

// TestHandles starts a list of puts, waits for them by list, and does the same with gets.
func TestHandles(t *testing.T) {
	overNetworks(t, 3, func(t *testing.T, j *job) {
		j.run(func(m *Memory) error {
			const n, each = 100, 300
			peer := (m.Rank() + 1) % 3
			var hs []Handle
			for i := range n {
				src := pattern(each, i)
				h, err := m.PutNB(peer, int64(i*each), src)
				if err != nil {
					return err
				}
				clear(src) // may be reused at once
				hs = append(hs, h)
			}
			if err := WaitAll(hs); err != nil {
				return err
			}
			for i, h := range hs {
				if h != (Handle{}) {
					return fmt.Errorf("handle %d is left", i)
				}
			}
			dst := make([]byte, n*each)
			for i := range n {
				h, err := m.GetNB(peer, int64(i*each), dst[i*each:(i+1)*each])
				if err != nil {
					return err
				}
				hs[i] = h
			}
			for left := n; left > 0; {
				valid := 0
				for _, h := range hs {
					if h.isValid() {
						valid++
					}
				}
				if valid == 0 {
					break
				}
				k, err := WaitSome(hs)
				if err != nil || k == 0 {
					return fmt.Errorf("WaitSome: %d, %w", k, err)
				}
				left -= k
			}
			for i := range n {
				if d := differ(dst[i*each:(i+1)*each], pattern(each, i)); d != "" {
					return fmt.Errorf("piece %d: %s", i, d)
				}
			}
			return nil
		})
	})
}

// TestBulkPuts keeps the sources until the handles are done, with a handle for the source too.
func TestBulkPuts(t *testing.T) {
	overNetworks(t, 2, func(t *testing.T, j *job) {
		b := newBarrier(2)
		j.run(func(m *Memory) error {
			peer := 1 - m.Rank()
			for i, n := range sizes {
				src := pattern(n, i)
				h, err := m.PutNBBulk(peer, 0, src)
				if err != nil {
					return err
				}
				other := pattern(n, i+1)
				h2, local, err := m.PutNBLocal(peer, half, other)
				if err != nil {
					return err
				}
				if err := local.Wait(); err != nil {
					return err
				}
				clear(other)
				if err := errors.Join(h.Wait(), h2.Wait()); err != nil {
					return err
				}
				b.wait()
				if d := differ(m.Segment()[:n], pattern(n, i)); d != "" {
					return fmt.Errorf("size %d: %s", n, d)
				}
				if d := differ(m.Segment()[half:half+n], pattern(n, i+1)); d != "" {
					return fmt.Errorf("size %d, with local completion: %s", n, d)
				}
				b.wait()
			}
			return nil
		})
	})
}

// TestInvalidHandles: zero is done, alone and in lists, and waiting twice is allowed.
func TestInvalidHandles(t *testing.T) {
	var z Handle
	if done, err := z.Test(); !done || err != nil || z.Wait() != nil {
		t.Error("the zero handle is not done")
	}
	for _, hs := range [][]Handle{nil, make([]Handle, 5)} {
		if err := WaitAll(hs); err != nil {
			t.Error(err)
		}
		if n, err := WaitSome(hs); n != 0 || err != nil {
			t.Error(n, err)
		}
		if ok, err := TestAll(hs); !ok || err != nil {
			t.Error(ok, err)
		}
		if ok, err := TestSome(hs); !ok || err != nil {
			t.Error(ok, err)
		}
	}
	overAll(t, 2, func(t *testing.T, j *job) {
		j.run(func(m *Memory) error {
			h, err := m.PutNBBulk(1-m.Rank(), 0, pattern(100, 1))
			if err != nil {
				return err
			}
			return errors.Join(h.Wait(), h.Wait(), WaitAll([]Handle{h}))
		})
	})
}

// TestTestDoesNotPoll: without somebody who polls, Test never finds an operation done.
func TestTestDoesNotPoll(t *testing.T) {
	j := newJob(t, 2, ways[1], newSeed(t))
	j.run(func(m *Memory) error { // attach
		_, err := m.SegmentSize(1 - m.Rank())
		return err
	})
	h, err := j.ms[0].PutNB(1, 0, pattern(10, 1))
	if err != nil {
		t.Fatal(err)
	}
	hs := []Handle{h, {}}
	for range 1000 {
		if done, _ := h.Test(); done {
			t.Fatal("done though nobody has polled")
		}
		if ok, _ := TestAll(hs); ok {
			t.Fatal("all done though nobody has polled")
		}
		if ok, _ := TestSome(hs); ok {
			t.Fatal("some done though nobody has polled")
		}
	}
	eventually(t, "the put", func() bool {
		j.es[1].Poll()
		j.es[0].Poll()
		ok, err := TestAll(hs)
		return ok && err == nil
	})
}

// TestValues puts and gets 1 to 8 bytes as values, at a peer and at the rank itself. Nothing beside them changes.
func TestValues(t *testing.T) {
	overNetworks(t, 2, func(t *testing.T, j *job) {
		j.run(func(m *Memory) error { return errors.Join(values(m, 1-m.Rank(), 0), values(m, m.Rank(), 64)) })
	})
}

// values uses the 32 bytes at a place of the peer's segment.
func values(m *Memory, peer int, place int64) error {
	const v = 0x8877665544332211
	for n := 1; n <= 8; n++ {
		if err := m.Memset(peer, place, 0xee, 32); err != nil {
			return err
		}
		if err := m.PutValue(peer, place+9, v, n); err != nil {
			return err
		}
		want := uint64(v) & (1<<(8*n) - 1)
		if n == 8 {
			want = v
		}
		if got, err := m.GetValue(peer, place+9, n); got != want || err != nil {
			return fmt.Errorf("%d bytes: %#x, %w", n, got, err)
		}
		h, err := m.GetValueNB(peer, place+8, 1)
		if err != nil {
			return err
		}
		after, err := m.GetValue(peer, place+9+int64(n), 1)
		if err != nil {
			return err
		}
		if before, err := h.Wait(); before != 0xee || after != 0xee || err != nil {
			return fmt.Errorf("%d bytes: neighbours are %#x and %#x, %w", n, before, after, err)
		}
	}
	for _, n := range []int{-1, 0, 9} {
		if err := m.PutValue(peer, 0, 1, n); !errors.Is(err, ErrArgument) {
			return fmt.Errorf("value of %d bytes: %w", n, err)
		}
		if _, err := m.GetValue(peer, 0, n); !errors.Is(err, ErrArgument) {
			return fmt.Errorf("value of %d bytes: %w", n, err)
		}
	}
	return nil
}

// TestMemset sets ranges of every size and leaves the rest alone.
func TestMemset(t *testing.T) {
	overNetworks(t, 2, func(t *testing.T, j *job) {
		b := newBarrier(2)
		j.run(func(m *Memory) error {
			peer := 1 - m.Rank()
			for i, n := range sizes {
				if err := m.Memset(peer, 100, byte(i), n); err != nil {
					return err
				}
				b.wait()
				for k, v := range m.Segment()[:n+200] {
					want := byte(0)
					if k >= 100 && k < 100+n {
						want = byte(i)
					}
					if v != want {
						return fmt.Errorf("%d bytes: byte %d is %d, want %d", n, k, v, want)
					}
				}
				b.wait()
				h, err := m.MemsetNB(peer, 100, 0, n)
				if err != nil {
					return err
				}
				if err := h.Wait(); err != nil {
					return err
				}
				b.wait()
			}
			return nil
		})
	})
}
