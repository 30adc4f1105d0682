package mpi

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/comm/rank"
)

// Dump writes a report of what the rank waits for to w, in one write. It lists calls by name, with peer, tag and
// bytes, messages that nobody has received, and threads. Threads that wait in the same call are one line. It does not
// wait for communication.
func (p *Proc) Dump(w io.Writer) { p.rank.Dump(w) }

// report adds what waits in package comm, by the names of this package.
func (p *Proc) report(x *rank.Report) {
	all := p.srv.Pending()
	for _, o := range all {
		if o.Unexpected() {
			x.Messages++
			continue
		}
		x.Calls++
		x.InCall(o.Thread)
	}
	x.Lines = append(x.Lines, p.callLines(all)...)
	if probes := p.srv.Probes(); probes > 0 {
		x.Calls += probes
		x.Lines = append(x.Lines, plural(probes, "call of Probe waits", "calls of Probe wait"))
	}
}

// unended counts this rank's operations that have not ended. Those that the program has given up are not among them.
func (p *Proc) unended() (n int, first func() string) {
	for _, x := range p.srv.Pending() {
		if x.Unexpected() {
			continue
		}
		if n++; n == 1 {
			first = func() string { return p.callLine(x) }
		}
	}
	return n, first
}

// plural is n with the word for it.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// callGroup is calls that differ in their tags and threads only.
type callGroup struct {
	kind     comm.PendingKind
	text     string // of the call, without tags
	inThread bool
}

// members of a callGroup.
type members struct {
	callGroup
	n     int
	first comm.Pending
	tags  span
	bytes span
}

// span is the least and the greatest of some numbers.
type span struct{ least, most int64 }

func (s *span) add(n int64) { s.least, s.most = min(s.least, n), max(s.most, n) }

func newMembers(k callGroup, x comm.Pending) *members {
	return &members{callGroup: k, first: x, tags: span{int64(x.Tag), int64(x.Tag)}, bytes: span{x.Bytes, x.Bytes}}
}

// callLine describes one call or message.
func (p *Proc) callLine(x comm.Pending) string {
	return newMembers(callGroup{x.Kind, p.callText(x), false}, x).String()
}

// callLines gives a line for each group of calls and messages: what this rank does before what others have sent,
// large groups first.
func (p *Proc) callLines(all []comm.Pending) []string {
	groups := make(map[callGroup]*members)
	for _, x := range all {
		k := callGroup{min(x.Kind, comm.PendingMessage), p.callText(x), x.Thread != nil}
		g := groups[k]
		if g == nil {
			g = newMembers(k, x)
			groups[k] = g
		}
		g.n++
		g.tags.add(int64(x.Tag))
		g.bytes.add(x.Bytes)
	}
	order := make([]*members, 0, len(groups))
	for _, g := range groups {
		order = append(order, g)
	}
	slices.SortFunc(order, func(a, b *members) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(b.n, a.n), cmp.Compare(a.text, b.text), cmp.Compare(a.tags.least, b.tags.least))
	})
	lines := make([]string, len(order))
	for i, g := range order {
		lines[i] = g.String()
	}
	return lines
}

// String is the line of g.
func (g *members) String() string {
	line := g.text
	switch {
	case isCollective(g.first.Context):
	case g.tags.least != g.tags.most:
		line += fmt.Sprintf(", tags %d..%d", g.tags.least, g.tags.most)
	default:
		line += ", " + tagText(int(g.tags.least))
	}
	if g.bytes.least != g.bytes.most {
		line += fmt.Sprintf(", %d..%d bytes", g.bytes.least, g.bytes.most)
	} else {
		line += ", " + plural(int(g.bytes.least), "byte", "bytes")
	}
	switch {
	case g.inThread && g.n == 1:
		return fmt.Sprintf("thread %v: %s", g.first.Thread.ID(), line)
	case g.inThread:
		return fmt.Sprintf("%d threads: %s", g.n, line)
	case g.n > 1:
		return fmt.Sprintf("%d times: %s", g.n, line)
	}
	return line
}

// callText names the call that waits in x, or what x is, without its tag and thread.
func (p *Proc) callText(x comm.Pending) string {
	on := p.names.of(int(x.Context / 2))
	if name, detail := p.collectiveText(x.Context, x.Tag); name != "" {
		on += detail
		switch x.Kind {
		case comm.PendingSend:
			return fmt.Sprintf("%s on %s: sends to %s", name, on, p.peerOf(x))
		case comm.PendingMessage, comm.PendingEnvelope:
			return fmt.Sprintf("not received: %s on %s from %s", name, on, p.peerOf(x))
		}
		return fmt.Sprintf("%s on %s: waits for %s", name, on, p.peerOf(x))
	}
	switch x.Kind {
	case comm.PendingSend:
		return fmt.Sprintf("Send on %s to %s", on, p.peerOf(x))
	case comm.PendingMove:
		return fmt.Sprintf("Recv on %s of a message that is on its way from %s", on, p.peerOf(x))
	case comm.PendingMessage:
		return fmt.Sprintf("not received: message on %s from %s", on, p.peerOf(x))
	case comm.PendingEnvelope:
		return fmt.Sprintf("not received: envelope on %s from %s", on, p.peerOf(x))
	}
	return fmt.Sprintf("Recv on %s from %s", on, p.peerOf(x))
}

// peerOf names the other rank of x, in the communicator where its number there is another one than in the world.
func (p *Proc) peerOf(x comm.Pending) string {
	rank, ok := p.names.rankIn(int(x.Context/2), x.Peer)
	if !ok {
		return peerText(x.Peer)
	}
	return rankText(rank, x.Peer)
}

// isCollective tells the contexts of collectives, which are the odd ones.
func isCollective(ctx uint16) bool { return ctx%2 == 1 }
