package core

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/golci/golci/internal/observe/pending"
	"github.com/golci/golci/mpi/internal/coll"
	"github.com/golci/golci/mpi/internal/contextid"
	"github.com/golci/golci/rank"
)

// reportWaits adds the calls and messages that wait in package comm, and the ways of large messages.
func (p *Proc) reportWaits(x *rank.Report) {
	groups := make(callGroups)
	p.eachPending(func(o *pending.Op) {
		groups.addCall(o)
		if o.Unexpected() {
			x.Messages++
			return
		}
		x.Calls++
		x.InCall(o.Thread)
	})
	x.Lines = append(append(x.Lines, p.callLines(groups)...), p.srv.Schemes()...)
}

// eachPending calls f for what pends at this rank, for each operation once: not for what is made of others that are
// listed, nor for a message of an operation that has an entry of its own. What another layer reports is left out. f
// runs as the argument of pending.Source.Each does.
func (p *Proc) eachPending(f func(*pending.Op)) {
	p.rank.Endpoint().Pending().Each(func(o *pending.Op) {
		if !o.Parts && o.Layer == "" && (o.Kind == pending.Call || int(o.Context/2) != contextid.System) {
			f(o)
		}
	})
}

// callNames are the names of collectives that do not wait, by the place of their messages.
func (p *Proc) callNames() map[messageScope]string {
	names := make(map[messageScope]string)
	p.rank.Endpoint().Pending().Calls.Each(func(o *pending.Op) {
		if o.Parts {
			names[messageScope{o.Context, o.Tag}] = o.Call
		}
	})
	return names
}

// messageScope is what the messages of a collective have in common on a rank.
type messageScope struct {
	ctx uint16
	tag int
}

// named gives the function that the program has called for a collective; "" if it is not known.
func (p *Proc) named(x pending.Op, names map[messageScope]string) string {
	if name := names[messageScope{x.Context, p.callTag(x.Context, x.Tag)}]; name != "" {
		return name
	}
	if c := p.withID(int(x.Context / 2)); c != nil && !x.Unexpected() {
		if name := c.coll.WaitsLong(); name != "" {
			return name
		}
	}
	return ""
}

// unended counts the operations of this rank that have not ended. It leaves out those that the program has given up.
// first describes one of them.
func (p *Proc) unended() (n int, first func() string) {
	one := make(callGroups)
	p.eachPending(func(x *pending.Op) {
		if x.Unexpected() {
			return
		}
		if n++; n == 1 {
			o := *x
			o.Thread = nil
			one.addCall(&o)
		}
	})
	return n, func() string { return p.callLines(one)[0] }
}

// callGroup is a set of calls or messages that become one line.
type callGroup struct {
	first pending.Op
	text  string // of the call, without tags
	n     int
	tags  numberRange
	bytes numberRange
}

// numberRange is the least and the greatest of some numbers.
type numberRange struct{ least, most int64 }

func (s *numberRange) addSpan(x numberRange) {
	s.least, s.most = min(s.least, x.least), max(s.most, x.most)
}

// callLabel is what the text of a call is made of, and whether a thread makes the call.
type callLabel struct {
	kind      pending.Kind
	form      uint8
	sync      bool
	inThread  bool
	call, on  string
	ctx       uint16
	peer, tag int
}

// callGroups are groups of calls and messages by what their texts are made of. Very many calls have few texts.
type callGroups map[callLabel]*callGroup

// addCall copies what it keeps of x.
func (gs callGroups) addCall(x *pending.Op) {
	like := callLabel{
		kind: x.Kind, form: x.Form, sync: x.Sync, inThread: x.Thread != nil, call: x.Call, on: x.On,
		ctx: x.Context, peer: x.Peer,
	}
	if isCollective(x.Context) {
		like.tag = x.Tag
	}
	tags, bytes := numberRange{int64(x.Tag), int64(x.Tag)}, numberRange{x.Bytes, x.Bytes}
	if g := gs[like]; g != nil {
		g.growSpans(1, tags, bytes)
		return
	}
	gs[like] = &callGroup{first: *x, n: 1, tags: tags, bytes: bytes}
}

func (g *callGroup) growSpans(n int, tags, bytes numberRange) {
	g.n += n
	g.tags.addSpan(tags)
	g.bytes.addSpan(bytes)
}

// callLines gives a line for each group of calls and messages, those with one text together. Calls of this rank come
// before messages of others, and large groups before small ones.
func (p *Proc) callLines(groups callGroups) []string {
	type key struct {
		text     string
		inThread bool
	}
	lines, names := make(map[key]*callGroup), p.callNames()
	for like, g := range groups {
		g.text = p.callText(g.first, names)
		k := key{g.text, like.inThread}
		if same := lines[k]; same != nil {
			same.growSpans(g.n, g.tags, g.bytes)
		} else {
			lines[k] = g
		}
	}
	var texts []string
	for _, g := range slices.SortedFunc(maps.Values(lines), (*callGroup).compareGroups) {
		texts = append(texts, g.String())
	}
	return texts
}

// compareGroups orders groups for a report.
func (g *callGroup) compareGroups(h *callGroup) int {
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
		line += ", " + coll.Plural(int(g.bytes.least), "byte", "bytes")
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
func (p *Proc) callText(x pending.Op, names map[messageScope]string) string {
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
	if c := p.withID(id); c != nil {
		return c.Name()
	}
	return fmt.Sprintf("communicator %d, which has been freed", id)
}

// peerOf names the peer of x. It adds the rank in the world where the communicator has another number for it.
func (p *Proc) peerOf(x pending.Op) string {
	c := p.withID(int(x.Context / 2))
	if c == nil || uint(x.Peer) >= uint(p.rank.Size()) {
		return peerText(x.Peer)
	}
	return rankText(c.rankOf(x.Peer), x.Peer)
}

// isCollective reports whether ctx is a context of collectives. Those are odd.
func isCollective(ctx uint16) bool { return ctx%2 == 1 }
