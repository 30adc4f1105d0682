package space

// Whole tells where the bytes of p lie, if they lie in one piece on both sides: at these offsets. A plan of Receive has
// a destination only.
func (p *Plan) Whole() (dst, src int64, ok bool) {
	if p.size == 0 || p.lists != nil {
		return 0, 0, false
	}
	c, r := Cursor{plan: p}, Run{}
	c.runFrom(&r, 0, p.size)
	return r.Dst, r.Src, r.Len == p.size
}
