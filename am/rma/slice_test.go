package rma

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/golci/golci/internal/platform/invariants"
)

// TestSlices does random accesses of all kinds. Each rank has its own part of every segment, and compares with a
// shadow.
func TestSlices(t *testing.T) {
	sizes := []int{2, 5, 8}
	if invariants.Race {
		sizes = []int{2, 5}
	}
	for _, ranks := range sizes {
		t.Run(fmt.Sprint("ranks=", ranks), func(t *testing.T) { overAll(t, ranks, walk) })
	}
	over(t, networks, 3, walk)
}

func walk(t *testing.T, j *job) {
	seed := newSeed(t)
	j.run(func(m *Memory) error {
		s := newSlicer(m, seed)
		for i := range fewer(400) {
			if err := s.step(); err != nil {
				return fmt.Errorf("step %d: %w", i, err)
			}
		}
		return s.finish()
	})
}

// slicer is one rank's random walk.
type slicer struct {
	m      *Memory
	r      *rand.Rand
	c      *Context
	base   int      // of this rank's part, in every segment
	size   int      // of the part
	shadow [][]byte // by peer
	puts   []Handle
	srcs   [][]byte // kept alive until puts are done
}

func newSlicer(m *Memory, seed uint64) *slicer {
	s := &slicer{m: m, r: rand.New(rand.NewPCG(seed, uint64(m.Rank()))), c: m.NewContext()}
	s.size = testSegment / m.Size()
	s.base = s.size * m.Rank()
	for range m.Size() {
		s.shadow = append(s.shadow, make([]byte, s.size))
	}
	return s
}

// span picks a random range, mostly a small one.
func (s *slicer) span() (peer, at, n int) {
	most := 1 << s.r.IntN(17)
	n = s.r.IntN(min(most, s.size))
	return s.r.IntN(s.m.Size()), s.r.IntN(s.size - n), n
}

func (s *slicer) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(s.r.Uint32())
	}
	return b
}

func (s *slicer) step() error {
	peer, at, n := s.span()
	off, shadow := int64(s.base+at), s.shadow[peer][at:at+n]
	switch k := s.r.IntN(10); k {
	case 0, 1, 2, 3, 4, 5: // two writes under way must not meet
		if err := s.settle(); err != nil && k > 0 {
			return err
		}
		src := s.bytes(n)
		copy(shadow, src)
		return s.put(k, peer, off, src)
	case 6:
		if err := s.settle(); err != nil {
			return err
		}
		v := byte(s.r.Uint32())
		fillBytes(shadow, v)
		return s.c.Memset(peer, off, v, n)
	default:
		if err := s.settle(); err != nil {
			return err
		}
		return s.get(k, peer, off, shadow)
	}
}

func (s *slicer) put(k, peer int, off int64, src []byte) (err error) {
	var h Handle
	switch k {
	case 0:
		return s.m.Put(peer, off, src)
	case 1:
		h, err = s.m.PutNB(peer, off, src)
		clear(src)
	case 2:
		h, err = s.m.PutNBBulk(peer, off, src)
	case 3:
		err = s.c.Put(peer, off, src)
		clear(src)
	case 4:
		err = s.c.PutBulk(peer, off, src)
	case 5:
		var p Prepared
		if p, err = s.m.PreparePut(peer, off, min(len(src), 64), len(src)); err == nil {
			n := copy(p.Buf, src)
			if h, err = p.Commit(n); err == nil {
				err = s.m.Put(peer, off+int64(n), src[n:])
			}
		}
	}
	s.puts, s.srcs = append(s.puts, h), append(s.srcs, src)
	return err
}

func (s *slicer) get(k, peer int, off int64, want []byte) error {
	got := make([]byte, len(want))
	switch k {
	case 7:
		if err := s.m.Get(peer, off, got); err != nil {
			return err
		}
	case 8:
		h, err := s.m.GetNB(peer, off, got)
		if err != nil {
			return err
		}
		if err := h.Wait(); err != nil {
			return err
		}
	case 9:
		if err := s.c.Get(peer, off, got); err != nil {
			return err
		}
		if err := s.c.WaitGets(); err != nil {
			return err
		}
	}
	if d := differ(got, want); d != "" {
		return fmt.Errorf("rank %d, offset %d: %s", peer, off, d)
	}
	return nil
}

func (s *slicer) settle() error {
	if err := WaitAll(s.puts); err != nil {
		return err
	}
	s.puts, s.srcs = s.puts[:0], s.srcs[:0]
	return s.c.WaitAll()
}

func (s *slicer) finish() error {
	if err := s.settle(); err != nil {
		return err
	}
	for peer, want := range s.shadow {
		if err := s.get(7, peer, int64(s.base), want); err != nil {
			return err
		}
	}
	return nil
}

// TestVectors puts and gets strided and indexed pieces, and checks what lies between them.
func TestVectors(t *testing.T) {
	overAll(t, 2, func(t *testing.T, j *job) {
		j.run(func(m *Memory) error {
			peer := 1 - m.Rank()
			s := Strided{Block: 24, Count: 50, Remote: 40, Local: 30}
			src := pattern(49*30+24, 1)
			if err := m.PutStrided(peer, 10, src, s); err != nil {
				return err
			}
			got := make([]byte, 50*40+20)
			if err := m.Get(peer, 0, got); err != nil {
				return err
			}
			want := make([]byte, len(got))
			for i := range 50 {
				copy(want[10+i*40:], src[i*30:i*30+24])
			}
			if d := differ(got, want); d != "" {
				return fmt.Errorf("strided put: %s", d)
			}
			back := make([]byte, len(src))
			if err := m.GetStrided(peer, 10, back, s); err != nil {
				return err
			}
			for i := range 50 {
				if d := differ(back[i*30:i*30+24], src[i*30:i*30+24]); d != "" {
					return fmt.Errorf("strided get, block %d: %s", i, d)
				}
			}
			pieces := []Piece{{Off: 5000, Local: src[:100]}, {Off: 6000, Local: src[100:107]}, {Off: 5100, Local: src[200:300]}}
			if err := m.PutIndexed(peer, pieces); err != nil {
				return err
			}
			for i := range pieces {
				pieces[i].Local = make([]byte, len(pieces[i].Local))
			}
			if err := m.GetIndexed(peer, pieces); err != nil {
				return err
			}
			for i, at := range []int{0, 100, 200} {
				if d := differ(pieces[i].Local, src[at:at+len(pieces[i].Local)]); d != "" {
					return fmt.Errorf("piece %d: %s", i, d)
				}
			}
			return nil
		})
	})
}
