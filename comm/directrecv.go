package comm

import (
	"github.com/golci/golci/internal/progress"
)

// takeLooks is how often a receive that may take its message looks for it, before it is posted: about as long as an
// answer of another core takes.
const takeLooks = 128

// allowTakes has receives of one sender take their message from the conduit where that is possible and nobody else
// polls all the time.
func (s *Server) allowTakes() {
	s.e.OnTake(handlerEager, s.takeTurn)
	if !s.eng.Dedicated() && s.e.Takes() {
		s.spins = takeLooks
		if !s.eng.Spins() {
			s.spins = 1
		}
	}
}

// TryRecvThenPost is Irecv followed by a wait that only polls, for a while, and ends early at an alarm, if there is
// one. If the message has come meanwhile it gives the number of bytes received and a null request; else the request, to
// wait for. once tells that there is one message with that tag, and one receive for it, until this receive has ended.
// opt has no Target, no Alloc and no Done.
func (s *Server) TryRecvThenPost(
	ctx uint16, src, tag int, buf []byte, once bool, opt *Options, alarm *progress.Done,
) (r Req, n int, err error) {
	if s.closed.Load() || uint(src) >= uint(s.size) || uint(tag) > MaxTag || ctx > MaxContext {
		return Req{}, 0, s.checkArgs("receive", ctx, src, tag, false)
	}
	if once && s.spins > 0 && (opt == nil || opt.Signature == 0) {
		if n, ok := s.tryRecvDirect(ctx, src, tag, buf); ok {
			return Req{}, n, nil
		}
	}
	o := s.beginRecv(ctx, src, tag, buf, opt)
	s.postReceive(o)
	if !o.done.Ready() && !s.eng.LingerFor(&o.done, alarm) {
		return Req{o, o.gen}, 0, nil
	}
	n, err = int(min(o.size, int64(len(o.data)))), o.err
	s.putOp(o)
	return Req{}, n, err
}

// tryRecvDirect looks for the message of a receive that is not posted yet, and takes it if it is the next one of its
// sender. It is the only message and the only receive for its key, so nothing of that key is overtaken. While messages
// of that sender wait unmatched the one looked for may be among them, so then it does not look.
func (s *Server) tryRecvDirect(ctx uint16, src, tag int, buf []byte) (n int, ok bool) {
	if s.peers[src].unexpected.Load() != 0 || len(buf) > s.eager {
		return 0, false
	}
	looks := s.spins
	if looks > 1 && s.eng.Current() != nil {
		looks = 1 // others want the core
	}
	for range looks {
		if s.e.Next(src) {
			if n, ok = s.e.TakeNext(src, makeKey(ctx, src, tag), buf); ok && n > s.sure {
				s.hearScheme(src, withEnvelope, int64(n))
			}
			return n, ok
		}
	}
	return 0, false
}

// takeTurn is inTurn for a message that is taken.
func (s *Server) takeTurn(src int, seq uint16) bool {
	p := &s.peers[src]
	if seq != p.expect || p.holds {
		return false
	}
	p.expect++
	return true
}
