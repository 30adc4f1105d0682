package core

import "github.com/golci/golci/mpi/internal/coll/algorithm"

// tagged is the tag of messages of the call that go by an algorithm, from or to root.
func (x *Call) tagged(w algorithm.Algorithm, root int) int {
	n, m := x.st.numbers&63, x.st.marks&63 // which tells the compiler that no shift is too long
	return int(w)<<algorithm.TagShared | root<<(n+m) | int(x.mark>>(64-m))<<n | int(x.call&(1<<n-1))
}

// collectiveText names the collective to which a message belongs, and which call that is; "" if it belongs to none.
func (p *Proc) collectiveText(ctx uint16, tag int) (name, detail string) {
	if !isCollective(ctx) || uint(tag) > TagUB {
		return "", ""
	}
	tag = p.callTag(ctx, tag)
	if c := p.colls.withID(int(ctx / 2)); c != nil {
		detail = algorithm.CallDetail(c.coll.size, tag, c.coll.state.Load()/2)
	}
	return algorithm.OfTag(tag).String(), detail
}

// callTag is the tag of the call that a collective's message belongs to. Where ranks compare what they call, it is
// another than that of the message.
func (p *Proc) callTag(ctx uint16, tag int) int {
	c := p.colls.withID(int(ctx / 2))
	if c == nil || uint(tag) > TagUB || algorithm.OfTag(tag) != algorithm.Compare {
		return tag
	}
	last := c.coll.state.Load() / 2
	if algorithm.NumberOfTag(c.coll.size, tag) != algorithm.NumberOfTag(c.coll.size, int(last)) {
		return tag
	}
	if call, ok := c.coll.tagOf(last); ok {
		return call
	}
	return tag
}
