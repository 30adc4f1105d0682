package badnet

// held is a binary heap, the next to leave first. It is not container/heap's, which allocates for each element.
type held []parcel

func (h held) isBefore(a, b int) bool {
	return h[a].due < h[b].due || h[a].due == h[b].due && h[a].order < h[b].order
}

func (h *held) pushParcel(p parcel) {
	*h = append(*h, p)
	s := *h
	for at := len(s) - 1; at > 0; {
		up := (at - 1) / 2
		if !s.isBefore(at, up) {
			return
		}
		s[at], s[up] = s[up], s[at]
		at = up
	}
}

// popFirst takes the first of a heap that is not empty.
func (h *held) popFirst() parcel {
	s := *h
	first, last := s[0], len(s)-1
	s[0], s[last] = s[last], parcel{}
	s = s[:last]
	*h = s
	for at := 0; ; {
		down := 2*at + 1
		if down+1 < last && s.isBefore(down+1, down) {
			down++
		}
		if down >= last || !s.isBefore(down, at) {
			return first
		}
		s[at], s[down] = s[down], s[at]
		at = down
	}
}
