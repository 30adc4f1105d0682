package comm

import (
	"github.com/golci/golci/am"
	"github.com/golci/golci/fult"
)

// A notice is a short message beside the matching: it finds no receive but a function of the layer above. It is how a
// rank tells others of what they do not wait for. It has its turn among the messages of its pair.

const longestNotice = 512 // bytes of text, where a record has room for them

// NoticeRoom is how many bytes of text a notice has room for; what is longer is cut.
func (s *Server) NoticeRoom() int { return min(longestNotice, s.e.MaxMedium()) }

const noticeArgs = 4

// NoticeFunc is called for each notice, by the poller: it must not block and must not keep text.
type NoticeFunc func(src int, args [noticeArgs]uint64, text []byte, w *fult.Worker)

// OnNotice sets the function that gets notices. It is to be called before the first one can come.
func (s *Server) OnNotice(f NoticeFunc) { s.notice = f }

// Notify sends a notice to rank dst. It may be called from anywhere and never blocks; without credits the notice
// waits in the queue of its pair. It comes after all messages that this rank has sent to dst before, whoever has
// received them, and before those that it sends later. One to a rank that has died is dropped.
func (s *Server) Notify(dst int, args [noticeArgs]uint64, text string) {
	s.e.Post(dst, handlerNotice, []byte(text[:min(len(text), s.NoticeRoom())]), args[:]...)
}

func (s *Server) onNotice(t *am.Token, args []uint64, text []byte) {
	if len(args) != noticeArgs || s.notice == nil {
		s.reportFault(t, "notice")
		return
	}
	copied := [noticeArgs]uint64(args)
	s.inTurn(t, envelope{key: makeKey(0, t.Source(), 0), notice: &copied, kind: kindNotice}, text)
}
