package coll

import (
	"github.com/golci/golci/comm"
	"github.com/golci/golci/internal/schedule"
)

// pair is the cursor over bytes to send that lie in two places.
type pair struct{ head, tail []byte }

// Len implements comm.Source.
func (p *pair) Len() int { return len(p.head) + len(p.tail) }

// Pack implements comm.Source.
func (p *pair) Pack(dst []byte, off int) {
	if off < len(p.head) {
		dst = dst[copy(dst, p.head[off:]):]
		off = len(p.head)
	}
	copy(dst, p.tail[off-len(p.head):])
}

// sendPair starts a step that sends from two places.
func (x *Call) sendPair(st *schedule.Step) (comm.Req, error) {
	x.pairs = append(x.pairs, pair{x.bytesAt(st.At, st.Len-st.Tail), x.bytesAt(st.A, st.Tail)})
	opt := x.options
	opt.Source = &x.pairs[len(x.pairs)-1]
	r, err := x.st.Server.Isend(x.st.Context, int(x.st.Peers[st.Peer]), x.tagOf(st), nil, &opt)
	if err != nil {
		err = x.stepError(st, 0, err)
	}
	return r, err
}
