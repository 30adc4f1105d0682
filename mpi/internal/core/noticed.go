package core

import (
	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi/internal/contextid"
	"github.com/golci/golci/mpi/internal/notice"
)

// noticed is called by the poller with each notice.
func (p *Proc) noticed(src int, args [4]uint64, text []byte, w *fult.Worker) {
	uid, call, what, arg := args[0], args[1], args[2]&notice.LowHalf, args[3]
	switch what {
	case notice.Left:
		if arg < contextid.Max { // else it would be kept for ever
			p.ids.NoteLeft(int(arg), 0)
		}
	case notice.Window:
		windows, st := p.layers.windows.Load(), p.colls.Get(uid)
		if windows != nil && st != nil {
			(*windows).Noticed(uid, st.Comm().PeerOf(src), call, arg, w)
		}
	case notice.Call:
		if arg == callWithdrawn {
			p.withdrawn(caller{src, uid}, call)
		} else {
			p.called(caller{src, uid}, call, w)
		}
	case notice.Answered:
		p.onAnswered(uid, refusal(arg), w)
	case notice.Agree:
		p.faults.noticed(p, uid, src, text, w)
	case notice.Revoked:
		if c := p.colls.NoteRevoked(uid, src); c != nil {
			c.(*Comm).origin().revoke(true, w)
		}
	case notice.Parts:
		p.parts.noticed(partKey{uid, src, int(call >> 32), uint32(call)}, arg, text)
	default:
		p.colls.Noticed(src, args, text, w)
	}
}
