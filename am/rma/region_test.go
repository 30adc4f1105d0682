package rma

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
)

// counting is an Updater: a request is the offset of a number and what is added to it; the answer is the old value, as
// often as it has room.
func counting(at PieceFunc, request, reply []byte) ([]byte, bool) {
	if len(request) != 16 {
		return nil, false
	}
	mem := at(int64(binary.LittleEndian.Uint64(request)), 8)
	if mem == nil {
		return nil, false
	}
	v := binary.LittleEndian.Uint64(mem)
	for len(reply) < cap(reply) {
		reply = binary.LittleEndian.AppendUint64(reply, v)
	}
	binary.LittleEndian.PutUint64(mem, v+binary.LittleEndian.Uint64(request[8:]))
	return reply, true
}

func addition(off int64, v uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(off)), v)
}

// regionsOf gives each rank a region of 64 KiB of its own memory, one that is allocated, and an empty one.
func regionsOf(m *Memory) (rs [3]Region, err error) {
	m.SetUpdater(counting)
	if rs[0], err = m.AddRegion(make([]byte, 1<<16), false); err != nil {
		return rs, err
	}
	mem, err := m.Allocate(1 << 16)
	if err != nil {
		return rs, err
	}
	if rs[1], err = m.AddRegion(mem, true); err != nil {
		return rs, err
	}
	rs[2], err = m.AddRegion(nil, false)
	return rs, err
}

func TestRegionsHoldWhatIsPut(t *testing.T) {
	const n = 3
	overAll(t, n, func(t *testing.T, j *job) {
		b := newBarrier(n)
		j.run(func(m *Memory) error {
			rs, err := regionsOf(m)
			b.wait()
			if err == nil {
				err = exchangeIn(m, rs, b)
			}
			b.wait()
			for _, r := range rs {
				for peer := range n {
					m.ForgetRegion(peer, r)
				}
			}
			b.wait()
			for _, r := range rs {
				m.RemoveRegion(r)
			}
			if left := m.regions.regionOf(rs[0]); err == nil && left != nil {
				err = errors.New("a region that was removed is still there")
			}
			return err
		})
	})
}

// exchangeIn puts bytes into each region of the next rank, and reads them there and at home.
func exchangeIn(m *Memory, rs [3]Region, b *barrier) error {
	next, before := (m.Rank()+1)%m.Size(), (m.Rank()+m.Size()-1)%m.Size()
	for i, r := range rs[:2] {
		for _, size := range []int{1, 100, 5000, 40000} {
			want := pattern(size, 10*i+m.Rank())
			if err := m.Put(next, r.At(16), want); err != nil {
				return err
			}
			got := make([]byte, size)
			if err := m.Get(next, r.At(16), got); err != nil {
				return err
			}
			if d := differ(got, want); d != "" {
				return fmt.Errorf("region %d, %d bytes: %s", r, size, d)
			}
			b.wait()
			home := m.regions.regionOf(r).pieceAt(16, size)
			if d := differ(home, pattern(size, 10*i+before)); d != "" {
				return fmt.Errorf("own region %d, %d bytes: %s", r, size, d)
			}
			b.wait()
		}
		if _, err := FetchAdd[int64](m, next, r.At(8), 5); err != nil {
			return err
		}
	}
	if v, err := Load[int64](m, next, rs[0].At(8)); err != nil || v != 5 {
		return fmt.Errorf("the number is %d, want 5; %v", v, err)
	}
	return nil
}

func TestRegionsRefuse(t *testing.T) {
	overAll(t, 2, func(t *testing.T, j *job) {
		b := newBarrier(2)
		j.run(func(m *Memory) error {
			defer b.wait()
			rs, err := regionsOf(m)
			b.wait()
			if err != nil {
				return err
			}
			peer := 1 - m.Rank()
			for _, bad := range []int64{rs[0].At(1 << 16), rs[0].At(1<<16 - 7), rs[2].At(0), rs[1].At(-1), Region(77).At(0)} {
				if err := m.Put(peer, bad, make([]byte, 8)); !errors.Is(err, ErrBounds) {
					return fmt.Errorf("put to offset %#x: %v", bad, err)
				}
			}
			if _, err := m.PutNotifyNB(peer, rs[0].At(0), make([]byte, 8), 0, 1); !errors.Is(err, ErrArgument) {
				return fmt.Errorf("put and notify: %v", err)
			}
			h, err := m.UpdateNB(peer, rs[2], addition(0, 1), nil)
			if err == nil {
				err = h.Wait()
			}
			if !errors.Is(err, ErrRefused) {
				return fmt.Errorf("update outside: %v", err)
			}
			if _, err := m.UpdateNB(peer, rs[0], make([]byte, m.frag+1), nil); !errors.Is(err, ErrArgument) {
				return fmt.Errorf("long update: %v", err)
			}
			if _, err := m.UpdateNB(2, rs[0], nil, nil); !errors.Is(err, ErrRank) {
				return fmt.Errorf("update at rank 2: %v", err)
			}
			return nil
		})
	})
}

// TestUpdatesAreAtomic has all ranks add to a number of rank 0, which does so, too.
func TestUpdatesAreAtomic(t *testing.T) {
	const n = 4
	each := fewer(400)
	overAll(t, n, func(t *testing.T, j *job) {
		b := newBarrier(n)
		j.run(func(m *Memory) error {
			defer b.wait()
			rs, err := regionsOf(m)
			b.wait()
			if err != nil {
				return err
			}
			last := uint64(0)
			for i := range each {
				var old [128]byte
				room := []int{0, 8, 128}[i%3]
				h, err := m.UpdateNB(0, rs[0], addition(24, 1), old[:room])
				if err == nil {
					err = h.Wait()
				}
				if err != nil {
					return err
				}
				if room == 0 {
					continue
				}
				v := binary.LittleEndian.Uint64(old[room-8:])
				if i > 2 && v <= last {
					return fmt.Errorf("update %d: the number was %d, before %d", i, v, last)
				}
				last = v
			}
			b.wait()
			if v := binary.LittleEndian.Uint64(m.regions.regionOf(rs[0]).pieceAt(24, 8)); m.Rank() == 0 && v != uint64(n*each) {
				return fmt.Errorf("the number is %d, want %d", v, n*each)
			}
			return nil
		})
	})
}

func TestPiecesAreFoundByTheirOwner(t *testing.T) {
	overAll(t, 2, func(t *testing.T, j *job) {
		b := newBarrier(2)
		j.run(func(m *Memory) error {
			defer b.wait()
			const base = 0x7fff_1234_0000
			mem := make([]byte, 4096)
			r, err := m.AddPieces(func(off int64, n int) []byte {
				if off < base || off+int64(n) > base+int64(len(mem)) {
					return nil
				}
				return mem[off-base:][:n]
			})
			b.wait()
			if err != nil {
				return err
			}
			peer, want, got := 1-m.Rank(), pattern(3000, m.Rank()), make([]byte, 3000)
			if err := m.Put(peer, r.At(base+8), want); err != nil {
				return err
			}
			if err := m.Get(peer, r.At(base+8), got); err != nil {
				return err
			}
			if d := differ(got, want); d != "" {
				return errors.New(d)
			}
			if err := m.Put(peer, r.At(base+4000), want); !errors.Is(err, ErrRefused) {
				return fmt.Errorf("put beyond: %v", err)
			}
			return nil
		})
	})
}

func TestReachedRegions(t *testing.T) {
	j := newJob(t, 2, ways[0], newSeed(t))
	mem := make([]byte, 64)
	m := j.ms[0]
	m.ReachRegion(1, 9, mem)
	if err := m.Put(1, Region(9).At(8), pattern(8, 1)); err != nil {
		t.Fatal(err)
	}
	if d := differ(mem[8:16], pattern(8, 1)); d != "" {
		t.Fatal(d)
	}
	if got, err := m.MappedRegion(1, 9); err != nil || &got[0] != &mem[0] {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	m.Close()
	if _, err := m.MappedRegion(1, 9); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
}

func TestRegionNumbersAreUsedAgain(t *testing.T) {
	j := newJob(t, 1, ways[0], newSeed(t))
	m := j.ms[0]
	a, _ := m.AddRegion(nil, false)
	b, _ := m.AddRegion(nil, false)
	m.RemoveRegion(a)
	if c, err := m.AddRegion(nil, false); c != a || b == a || err != nil {
		t.Fatalf("regions %d, %d, then %d, %v", a, b, c, err)
	}
}
