package core

import "github.com/golci/golci/mpi/internal/coll/algorithm"

// collectiveText names the collective to which a message belongs, and which call that is; "" if it belongs to none.
func (p *Proc) collectiveText(ctx uint16, tag int) (name, detail string) {
	if !isCollective(ctx) || uint(tag) > TagUB {
		return "", ""
	}
	tag = p.callTag(ctx, tag)
	if st := p.colls.WithID(int(ctx / 2)); st != nil {
		detail = st.TextOf(tag)
	}
	return algorithm.OfTag(tag).String(), detail
}

// callTag is the tag of the call that a collective's message belongs to.
func (p *Proc) callTag(ctx uint16, tag int) int {
	if st := p.colls.WithID(int(ctx / 2)); st != nil && uint(tag) <= TagUB {
		return st.CallTag(tag)
	}
	return tag
}

// withID gives the communicator with that id; nil if there is none, or if it has been freed.
func (p *Proc) withID(id int) *Comm {
	if st := p.colls.WithID(id); st != nil {
		return st.Comm().(*Comm)
	}
	return nil
}
