package comm

import (
	"encoding/binary"

	"github.com/golci/golci/am"
)

// Mode of a send.
type Mode uint8

// Modes: Standard completes when the buffer may be reused; Synchronous when a receive has been matched (MPI 3.4).
const (
	Standard Mode = iota
	Synchronous
)

// Send sends data to rank dst with tag in context ctx, and returns when data may be reused. opt may be nil. It does not
// block while the message is small and the receiver keeps up; else it waits, and a fult thread lets others run. What a
// Source packs travels eagerly in its record, or chunk by chunk: there is never a copy of all of a larger one.
// Errors: ErrClosed, ErrRank, ErrTag, ErrContext; ErrBuffer for a Source of negative length.
func (s *Server) Send(ctx uint16, dst, tag int, data []byte, opt *Options) error {
	if s.closed.Load() || uint(dst) >= uint(s.size) || uint(tag) > MaxTag || ctx >= FirstAsserted || opt != nil {
		o, err := s.beginSend(ctx, dst, tag, data, opt, true)
		if o == nil {
			return err
		}
		return s.sendAndWait(o)
	}
	if len(data) <= s.injected && s.e.Inject(dst, handlerEager, makeKey(ctx, s.rank, tag), data) {
		return nil
	}
	if len(data) <= s.sure && s.sendEager(ctx, dst, tag, data) {
		return nil
	}
	return s.sendSlow(ctx, dst, tag, data)
}

// sendEager sends at once or not at all.
func (s *Server) sendEager(ctx uint16, dst, tag int, data []byte) bool {
	body, first, o := s.e.Open(dst, handlerEager, 1, len(data))
	if o != am.Opened {
		if o == am.Stalled {
			s.e.Abandon(dst)
		}
		return false
	}
	binary.LittleEndian.PutUint64(body, makeKey(ctx, s.rank, tag))
	s.e.CopyOut(dst, body[8:], data)
	s.e.Commit(dst, first)
	return true
}

// sendEagerAs is sendEager of a message that has a signature, if that is not 0, and that src packs, if that is not nil.
func (s *Server) sendEagerAs(ctx uint16, dst, tag int, data []byte, src Source, signature uint64) bool {
	size := len(data)
	switch {
	case src != nil:
		size = src.Len()
	case signature == 0:
		if size <= s.injected && s.e.Inject(dst, handlerEager, makeKey(ctx, s.rank, tag), data) {
			return true
		}
		return s.sendEager(ctx, dst, tag, data)
	}
	body, first, o := s.e.Open(dst, handlerEager, 1+signatureArgs(signature), size)
	if o != am.Opened {
		if o == am.Stalled {
			s.e.Abandon(dst)
		}
		return false
	}
	s.putEager(dst, body, makeKey(ctx, s.rank, tag), signature, data, src)
	s.e.Commit(dst, first)
	return true
}

// signatureArgs is how many arguments a signature takes in a record.
func signatureArgs(signature uint64) int {
	if signature == 0 {
		return 0
	}
	return 1
}

// putEager fills the body of an eager record for dst: the key, the signature if there is one, and data or what src
// packs.
func (s *Server) putEager(dst int, body []byte, key, signature uint64, data []byte, src Source) {
	binary.LittleEndian.PutUint64(body, key)
	if body = body[8:]; signature != 0 {
		binary.LittleEndian.PutUint64(body, signature)
		body = body[8:]
	}
	switch {
	case src == nil:
		s.e.CopyOut(dst, body, data)
	case len(body) > 0:
		src.Pack(body, 0)
	}
}

func (s *Server) sendSlow(ctx uint16, dst, tag int, data []byte) error {
	if err := s.mayWait("send", dst, tag); err != nil {
		return err
	}
	return s.sendAndWait(s.newSend(ctx, dst, tag, data, Standard))
}

// sendAndWait starts the send o and waits for it.
func (s *Server) sendAndWait(o *op) error {
	if t := s.eng.Current(); t != nil {
		o.done.Expect(t)
	}
	s.startSend(o)
	s.awaitOp(o)
	_, err := s.useResult(Req{o, o.gen})
	return err
}

// Isend starts a send and returns a request to wait for; data, or what a Source packs, must stay as it is until then.
// opt may be nil. It never blocks. Errors as for Send.
func (s *Server) Isend(ctx uint16, dst, tag int, data []byte, opt *Options) (Req, error) {
	if s.closed.Load() || uint(dst) >= uint(s.size) || uint(tag) > MaxTag || ctx >= FirstAsserted || opt != nil {
		o, err := s.beginSend(ctx, dst, tag, data, opt, false)
		if o == nil {
			return Req{}, err
		}
		return s.startOp(o, opt, s.startSend), nil
	}
	if len(data) <= s.injected && s.e.Inject(dst, handlerEager, makeKey(ctx, s.rank, tag), data) {
		return Req{}, nil
	}
	if len(data) <= s.sure && s.sendEager(ctx, dst, tag, data) {
		return Req{}, nil
	}
	return s.startOp(s.newSend(ctx, dst, tag, data, Standard), nil, s.startSend), nil
}

// beginSend sends at once, and gives nil, or makes the operation, for its caller to start. waits tells that the caller
// waits for it.
func (s *Server) beginSend(ctx uint16, dst, tag int, data []byte, opt *Options, waits bool) (*op, error) {
	if err := s.checkArgs("send", ctx, dst, tag, false); err != nil {
		return nil, err
	}
	if opt == nil {
		opt = &Options{}
	}
	size := len(data)
	if src := opt.Source; src != nil {
		if size = src.Len(); size < 0 {
			return nil, s.badCursor("send", dst, tag, size)
		}
	}
	if opt.Mode == Standard && size <= s.sure && s.sendEagerAs(ctx, dst, tag, data, opt.Source, opt.Signature) {
		return nil, nil
	}
	if waits {
		if err := s.mayWait("send", dst, tag); err != nil {
			return nil, err
		}
	}
	o := s.newSend(ctx, dst, tag, data, opt.Mode)
	o.endable, o.signature = opt.Endable, opt.Signature
	if opt.Source != nil {
		o.cursor, o.size = opt.Source, int64(size)
	} else {
		o.send.sum = sumFor(opt.Signature, data)
	}
	return o, nil
}

func (s *Server) newSend(ctx uint16, dst, tag int, data []byte, mode Mode) *op {
	o := s.getSend()
	o.startUse(roleSend, ctx, int32(dst), int32(tag), data)
	o.size = int64(len(data))
	*o.send = sending{sync: mode == Synchronous}
	return o
}
