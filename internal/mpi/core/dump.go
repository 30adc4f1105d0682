package core

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/golci/golci/comm/rank"
	"github.com/golci/golci/internal/pending"
)

// Dump writes to w, in one write, a report of what the rank waits for. It lists calls by name, with peer, tag and
// bytes. It lists messages that nobody has received, and threads. Threads that wait in the same call are one line. It
// does not wait for communication.
func (p *Proc) Dump(w io.Writer) { p.rank.Dump(w) }

// report adds the calls and messages that wait in package comm.
func (p *Proc) report(x *rank.Report) {
	all, names := p.listed()
	for _, o := range all {
		if o.Unexpected() {
			x.Messages++
			continue
		}
		x.Calls++
		x.InCall(o.Thread)
	}
	x.Lines = append(x.Lines, p.callLines(all, names)...)
}

// listed is what pends at this rank, each operation once: not what is made of others that are listed, and no message
// of an operation that has an entry of its own. What another layer reports is left out. names are those of collectives,
// by the place of their messages.
func (p *Proc) listed() (all []pending.Op, names map[place]string) {
	names = make(map[place]string)
	all = slices.DeleteFunc(p.rank.Endpoint().Pending().Ops(), func(o pending.Op) bool {
		if o.Parts {
			names[place{o.Context, o.Tag}] = o.Call
		}
		return o.Parts || o.Layer != "" || o.Kind != pending.Call && int(o.Context/2) == systemID
	})
	return all, names
}

// place is what the messages of a collective have in common on a rank.
type place struct {
	ctx uint16
	tag int
}

// named gives the function that the program has called for a collective; "" if it is not known.
func (p *Proc) named(x pending.Op, names map[place]string) string {
	if name := names[place{x.Context, p.callTag(x.Context, x.Tag)}]; name != "" {
		return name
	}
	if c := p.colls.withID(int(x.Context / 2)); c != nil && !x.Unexpected() {
		if name := c.coll.longed.Load(); name != nil {
			return *name
		}
	}
	return ""
}

// unended counts the operations of this rank that have not ended. It leaves out those that the program has given up.
// first describes one of them.
func (p *Proc) unended() (n int, first func() string) {
	all, names := p.listed()
	for _, x := range all {
		if x.Unexpected() {
			continue
		}
		if n++; n == 1 {
			x.Thread = nil
			first = func() string { return p.callLines([]pending.Op{x}, names)[0] }
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

// callGroup is a set of calls or messages that have the same text and become one line.
type callGroup struct {
	first pending.Op
	text  string // of the call, without tags
	n     int
	tags  span
	bytes span
}

// span is the least and the greatest of some numbers.
type span struct{ least, most int64 }

func (s *span) add(n int64) { s.least, s.most = min(s.least, n), max(s.most, n) }

// likeness is what the text of a call is made of.
type likeness struct {
	kind      pending.Kind
	form      uint8
	sync      bool
	call      string
	ctx       uint16
	peer, tag int
}

// callLines gives a line for each group of calls and messages. Calls of this rank come before messages of others, and
// large groups before small ones.
func (p *Proc) callLines(all []pending.Op, names map[place]string) []string {
	type key struct {
		text     string
		inThread bool
	}
	groups := make(map[key]*callGroup)
	texts := make(map[likeness]string) // by what the text is made of: very many calls have few texts
	for _, x := range all {
		tag := int64(x.Tag)
		like := likeness{kind: x.Kind, form: x.Form, sync: x.Sync, call: x.Call, ctx: x.Context, peer: x.Peer}
		if isCollective(x.Context) {
			like.tag = x.Tag
		}
		text, ok := texts[like]
		if !ok {
			text = p.callText(x, names)
			texts[like] = text
		}
		k := key{text, x.Thread != nil}
		g := groups[k]
		if g == nil {
			g = &callGroup{first: x, text: k.text, tags: span{tag, tag}, bytes: span{x.Bytes, x.Bytes}}
			groups[k] = g
		}
		g.n++
		g.tags.add(tag)
		g.bytes.add(x.Bytes)
	}
	var lines []string
	for _, g := range slices.SortedFunc(maps.Values(groups), (*callGroup).compare) {
		lines = append(lines, g.String())
	}
	return lines
}

// compare orders groups for a report.
func (g *callGroup) compare(h *callGroup) int {
	return cmp.Or(
		cmp.Compare(min(g.first.Kind, pending.Message), min(h.first.Kind, pending.Message)),
		cmp.Compare(h.n, g.n), cmp.Compare(g.text, h.text), cmp.Compare(g.tags.least, h.tags.least))
}

// String is the line of g.
func (g *callGroup) String() string {
	line := g.text
	switch {
	case isCollective(g.first.Context), g.first.Kind == pending.Call && g.tags.most < 0:
	case g.tags.least != g.tags.most:
		line += fmt.Sprintf(", tags %d..%d", g.tags.least, g.tags.most)
	default:
		line += ", " + tagText(int(g.tags.least))
	}
	switch {
	case g.first.Kind >= pending.Probe && g.first.Kind <= pending.Call && g.bytes.most == 0: // it has no bytes of its own
	case g.bytes.least != g.bytes.most:
		line += fmt.Sprintf(", %d..%d bytes", g.bytes.least, g.bytes.most)
	default:
		line += ", " + plural(int(g.bytes.least), "byte", "bytes")
	}
	thread := g.first.Thread
	switch {
	case thread != nil && g.n == 1:
		return fmt.Sprintf("thread %v: %s", thread.ID(), line)
	case thread != nil:
		return fmt.Sprintf("%d threads: %s", g.n, line)
	case g.n > 1:
		return fmt.Sprintf("%d times: %s", g.n, line)
	}
	return line
}

// callText names the call that waits in x, or what x is, without its tag and thread.
func (p *Proc) callText(x pending.Op, names map[place]string) string {
	if x.Call != "" {
		return p.namedText(x)
	}
	on, peer := p.CommName(int(x.Context/2)), p.peerOf(x)
	name, detail := p.collectiveText(x.Context, x.Tag)
	if name != "" {
		name = cmp.Or(p.named(x, names), name)
	}
	call := name + " on " + on + detail
	switch {
	case name == "":
		return fmt.Sprintf(callFormats[x.Kind], formName(&x), on, peer)
	case x.Unexpected():
		return "not received: " + call + " from " + peer
	case x.Kind == pending.Send:
		return call + ": sends to " + peer
	}
	return call + ": waits for " + peer
}

// namedText is callText of an operation that tells its name.
func (p *Proc) namedText(x pending.Op) string {
	text := x.Call
	switch {
	case x.Context != pending.NoContext:
		text += " on " + p.CommName(int(x.Context/2))
	case x.On != "":
		text += " on " + x.On
	}
	switch {
	case x.Kind == pending.Probe:
		return text + " from " + p.peerOf(x)
	case x.Peer >= 0:
		return text + ": waits for " + p.peerOf(x)
	}
	return text
}

// callFormats have a function, a communicator and a peer as arguments.
var callFormats = [...]string{
	pending.Recv:     "%s on %s from %s",
	pending.Move:     "%s on %s of a message that is on its way from %s",
	pending.Send:     "%s on %s to %s",
	pending.Message:  "not received: message on %[2]s from %[3]s",
	pending.Envelope: "not received: envelope on %[2]s from %[3]s",
}

// CommName is the name of the communicator with that id.
func (p *Proc) CommName(id int) string {
	if c := p.colls.withID(id); c != nil {
		return c.Name()
	}
	return fmt.Sprintf("communicator %d, which has been freed", id)
}

// peerOf names the peer of x. It adds the rank in the world where the communicator has another number for it.
func (p *Proc) peerOf(x pending.Op) string {
	c := p.colls.withID(int(x.Context / 2))
	if c == nil || uint(x.Peer) >= uint(p.rank.Size()) {
		return peerText(x.Peer)
	}
	return rankText(c.rankOf(x.Peer), x.Peer)
}

// isCollective reports whether ctx is a context of collectives. Those are odd.
func isCollective(ctx uint16) bool { return ctx%2 == 1 }
