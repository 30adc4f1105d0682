package comm

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/hashtable"
)

// While a receive with a wildcard is posted in a context, that context matches under its lock; other contexts, and all
// of them while Server.nwild is 0, do not take it.
//
// A message and a wildcard that meet at the same time: the wildcard raises nwild and then looks through the arrival
// lists; the message is put into its list, then into the table, and then looks at nwild. Through the locks of list
// and bucket one of them sees the other, and the table decides who claims the message.

// context is the matching state of one context while wildcards are posted in it.
type context struct {
	mu     sync.Mutex
	posted []*op // receives with a wildcard, oldest first
	stamp  uint64
}

// contexts finds the state of a context that has had a wildcard.
type contexts struct {
	mu sync.Mutex
	m  atomic.Pointer[map[uint16]*context] // replaced, never changed
}

// get gives the state of ctx, nil if it never had a wildcard.
func (c *contexts) get(ctx uint16) *context {
	if m := c.m.Load(); m != nil {
		return (*m)[ctx]
	}
	return nil
}

func (c *contexts) make(ctx uint16) *context {
	if x := c.get(ctx); x != nil {
		return x
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if x := c.get(ctx); x != nil {
		return x
	}
	next := make(map[uint16]*context)
	if m := c.m.Load(); m != nil {
		for k, v := range *m {
			next[k] = v
		}
	}
	x := new(context)
	next[ctx] = x
	c.m.Store(&next)
	return x
}

// accepts reports whether the receive or probe o, perhaps with wildcards, takes message (src, tag) of its context.
func (o *op) accepts(src, tag int32) bool {
	return (o.peer == src || o.peer == AnySource) && (o.tag == tag || o.tag == AnyTag)
}

// postWild posts a receive with a wildcard: the oldest message that fits, or a place in the context's list.
func (s *Server) postWild(o *op) {
	o.wild = true
	c := s.ctxs.make(o.ctx)
	c.mu.Lock()
	s.nwild.Add(1)
	if m := s.claimOldest(o); m != nil {
		s.nwild.Add(-1)
		c.mu.Unlock()
		s.take(o, m)
		return
	}
	c.stamp++
	o.stamp = c.stamp
	c.posted = append(c.posted, o)
	c.mu.Unlock()
}

// claimOldest takes the oldest unmatched message that o accepts out of the table; nil if there is none. It stays in its
// arrival list, for the caller to unlink. A message that is listed but not in the table is being claimed by a receive
// without wildcards, or being kept by the poller: both take a moment only.
func (s *Server) claimOldest(o *op) *op {
	for {
		src, stamp := s.oldest(o)
		if src < 0 {
			return nil
		}
		if m := s.claim(src, stamp); m != nil {
			return m
		}
		runtime.Gosched()
	}
}

// oldest finds the oldest listed message that o accepts: its source, or -1, and its stamp.
func (s *Server) oldest(o *op) (best int, stamp uint64) {
	best, stamp = -1, ^uint64(0)
	first, last := 0, s.size-1
	if o.peer != AnySource {
		first, last = int(o.peer), int(o.peer)
	}
	for src := first; src <= last; src++ {
		l := &s.lists[src]
		l.mu.Lock()
		for m := l.head; m != nil && m.stamp < stamp; m = m.nextArrival {
			if m.ctx == o.ctx && o.accepts(m.peer, m.tag) {
				best, stamp = src, m.stamp
				break
			}
		}
		l.mu.Unlock()
	}
	return best, stamp
}

// claim takes the listed message with that stamp out of the table; nil if somebody else has. The list's lock keeps the
// message from being freed meanwhile.
func (s *Server) claim(src int, stamp uint64) *op {
	l := &s.lists[src]
	l.mu.Lock()
	defer l.mu.Unlock()
	for m := l.head; m != nil && m.stamp <= stamp; m = m.nextArrival {
		if m.stamp == stamp && s.table.Remove(m.key(), m.node()) {
			return m
		}
	}
	return nil
}

// postAmongWild posts a receive without wildcards in a context that may have some; false if it has none.
func (s *Server) postAmongWild(o *op) bool {
	c := s.ctxs.get(o.ctx)
	if c == nil {
		return false
	}
	c.mu.Lock()
	if len(c.posted) > 0 {
		c.stamp++
		o.stamp = c.stamp
	}
	m := s.table.InsertOrMatch(o.key(), o.node(), hashtable.Post)
	c.mu.Unlock()
	if m != nil {
		s.take(o, &m.Value)
	}
	return true
}

// arriveAmongWild matches a message in a context that may have wildcards posted; false if it is still to be handled.
func (s *Server) arriveAmongWild(env envelope, payload []byte, w *fult.Worker) bool {
	c := s.ctxs.get(keyContext(env.key))
	if c == nil {
		return false
	}
	c.mu.Lock()
	i := c.find(int32(keySource(env.key)), int32(keyTag(env.key)))
	if i < 0 {
		c.mu.Unlock()
		return false
	}
	o := c.posted[i]
	// A receive without wildcards that is older comes first. Peek's node cannot go: only the poller matches messages to
	// receives, and a receive is cancelled under the context's lock.
	if n := s.table.Peek(env.key, hashtable.Post); n != nil && n.Value.stamp < o.stamp {
		if n = s.table.Match(env.key, hashtable.Post); n != nil {
			o = &n.Value
			i = -1
		}
	}
	if i >= 0 {
		c.remove(i)
		s.nwild.Add(-1)
	}
	c.mu.Unlock()
	s.hand(o, env, payload, w)
	return true
}

// rematch looks for a wildcard that was posted while a message was being kept: the newest one of its source, with that
// key and stamp, if nobody has claimed it since.
func (s *Server) rematch(key, stamp uint64, w *fult.Worker) {
	c := s.ctxs.get(keyContext(key))
	if c == nil {
		return
	}
	c.mu.Lock()
	i := c.find(int32(keySource(key)), int32(keyTag(key)))
	if i < 0 {
		c.mu.Unlock()
		return
	}
	m := s.claimNewest(keySource(key), stamp)
	if m == nil {
		c.mu.Unlock()
		return
	}
	o := c.posted[i]
	c.remove(i)
	s.nwild.Add(-1)
	c.mu.Unlock()
	s.unlink(m)
	if s.deliver(o, m) {
		o.finish(w)
	}
}

// claimNewest takes the message with that stamp out of the table if it is still the newest of src; nil if somebody else
// has claimed it.
func (s *Server) claimNewest(src int, stamp uint64) *op {
	l := &s.lists[src]
	l.mu.Lock()
	defer l.mu.Unlock()
	if m := l.tail; m != nil && m.stamp == stamp && s.table.Remove(m.key(), m.node()) {
		return m
	}
	return nil
}

// find gives the index of the oldest posted wildcard that takes (src, tag), or -1.
func (c *context) find(src, tag int32) int {
	for i, o := range c.posted {
		if o.accepts(src, tag) {
			return i
		}
	}
	return -1
}

func (c *context) remove(i int) {
	copy(c.posted[i:], c.posted[i+1:])
	c.posted[len(c.posted)-1] = nil
	c.posted = c.posted[:len(c.posted)-1]
}
