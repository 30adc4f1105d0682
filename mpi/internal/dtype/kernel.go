package dtype

import (
	"unsafe"

	"github.com/golci/golci/internal/platform/runs"
)

// strided moves n pieces of length bytes, stride apart.
func (m *mover) strided(at, length, stride, n int64) {
	if m.direction == listing {
		for i := int64(0); i < n && !m.stop; i++ {
			m.movePiece(at+i*stride, length)
		}
		return
	}
	if m.direction == packing {
		runs.MoveRuns(length, m.buf, m.pos, length, m.base, at, stride, n)
	} else {
		runs.MoveRuns(length, m.base, at, stride, m.buf, m.pos, length, n)
	}
	m.pos += n * length
}

// scattered moves pieces of length bytes at any places.
func (m *mover) scattered(at, length int64, offs []int64) {
	switch {
	case m.direction == listing || length != 4 && length != 8 && length != 16:
		for _, o := range offs {
			if m.stop {
				return
			}
			m.movePiece(at+o, length)
		}
		return
	case m.direction == packing && length == 4:
		gather[[4]byte](m.buf, m.pos, m.base, at, offs)
	case m.direction == packing && length == 8:
		gather[[8]byte](m.buf, m.pos, m.base, at, offs)
	case m.direction == packing:
		gather[[16]byte](m.buf, m.pos, m.base, at, offs)
	case length == 4:
		scatter[[4]byte](m.buf, m.pos, m.base, at, offs)
	case length == 8:
		scatter[[8]byte](m.buf, m.pos, m.base, at, offs)
	default:
		scatter[[16]byte](m.buf, m.pos, m.base, at, offs)
	}
	m.pos += int64(len(offs)) * length
}

// wholeList packs or unpacks all of a list.
func (m *mover) wholeList(p *node, at int64) {
	dst, src, pos, from := m.buf, m.base, m.pos, int64(0)
	if m.direction == packing {
		for i, o := range p.offs {
			n := p.ends[i] - from
			moveOne(dst, pos+from, src, at+o, n)
			from += n
		}
	} else {
		for i, o := range p.offs {
			n := p.ends[i] - from
			moveOne(src, at+o, dst, pos+from, n)
			from += n
		}
	}
	m.pos += from
}

// moveOne moves a piece. Those that are as long as a number need no call.
func moveOne(dst unsafe.Pointer, to int64, src unsafe.Pointer, from, n int64) {
	switch n {
	case 8:
		*(*[8]byte)(unsafe.Add(dst, to)) = *(*[8]byte)(unsafe.Add(src, from))
	case 4:
		*(*[4]byte)(unsafe.Add(dst, to)) = *(*[4]byte)(unsafe.Add(src, from))
	case 16:
		*(*[16]byte)(unsafe.Add(dst, to)) = *(*[16]byte)(unsafe.Add(src, from))
	default:
		copy(unsafe.Slice((*byte)(unsafe.Add(dst, to)), n), unsafe.Slice((*byte)(unsafe.Add(src, from)), n))
	}
}

func gather[T any](buf unsafe.Pointer, pos int64, base unsafe.Pointer, at int64, offs []int64) {
	for _, o := range offs {
		*(*T)(unsafe.Add(buf, pos)) = *(*T)(unsafe.Add(base, at+o))
		pos += int64(unsafe.Sizeof(*new(T)))
	}
}

func scatter[T any](buf unsafe.Pointer, pos int64, base unsafe.Pointer, at int64, offs []int64) {
	for _, o := range offs {
		*(*T)(unsafe.Add(base, at+o)) = *(*T)(unsafe.Add(buf, pos))
		pos += int64(unsafe.Sizeof(*new(T)))
	}
}
