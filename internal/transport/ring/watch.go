package ring

import (
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
)

var _ conduit.Watcher = (*Endpoint)(nil)

// Watch implements conduit.Watcher. The words are those that mail looks at. Where a concurrent Poll moves on, an old
// place does not hold zero any more: that is seen as news.
func (e *Endpoint) Watch(words []conduit.Word) (all []conduit.Word, ok bool) {
	p := &e.poll
	if invariants.Race { // as in Pending
		if !p.lock.TryLock() {
			return words, false
		}
		defer p.lock.Unlock()
	}
	if !e.g.Scan {
		words = append(words, conduit.Word{At: e.seg.mail.summary})
	} else {
		known := p.known.Load()
		words = append(words, conduit.Word{At: e.seg.senders, Held: known})
		for i, in := range e.in {
			if known&^p.ignored.Load()&(1<<i) != 0 {
				words = append(words, conduit.Word{At: in.rec.nextWord()},
					conduit.Word{At: in.bulk.sent, Held: in.bulk.turn.Load()})
			}
		}
	}
	return words, !e.hasPending()
}
