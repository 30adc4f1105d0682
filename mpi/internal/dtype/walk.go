package dtype

// Walk calls f for the basics of count elements of t, in the order of the type map: n basics b, one behind the other,
// the first one at, relative to the beginning of the first element. It stops when f returns false, and returns that.
func Walk(t *Type, count int64, f func(b Basic, at, n int64) bool) bool {
	return walkCopies(t, count, 0, false, f)
}

// WalkNamed is Walk that takes a pair, which has a name, as one basic. The n basics lie an extent apart.
func WalkNamed(t *Type, count int64, f func(b Basic, at, n int64) bool) bool {
	return walkCopies(t, count, 0, true, f)
}

func walkCopies(t *Type, n, at int64, pairs bool, f func(b Basic, at, n int64) bool) bool {
	if t.basic != 0 && (pairs || t.blocks == nil) {
		return n == 0 || f(t.basic, at, n)
	}
	if t.basics == 0 {
		return true
	}
	for i := range n {
		for r := range t.reps {
			for k := range t.blocks {
				b := &t.blocks[k]
				if !walkCopies(b.t, b.n, at+i*(t.ub-t.lb)+r*t.step+b.disp, pairs, f) {
					return false
				}
			}
		}
	}
	return true
}

// Elements is how many basics the first bytes of a message of such elements are (5.1.11); !whole: the last one is not
// complete, and not counted. A pair has two.
func (t *Type) Elements(bytes int64) (n int64, whole bool) {
	if t.size == 0 {
		return 0, bytes == 0
	}
	n, whole = t.elementsIn(bytes % t.size)
	return n + bytes/t.size*t.basics, whole
}

// elementsIn is Elements of fewer bytes than one element has.
func (t *Type) elementsIn(bytes int64) (n int64, whole bool) {
	if bytes == 0 || t.blocks == nil {
		return 0, bytes == 0
	}
	part := t.size / t.reps
	n = bytes / part * (t.basics / t.reps)
	bytes %= part
	for i := range t.blocks {
		b := &t.blocks[i]
		if all := b.n * b.t.size; bytes >= all {
			n, bytes = n+b.n*b.t.basics, bytes-all
			continue
		}
		rest, whole := b.t.elementsIn(bytes % b.t.size)
		return n + bytes/b.t.size*b.t.basics + rest, whole
	}
	return n, true
}

// Count is how many elements of t so many bytes are (3.2.5); !ok: no whole number.
func (t *Type) Count(bytes int64) (n int64, ok bool) {
	if t.size == 0 {
		return 0, bytes == 0
	}
	return bytes / t.size, bytes%t.size == 0
}

// BytesOf is how many bytes the first n basics of a message of such elements have, as MPI_Status_set_elements needs it;
// !ok: n is negative, the number is no int64, or t has no basics and n is not 0.
func (t *Type) BytesOf(n int64) (bytes int64, ok bool) {
	if t.basics == 0 || n < 0 {
		return 0, n == 0
	}
	var c checked
	bytes = c.addChecked(c.mul(n/t.basics, t.size), t.bytesOf(n%t.basics))
	return bytes, !c.overflow
}

// bytesOf is BytesOf of fewer basics than one element has.
func (t *Type) bytesOf(n int64) (bytes int64) {
	if n == 0 {
		return 0
	}
	part := t.basics / t.reps
	bytes = n / part * (t.size / t.reps)
	n %= part
	for i := range t.blocks {
		b := &t.blocks[i]
		if all := b.n * b.t.basics; n >= all {
			n, bytes = n-all, bytes+b.n*b.t.size
			continue
		}
		return bytes + n/b.t.basics*b.t.size + b.t.bytesOf(n%b.t.basics)
	}
	return bytes
}
