package comm

import (
	"sync"

	"github.com/golci/golci/comm/internal/match"
	"github.com/golci/golci/hashtable"
)

// subject is the matching as the explorer drives it: each method is one operation of a thread, and calls pause wherever
// threads may change within it.
type subject struct {
	m       matching
	pause   func(ready func() bool) // ready tells when the thread can go on; nil: at once
	buckets []bool                  // those that hold the keys of the test
}

const exploredContext = 7

func newSubject(calm int, messages []match.Pattern) *subject {
	s := new(subject)
	if err := s.m.initTable(1); err != nil {
		panic(err)
	}
	s.m.plainAfter = calm
	s.buckets = make([]bool, s.m.table.Buckets())
	for _, p := range messages {
		// A node of another context shows in which bucket the key lies; then it goes.
		var n node
		key := patternKey(exploredContext, p)
		s.m.table.InsertOrMatch(key, &n, hashtable.Post)
		s.m.table.Seal(exploredContext)
		for i := range s.m.table.Buckets() {
			s.m.table.DrainBucket(i, exploredContext, func(uint64, hashtable.Side, *node) { s.buckets[i] = true })
		}
		s.m.table.Unseal(exploredContext)
	}
	s.m.pause = func(mu *sync.Mutex, bucket int) {
		switch {
		case mu != nil:
			s.pause(func() bool { return tryLock(mu) })
		case bucket < 0 || s.buckets[bucket]:
			s.pause(nil)
		}
	}
	return s
}

func tryLock(mu *sync.Mutex) bool {
	if !mu.TryLock() {
		return false
	}
	mu.Unlock()
	return true
}

// reset forgets everything, also that there was a wildcard.
func (s *subject) reset() {
	if c := s.m.findContext(exploredContext); c != nil && c.indexed {
		c.index.Reset()
	} else {
		s.m.table.Seal(exploredContext)
	}
	for i, used := range s.buckets {
		if used {
			s.m.table.DrainBucket(i, exploredContext, func(uint64, hashtable.Side, *node) {})
		}
	}
	s.m.table.Unseal(exploredContext)
	s.m.blocks[exploredContext/contextsPerBlock].Store(nil)
}

// post posts o, and gives the message that it takes at once.
func (s *subject) post(o *op) (message *op) { return s.m.postReceive(o) }

// arrive has message u come, and gives the receive that gets it at once.
func (s *subject) arrive(u *op) (receive *op) {
	if r := s.m.claimReceive(u.tableKey()); r != nil {
		return r
	}
	s.pause(nil)
	return s.m.keepMessage(u)
}

// probe gives the size of the message that a probe tells of.
func (s *subject) probe(p match.Pattern) (size int64, found bool) {
	st, ok := s.m.lookFor(exploredContext, p)
	return st.Bytes, ok
}

func (s *subject) improbe(p match.Pattern) (message *op) { return s.m.takeMessage(exploredContext, p) }

func (s *subject) cancel(o *op) bool {
	return s.m.withdrawReceive(exploredContext, o.postedPattern(), o)
}
