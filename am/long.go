package am

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/progress"
)

// segment is the memory that Long messages write into.
type segment struct{ mem atomic.Pointer[[]byte] }

// SetSegment makes mem the target of Long messages to this rank. Call it before a peer can send one.
func (e *Endpoint) SetSegment(mem []byte) { e.segment.mem.Store(&mem) }

// Segment is what SetSegment was given, or nil.
func (e *Endpoint) Segment() []byte {
	if p := e.segment.mem.Load(); p != nil {
		return *p
	}
	return nil
}

// sliceOf gives the n bytes of the segment from off, or an error that says why not.
func (s *segment) sliceOf(off int64, n int) ([]byte, error) {
	p := s.mem.Load()
	if n == 0 {
		return nil, nil // the address does not matter then
	}
	if p == nil {
		return nil, fmt.Errorf("%w: no segment is set", ErrSize)
	}
	if n < 0 || off < 0 || off > int64(len(*p)) || int64(n) > int64(len(*p))-off {
		return nil, fmt.Errorf("%w: bytes %d to %d of a segment of %d", ErrSize, off, off+int64(n), len(*p))
	}
	return (*p)[off : off+int64(n)], nil
}

const flagSplit = 1 << 6 // a Long whose payload comes by bulk transfer

// RequestLong puts payload into dst's segment at byte off and then runs handler index h there with args; the handler's
// payload is that part of the segment. A payload that fits a record travels packed with the request, a larger one by
// bulk transfer. It blocks until payload may be reused. Offsets outside the target's segment are a fault that ends the
// target's job, as in GASNet: the sender cannot know them. Errors as for RequestShort; ErrSize for an offset below 0.
func (e *Endpoint) RequestLong(dst int, h uint8, payload []byte, off int64, args ...uint64) error {
	return e.requestLong(dst, h, payload, off, nil, args)
}

// RequestLongAsync is RequestLong that does not wait for payload. done is called once, when payload may be reused, with
// nil or why the payload has not been sent: in this call, or in a poll, where it must not block. The call may block for
// credits, as RequestShort does. If it returns an error, done is not called and payload may be reused.
func (e *Endpoint) RequestLongAsync(
	dst int, h uint8, payload []byte, off int64, done func(error), args ...uint64,
) error {
	return e.requestLong(dst, h, payload, off, done, args)
}

func (e *Endpoint) requestLong(dst int, h uint8, payload []byte, off int64, done func(error), args []uint64) error {
	packed := len(payload)+argBytes <= e.maxMedium && !(e.cfg.SplitLongs && len(payload) > 0)
	size := 3 * argBytes
	if packed {
		size = len(payload) + argBytes
	}
	if err := e.checkRequest(dst, h, len(args), size); err != nil {
		return err
	}
	if off < 0 {
		return fmt.Errorf("%w: segment offset %d at rank %d", ErrSize, off, dst)
	}
	if !packed {
		return e.requestSplit(dst, h, payload, off, done, args)
	}
	err := e.requestMessage(dst, h, args, packedLong(off, payload))
	if err == nil && done != nil {
		done(nil)
	}
	return err
}

func (e *Endpoint) requestSplit(dst int, h uint8, payload []byte, off int64, done func(error), args []uint64) error {
	b := e.putLong(dst, payload, off, done)
	err := e.requestMessage(dst, h, args, splitLong(off, len(payload), b.ID))
	if err == nil && done != nil {
		b.endPayload()
		return nil
	}
	e.prog.Wait(&b.done)
	if err == nil {
		err = b.err
	}
	return err
}

// putLong sends the payload of a split Long. done, if not nil, is called when payload and caller are done with it.
func (e *Endpoint) putLong(dst int, payload []byte, off int64, done func(error)) *longData {
	id := e.longID.Add(1) & math.MaxUint32
	b := &longData{Bulk: Bulk{ID: id, Channel: channelLongs, Off: off, Data: payload}, tell: done}
	b.Owner = b
	b.parts.Store(2)
	e.PutBulk(dst, &b.Bulk)
	return b
}

// requestMessage sends a request whose record is more than arguments and payload.
func (e *Endpoint) requestMessage(dst int, h uint8, args []uint64, m message) error {
	o := e.Lock(dst)
	if ln := e.senderOf(dst); o == Stalled && !ln.hasQueued && e.emitRequest(ln, dst, h, args, &m) {
		ln.mu.Unlock()
		return nil
	}
	return e.requestSlow(dst, o, h, args, m)
}

// longData is the payload of a split Long on its way.
type longData struct {
	Bulk
	done  progress.Done
	err   error        // written before done, and before the payload's part
	parts atomic.Int32 // until tell is called
	tell  func(error)  // nil if nobody wants to be told
}

// Sent implements BulkOwner.
func (b *longData) Sent(w *fult.Worker) {
	b.endPayload()
	b.done.Complete(w)
}

// Fail implements BulkOwner.
func (b *longData) Fail(err error, w *fult.Worker) {
	b.err = err
	b.Sent(w)
}

// endPayload notes that the payload may be reused, or that its request is on its way.
func (b *longData) endPayload() {
	if b.parts.Add(-1) == 0 && b.tell != nil {
		b.tell(b.err)
	}
}

// partialLongs are the split Longs of which something has arrived, the request or a piece of the payload.
type partialLongs map[longKey]*partialLong

type longKey struct {
	src int
	id  uint64
}

// partialLong is a split Long that has begun to arrive. Pieces of its payload come in any order, so bytes are counted.
type partialLong struct {
	received int64 // bytes of payload
	want     int64 // -1 until the request is there
	spec     *Spec
	dst      []byte // where the payload goes
	args     []uint64
	tok      Token // of the request
}

func (l partialLongs) entry(k longKey) *partialLong {
	x := l[k]
	if x == nil {
		x = &partialLong{want: -1}
		l[k] = x
	}
	return x
}

// serveLong serves a Long record: packed, or the request half of a split one.
func (r *receiver) serveLong(spec *Spec, h header, args []uint64, body []byte) {
	e, t := r.e, &r.tok
	words := 1
	if h.flags()&flagSplit != 0 {
		words = 3
	}
	if len(body) < words*argBytes {
		e.Fault(fmt.Errorf("am: rank %d: truncated Long from rank %d", e.rank, t.src))
		return
	}
	size := len(body) - argBytes
	if words == 3 {
		size = int(wordAt(body, 1))
	}
	dst, err := e.segment.sliceOf(int64(wordAt(body, 0)), size)
	if err != nil {
		e.Fault(fmt.Errorf("rank %d: Long from rank %d: %w", e.rank, t.src, err))
		return
	}
	if words == 1 {
		copy(dst, body[argBytes:])
		e.runHandler(spec, t, args, dst)
		return
	}
	k := longKey{t.src, wordAt(body, 2)}
	x := r.longs.entry(k)
	x.spec, x.want, x.dst, x.args, x.tok = spec, int64(size), dst, slices.Clone(args), *t
	t.answer = false // answered when the handler has run
	r.finishLong(k, x)
}

// longChunk takes a part of a split Long's payload; off is its place in the segment.
func (r *receiver) longChunk(src int, id uint64, off int64, chunk []byte, _ *fult.Worker) {
	e := r.e
	dst, err := e.segment.sliceOf(off, len(chunk))
	if err != nil {
		e.Fault(fmt.Errorf("rank %d: Long from rank %d: %w", e.rank, src, err))
		return
	}
	copy(dst, chunk)
	k := longKey{src, id}
	x := r.longs.entry(k)
	x.received += int64(len(chunk))
	r.finishLong(k, x)
}

// finishLong runs the handler if both halves are there.
func (r *receiver) finishLong(k longKey, x *partialLong) {
	e, t := r.e, &r.tok
	if x.received != x.want {
		if x.want >= 0 && x.received > x.want {
			e.Fault(fmt.Errorf("%w: rank %d: %d bytes of payload for a Long of %d from rank %d", ErrSize, e.rank,
				x.received, x.want, k.src))
		}
		return
	}
	delete(r.longs, k)
	*t = x.tok
	t.w = r.w
	e.runHandler(x.spec, t, x.args, x.dst)
	if t.answer && !t.replied {
		t.sendReply(handlerNothing, nil, message{})
	}
	t.answer = false
}
