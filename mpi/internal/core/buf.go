package core

import (
	"bytes"
	"fmt"
	"unsafe"

	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/signature"
)

// Buf is a buffer of the program: N elements of type T at Mem. T nil: bytes. Places of T are relative to Mem, which may
// be nil where they are addresses (MPI_BOTTOM).
type Buf struct {
	Mem unsafe.Pointer
	N   int64
	T   *dtype.Type
	Of  *signature.Elem // what the elements are compared by, and why they may not travel; nil: as T says
}

// data are the bytes of a message: in one piece of memory, or what a cursor packs or unpacks.
type data struct {
	b         []byte
	cur       *dtype.Cursor // nil: b has them
	signature uint64        // of the elements; 0 where types are not checked
}

// len is the number of bytes.
func (d *data) len() int {
	if d.cur != nil {
		return d.cur.Len()
	}
	return len(d.b)
}

// data looks at a buffer. Elements without holes are bytes in one piece, and so is one element that has holes only
// around it.
func (b *Buf) data() (data, error) {
	t := b.T
	if t == nil {
		t = dtype.Named(dtype.Byte)
	}
	n, ok := t.Bytes(b.N)
	switch {
	case b.Of != nil && b.Of.Err() != nil:
		return data{}, b.Of.Err()
	case !ok || int64(int(n)) != n:
		return data{}, fmt.Errorf("%w: %d elements of %d bytes", sentinel.ErrCount, b.N, t.Size())
	case !t.Committed():
		return data{}, fmt.Errorf("%w: it has not been committed", sentinel.ErrType)
	case n == 0:
		return data{}, nil
	case b.Mem == nil && !t.Absolute():
		return data{}, fmt.Errorf("%w: no memory for %d bytes", sentinel.ErrBuffer, n)
	case t.Dense():
		return data{b: unsafe.Slice((*byte)(b.Mem), int(n))}, nil
	}
	cur := new(dtype.Cursor)
	t.Over(cur, b.Mem, b.N)
	if mem, ok := cur.Piece(); ok {
		return data{b: mem}, nil
	}
	return data{cur: cur}, nil
}

// sent looks at a buffer to send, for the function what. The other arguments are checked, too.
func (c *Comm) sent(what string, b *Buf, dest, tag int) (data, error) {
	d, err := b.data()
	if err := c.Bad(what, Sending, err, dest, tag); err != nil {
		return data{}, err
	}
	d.signature = c.signatureOf(b)
	return d, nil
}

// received is sent for a buffer to receive into.
func (c *Comm) received(what string, b *Buf, source, tag int) (data, error) {
	d, err := b.data()
	if err := c.Bad(what, Receiving, err, source, tag); err != nil {
		return data{}, err
	}
	d.signature = c.signatureOf(b)
	return d, nil
}

// packed is a copy of the bytes of d, in one piece.
func (d *data) packed() data {
	if d.cur == nil {
		return data{b: bytes.Clone(d.b), signature: d.signature}
	}
	b := make([]byte, d.len())
	d.cur.Pack(b, 0)
	return data{b: b, signature: d.signature}
}

// Pack writes the elements of b to dst, one behind the other, and returns how many bytes they are (5.2). ErrArgument:
// dst is too short.
func (b Buf) Pack(dst []byte) (int64, error) {
	d, err := b.fitting(len(dst))
	if err != nil {
		return 0, err
	}
	if d.cur == nil {
		copy(dst, d.b)
	} else {
		d.cur.Pack(dst[:d.len()], 0)
	}
	return int64(d.len()), nil
}

// Unpack sets the elements of b to what Pack has written to src, and returns how many bytes they are (5.2).
// ErrArgument: src is too short.
func (b Buf) Unpack(src []byte) (int64, error) {
	d, err := b.fitting(len(src))
	if err != nil {
		return 0, err
	}
	if d.cur == nil {
		copy(d.b, src)
	} else {
		d.cur.Unpack(src[:d.len()], 0)
	}
	return int64(d.len()), nil
}

// fitting is the data of b, which must be no more than room bytes.
func (b *Buf) fitting(room int) (data, error) {
	d, err := b.data()
	if err == nil && d.len() > room {
		err = fmt.Errorf("%w: %d bytes of packed data, a buffer of %d", sentinel.ErrArgument, d.len(), room)
	}
	return d, err
}
