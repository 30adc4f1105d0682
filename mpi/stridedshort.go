package mpi

import (
	"errors"
	"sync"
	"unsafe"
)

// Short parts of slices are packed and unpacked here: the datatype engine would take longer to begin than to copy them.

// shortPart is how many bytes a short part has at most.
const shortPart = 1 << 10

// packedPart is memory for one, aligned for any element.
type packedPart [shortPart / 8]uint64

var packedParts = sync.Pool{New: func() any { return new(packedPart) }}

// isShort reports whether s is a short part of buf.
func isShort[T any](buf []T, s Strided) bool {
	n := s.endIndex()
	return n >= 0 && n <= len(buf) && uint(s.Count) <= shortPart && uint(s.Block) <= shortPart &&
		uintptr(s.Count*s.Block)*unsafe.Sizeof(*new(T)) <= shortPart
}

// lineOf gives the first n elements in m.
func lineOf[T any](m *packedPart, n int) []T { return unsafe.Slice((*T)(unsafe.Pointer(m)), n) }

// eachBlock calls f with the places of a block in the packed part and in the slice.
func (s Strided) eachBlock(f func(packed, at int)) {
	for i := range s.Count {
		f(i*s.Block, i*s.Stride)
	}
}

// sendShort is SendStrided of a short part by the direct path.
func sendShort[T any](c *Comm, buf []T, s Strided, dest, tag int) error {
	m := packedParts.Get().(*packedPart)
	line := lineOf[T](m, s.Count*s.Block)
	if s.Block == 1 {
		for i := range line {
			line[i] = buf[i*s.Stride]
		}
	} else {
		s.eachBlock(func(packed, at int) { copy(line[packed:][:s.Block], buf[at:]) })
	}
	b, h := bytesOf(line), c.hot()
	if err := h.Srv.Send(h.Ctx, int(h.Near[dest]), tag, b, nil); err != nil {
		return c.core().SendError("SendStrided", dest, tag, len(b), err)
	}
	packedParts.Put(m)
	return nil
}

// recvShort is RecvStrided into a short part by the direct path.
func recvShort[T any](c *Comm, buf []T, s Strided, source, tag int) (Status, error) {
	m := packedParts.Get().(*packedPart)
	line := lineOf[T](m, s.Count*s.Block)
	b, h := bytesOf(line), c.hot()
	st, err := h.Srv.Recv(h.Ctx, int(h.Near[source]), tag, b, nil)
	n := int(st.Bytes)
	if err != nil {
		if err = c.core().RecvError("RecvStrided", source, tag, len(b), err); !errors.Is(err, ErrTruncate) {
			return Status{Source: source, Tag: st.Tag, bytes: st.Bytes}, err
		}
		n = len(b)
	}
	switch {
	case n == len(b) && s.Block == 1:
		for i, v := range line {
			buf[i*s.Stride] = v
		}
	case n == len(b):
		s.eachBlock(func(packed, at int) { copy(buf[at:][:s.Block], line[packed:]) })
	default:
		unpackSome(buf, s, b[:n])
	}
	packedParts.Put(m)
	return Status{Source: source, Tag: st.Tag, bytes: st.Bytes}, err
}

// unpackSome unpacks bytes of a message that does not fill the part.
func unpackSome[T any](buf []T, s Strided, b []byte) {
	size := int(unsafe.Sizeof(*new(T)))
	s.eachBlock(func(packed, at int) {
		if from := min(packed*size, len(b)); from < len(b) {
			copy(bytesOf(buf[at:][:s.Block]), b[from:])
		}
	})
}
