package comm

import "github.com/golci/golci/fult"

// Options says more about a send or a receive. A nil *Options is that of most: bytes in one piece, in standard mode,
// whose elements are not checked. The server keeps no pointer to it.
type Options struct {
	// Form is that of the call, which a report shows.
	Form Form
	// Mode of a send.
	Mode Mode
	// Endable lets End end the operation at once, whatever the peer does.
	Endable bool
	// Alone means that only the receiver writes the buffer: for one that is read at once and used again. Both ranks may
	// write to it otherwise, and each then waits for lines of the other's cache. A Target is always alone.
	Alone bool
	// Signature stands for the type of the elements. A message and a receive that both have one, and not the same, end
	// with ErrType at the receiver. 0: none. A send of bytes that has one ends with ErrBuffer if they have changed.
	Signature uint64
	// Source packs the bytes to send; the data of the call are nil then.
	Source Source
	// Target takes the bytes that come; the buffer of the call is nil then.
	Target Target
	// Alloc, if not nil, gives the buffer of a receive. It is called with the size of the message in bytes when that is
	// matched, on any thread, inside the poll, and must not block. A size that CheckAlloc refuses does not reach it, and
	// gives ErrMemory. Below that the size is what the sender says: a tighter bound is for Alloc, and a buffer that is
	// shorter gives ErrTruncate.
	Alloc func(n int) []byte
	// Done, if not nil, is called once when an operation ends for which a request was given, maybe before that. It
	// may run inside a poll: it must not block. Send and Recv, which give none, do not call it.
	Done func(w *fult.Worker)
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

// beginRecv makes a receive, for its caller to post.
func (s *Server) beginRecv(ctx uint16, src, tag int, buf []byte, opt *Options) *op {
	o := s.newRecv(ctx, src, tag, buf)
	if opt != nil {
		o.setRecvOptions(opt)
	}
	return o
}

func (o *op) setRecvOptions(opt *Options) {
	o.recv.alloc, o.endable, o.alone, o.signature = opt.Alloc, opt.Endable, opt.Alone, opt.Signature
	if opt.Target != nil {
		o.cursor = opt.Target
	}
}

// checkRecv validates the arguments of a receive.
func (s *Server) checkRecv(ctx uint16, src, tag int, opt *Options) error {
	if err := s.checkArgs("receive", ctx, src, tag, true); err != nil || opt == nil {
		return err
	}
	if opt.Target != nil {
		if n := opt.Target.Len(); n < 0 {
			return s.badCursor("receive", src, tag, n)
		}
	}
	if opt.Alloc != nil {
		return s.checkAlloc(ctx, src, tag)
	}
	return nil
}

// startOp calls start, which begins o, for a request.
func (s *Server) startOp(o *op, opt *Options, start func(*op)) Req {
	if o.form = Nonblocking; opt != nil {
		o.form = opt.Form
		if opt.Done != nil {
			o.done.Call(opt.Done)
		}
	}
	r := Req{o, o.gen}
	start(o)
	return r
}
