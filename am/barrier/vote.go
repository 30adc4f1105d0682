package barrier

// vote is what is known of the ranks heard from. Merging is commutative and idempotent. Ranks may come twice.
type vote struct {
	kind kind
	id   uint64 // named: the name; failed: the rank
}

type kind uint8

const (
	none kind = iota // nothing has come
	anonymous
	named
	mismatched
	failed // a rank cannot be reached
)

func voteOf(id uint64, flags Flags) vote {
	switch {
	case flags&Mismatch != 0:
		return vote{kind: mismatched}
	case flags&Anonymous != 0:
		return vote{kind: anonymous}
	}
	return vote{kind: named, id: id}
}

func mergeVotes(a, b vote) vote {
	switch {
	case a.kind == failed && b.kind == failed:
		return vote{failed, min(a.id, b.id)}
	case a.kind == named && b.kind == named && a.id != b.id:
		return vote{kind: mismatched}
	case a.kind >= b.kind:
		return a
	}
	return b
}
