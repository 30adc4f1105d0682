package comm

import (
	"encoding/binary"
	"fmt"

	"github.com/golci/golci/am"
)

// The data of a message are contiguous bytes, or what a cursor packs and unpacks: a Source at its sender, a Target at
// its receiver. The two ends of a message choose apart from each other. The bytes on the way are the same.

// Source is data to send that do not lie in one piece of memory. One operation makes one call at a time. Several
// operations may have one Source. Its methods must not block, panic, or call the server: Pack runs under the lock of a
// pair of ranks, on the caller's goroutine or inside a poll of another one.
type Source interface {
	// Len is the number of bytes of the message. It stays the same until the operation is done.
	Len() int
	// Pack writes the bytes of the message from offset off on to dst, and fills dst, which does not go beyond Len. It
	// must not keep dst. Offsets are of any alignment. Each byte is packed once; those of a send that End leaves may
	// be packed once more.
	Pack(dst []byte, off int)
}

// Target is a receive buffer that does not lie in one piece of memory. What holds for a Source holds here.
type Target interface {
	// Len is the number of bytes for which there is room. It stays the same until the operation is done.
	Len() int
	// Unpack takes src, the bytes of the message from offset off on, which do not go beyond Len. It must not keep src.
	// The pieces of a large message come in any length, at offsets of any alignment, over some conduits in any order.
	// Each byte comes once.
	Unpack(src []byte, off int)
}

// SendFrom is Send of what src packs. A message that travels eagerly is packed into its record at once. A larger one is
// packed chunk by chunk: there is never a copy of all of it. ErrBuffer: src is nil, or its length negative.
func (s *Server) SendFrom(ctx uint16, dst, tag int, src Source, mode Mode) error {
	size, err := s.checkSource(ctx, dst, tag, src)
	if err != nil {
		return err
	}
	if mode == Standard && size <= s.sure && s.sendEagerAs(ctx, dst, tag, nil, src, 0) {
		return nil
	}
	if err := s.mayWait("send", dst, tag); err != nil {
		return err
	}
	o := s.newSend(ctx, dst, tag, nil, mode)
	o.cursor, o.size = src, int64(size)
	return s.sendAndWait(o)
}

// IsendFrom is IsendWith of what src packs. Its bytes must stay as they are until the request is done.
// OpOptions.Signature has the elements checked, but a change of the bytes is not noticed.
func (s *Server) IsendFrom(ctx uint16, dst, tag int, src Source, mode Mode, t OpOptions) (Req, error) {
	size, err := s.checkSource(ctx, dst, tag, src)
	if err != nil {
		return Req{}, err
	}
	if mode == Standard && size <= s.sure && s.sendEagerAs(ctx, dst, tag, nil, src, t.Signature) {
		return Req{}, nil
	}
	o := s.newSend(ctx, dst, tag, nil, mode)
	o.cursor, o.size, o.endable, o.signature = src, int64(size), t.Endable, t.Signature
	return s.startOn(o, t, s.startSend), nil
}

// RecvInto is Recv that dst unpacks. A message longer than dst gives ErrTruncate, and dst gets its beginning.
// ErrBuffer: dst is nil, or its length negative.
func (s *Server) RecvInto(ctx uint16, src, tag int, dst Target) (Status, error) {
	if err := s.checkTarget(ctx, src, tag, dst); err != nil {
		return Status{}, err
	}
	if err := s.mayWait("receive", src, tag); err != nil {
		return Status{}, err
	}
	o := s.newRecv(ctx, src, tag, nil)
	o.cursor = dst
	return s.recvAndWait(o)
}

// IrecvInto is IrecvWith that dst unpacks. dst must be left alone until the request is done. OpOptions.Alone does
// nothing.
func (s *Server) IrecvInto(ctx uint16, src, tag int, dst Target, t OpOptions) (Req, error) {
	if err := s.checkTarget(ctx, src, tag, dst); err != nil {
		return Req{}, err
	}
	o := s.newRecv(ctx, src, tag, nil)
	o.cursor, o.endable, o.signature = dst, t.Endable, t.Signature
	return s.startOn(o, t, s.postOn), nil
}

// ImrecvInto is ImrecvWith that dst unpacks.
func (s *Server) ImrecvInto(msg *Message, dst Target, t OpOptions) (Req, error) {
	if dst == nil || dst.Len() < 0 {
		return Req{}, s.checkTarget(0, AnySource, AnyTag, dst)
	}
	return s.imrecv(msg, nil, nil, dst, t)
}

func (s *Server) checkSource(ctx uint16, dst, tag int, src Source) (size int, err error) {
	if err := s.checkArgs("send", ctx, dst, tag, false); err != nil {
		return 0, err
	}
	if src != nil {
		size = src.Len()
	}
	if src == nil || size < 0 {
		return 0, s.noCursor("send", dst, tag, size)
	}
	return size, nil
}

func (s *Server) checkTarget(ctx uint16, src, tag int, dst Target) error {
	if err := s.checkArgs("receive", ctx, src, tag, true); err != nil {
		return err
	}
	if dst == nil {
		return s.noCursor("receive", src, tag, 0)
	}
	if size := dst.Len(); size < 0 {
		return s.noCursor("receive", src, tag, size)
	}
	return nil
}

// noCursor is the error of a cursor that is nil, if size is 0, or whose length is negative.
func (s *Server) noCursor(what string, peer, tag, size int) error {
	if size == 0 {
		return fmt.Errorf("%w: rank %d: %s with rank %d, tag %d: no cursor", ErrBuffer, s.rank, what, peer, tag)
	}
	return fmt.Errorf("%w: rank %d: %s with rank %d, tag %d: a cursor over %d bytes", ErrBuffer, s.rank, what, peer, tag, size)
}

// cursor is the Source of a send or the Target of a receive. One field of the op holds either, so that ops of
// contiguous messages are not longer for both.
type cursor interface{ Len() int }

// packSource is what packs the bytes of the send o, nil if they are contiguous.
func (o *op) packSource() Source {
	if o.cursor == nil {
		return nil
	}
	return o.cursor.(Source)
}

// bufferRoom is how many bytes the buffer of o holds.
func (o *op) bufferRoom() int64 {
	if o.cursor != nil {
		return int64(o.cursor.Len())
	}
	return int64(len(o.data))
}

// placeBytes puts bytes of the message from offset off on where they belong, as far as there is room, and returns how
// many.
func (o *op) placeBytes(b []byte, off int) int {
	if o.cursor == nil {
		return copy(o.data[off:], b)
	}
	if b = b[:min(len(b), o.cursor.Len()-off)]; len(b) > 0 {
		o.cursor.(Target).Unpack(b, off)
	}
	return len(b)
}

// putEager fills the body of an eager record for dst: the key, the signature if there is one, and data or what src
// packs.
func (s *Server) putEager(dst int, body []byte, key, shape uint64, data []byte, src Source) {
	binary.LittleEndian.PutUint64(body, key)
	if body = body[8:]; shape != 0 {
		binary.LittleEndian.PutUint64(body, shape)
		body = body[8:]
	}
	switch {
	case src == nil:
		s.e.CopyOut(dst, body, data)
	case len(body) > 0:
		src.Pack(body, 0)
	}
}

// setChunked makes b the first n bytes of the send o, as a transfer that leaves in pieces.
func (o *op) setChunked(b *am.Bulk, id, n uint64) {
	*b = am.Bulk{ID: id, Channel: bulkChannel, Owner: (*bulkSend)(o), Stay: o.endable}
	if src := o.packSource(); src != nil {
		b.From, b.Rest = src, int(n)
	} else {
		b.Data = o.data[:n]
	}
}
