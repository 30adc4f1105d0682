package schedule

// Lengths of a reduction, in bytes.
type Lengths struct {
	N       int // of the vector
	Whole   int // up to which it is one message that is received when it is wanted; at most Segment
	Segment int // of a message of a longer one
}

func (l Lengths) segments() int {
	if l.N <= l.Segment {
		return 1
	}
	return (l.N + l.Segment - 1) / l.Segment
}

// ReduceTree combines In of all ranks into Out of root. What comes from below is combined with the rank's own vector,
// and passed up. inPlace says that In of root is Out.
func (s *Schedule) ReduceTree(p Place, root int, l Lengths, inPlace bool) {
	s.resetSteps()
	b := p.branchOf(root)
	acc := Mem{0, Out}
	if b.to >= 0 {
		acc = s.apartMemory(&b, l)
	} else if b.n == 0 && !inPlace {
		s.copyBytes(acc, Mem{0, In}, l.N)
	}
	s.reduceBranch(&b, l, acc)
}

// apartMemory is where a rank keeps the result of its branch if that is not Out: in Work, or in In if there is nothing
// below.
func (s *Schedule) apartMemory(b *branch, l Lengths) Mem {
	if b.n == 0 {
		return Mem{0, In}
	}
	return s.workBytes(l.N)
}

// reduceBranch puts the result of the branch into acc, and sends it up from there.
func (s *Schedule) reduceBranch(b *branch, l Lengths, acc Mem) {
	if b.n > 0 {
		s.reduceSegments(b, l, acc)
		return
	}
	for i := 0; b.to >= 0 && i < l.segments(); i++ { // their receiver asks for one after the other
		s.sendUp(b, l, i*l.Segment, acc)
	}
}

// sendUp sends the segment at that offset.
func (s *Schedule) sendUp(b *branch, l Lengths, at int, acc Mem) {
	n := min(l.Segment, l.N-at)
	s.sendStep(b.to, acc.plusBytes(at), n).Last = at+n == l.N
}

// reduceSegments receives each segment from each rank below. One of several is received, into another place, while the
// one before is combined.
func (s *Schedule) reduceSegments(b *branch, l Lengths, acc Mem) {
	ahead := 0
	in := [2]Mem{s.workBytes(min(l.Segment, l.N))}
	if in[1] = in[0]; l.N > l.Whole {
		ahead, in[1] = 1, s.workBytes(l.Segment)
	}
	steps := b.n * l.segments()
	var came [2]int
	posted := 0
	for q := range steps {
		for ; posted < min(q+1+ahead, steps); posted++ {
			at := posted / b.n * l.Segment
			x := s.recvStep(b.from[posted%b.n].rank, in[posted%2], min(l.Segment, l.N-at))
			x.Last, x.Alone = at+x.Len == l.N, ahead > 0
			came[posted%2] = len(s.Steps) - 1
		}
		s.waitStep(came[q%2])
		s.combineSegment(b, l, q, in[q%2], acc)
	}
}

// combineSegment combines what has come with the rank's own, and passes on what is complete.
func (s *Schedule) combineSegment(b *branch, l Lengths, q int, in, acc Mem) {
	at := q / b.n * l.Segment
	has := acc.plusBytes(at)
	if q%b.n == 0 {
		has = Mem{at, In}
	}
	s.joinVectors(acc.plusBytes(at), has, in, min(l.Segment, l.N-at), b.from[q%b.n].lower)
	if q%b.n == b.n-1 && b.to >= 0 {
		s.sendUp(b, l, at, acc)
	}
}
