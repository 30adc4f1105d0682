package comm

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/golci/golci/comm/internal/match"
	"github.com/golci/golci/hashtable"
)

// matching decides which message goes to which receive. It does nothing else: no input or output, no waiting, no
// copying.
//
// A context is matched in one of two ways at a time. At first the table matches it: a receive without wildcards and a
// message of its key meet under the lock of one bucket, and each operation is that one step. From the first receive
// or probe with a wildcard on, the index of the context matches it, in which each operation is one step under the
// context's lock. After a long time without wildcards the table matches it again.
//
// The table itself says which way it is: it refuses the keys of a context that is sealed. So an operation of a context
// without wildcards pays for this with one look at a bit, and it cannot miss the change: the bit is looked at under the
// bucket's lock. Whoever is refused goes to the context, and back to the table if that matches again by then.
type matching struct {
	table      *hashtable.Table[op]
	plainAfter int // operations without wildcards in a row after which the table matches a context again
	// pause, if not nil, is called before each step of the index: before mu, if not nil, is locked, before each bucket
	// that is drained, by its number, and before each node that is put back. Tests change threads there.
	pause func(mu *sync.Mutex, bucket int)

	making sync.Mutex // held to add to blocks
	blocks [1 << 16 / contextsPerBlock]atomic.Pointer[contextBlock]
}

// context is what is kept of a context that has had a wildcard.
type context struct {
	ctx uint16

	mu            sync.Mutex
	indexed       bool            // the index matches, and the table refuses; else the index is empty
	index         match.Index[op] // what waits
	sinceWildcard int             // operations since the last one with a wildcard
}

const contextsPerBlock = 256

type contextBlock [contextsPerBlock]atomic.Pointer[context]

func (x *matching) initTable(entries int) (err error) {
	if x.table, err = hashtable.New[op](entries); err != nil {
		return err
	}
	x.plainAfter = x.table.Buckets() // what indexing a context costs, about
	return nil
}

// findContext finds ctx, nil if it has not had a wildcard.
func (x *matching) findContext(ctx uint16) *context {
	b := x.blocks[ctx/contextsPerBlock].Load()
	if b == nil {
		return nil
	}
	return b[ctx%contextsPerBlock].Load()
}

func (x *matching) makeContext(ctx uint16) *context {
	x.making.Lock()
	defer x.making.Unlock()
	if c := x.findContext(ctx); c != nil {
		return c
	}
	at := &x.blocks[ctx/contextsPerBlock]
	b := at.Load()
	if b == nil {
		b = new(contextBlock)
		at.Store(b)
	}
	c := &context{ctx: ctx}
	b[ctx%contextsPerBlock].Store(c)
	return c
}

// lockContext locks a context whose index matches. For an operation with a wildcard it has the index match; for another
// it gives nil if the table does.
func (x *matching) lockContext(ctx uint16, wild bool) *context {
	c := x.findContext(ctx)
	if c == nil {
		if !wild {
			return nil
		}
		c = x.makeContext(ctx)
	}
	x.stepForTest(&c.mu, -1)
	c.mu.Lock()
	if !c.indexed {
		if !wild {
			c.mu.Unlock()
			return nil
		}
		x.fillIndex(c)
	}
	return c
}

// unlockContext ends an operation on a context that lock gave.
func (x *matching) unlockContext(c *context, wild bool) {
	c.sinceWildcard++
	if wild {
		c.sinceWildcard = 0
	}
	if c.sinceWildcard > x.plainAfter && c.index.Wild() == 0 && c.index.Len() <= x.plainAfter {
		x.emptyIndex(c)
	}
	c.mu.Unlock()
}

// stepForTest is where a test may change threads.
func (x *matching) stepForTest(mu *sync.Mutex, bucket int) {
	if x.pause != nil {
		x.pause(mu, bucket)
	}
}

// fillIndex moves what waits in the context from the table into its index. Each bucket is emptied after the seal, so
// what was put there by operations that have not seen the seal is found.
func (x *matching) fillIndex(c *context) {
	x.table.Seal(c.ctx)
	var messages []*op
	for i := range x.table.Buckets() {
		x.stepForTest(nil, i)
		x.table.DrainBucket(i, c.ctx, func(_ uint64, side hashtable.Side, n *node) {
			if o := &n.Value; side == hashtable.Arrive {
				messages = append(messages, o)
			} else {
				c.index.Post(o.plainPattern(), o) // those of one key in their order; others do not compete
			}
		})
	}
	slices.SortFunc(messages, func(a, b *op) int { return cmp.Compare(a.msg.stamp, b.msg.stamp) })
	for _, o := range messages {
		c.index.Arrive(o.plainPattern(), o)
	}
	c.indexed = true
}

// emptyIndex moves what waits in the context back into the table.
func (x *matching) emptyIndex(c *context) {
	restore := func(side hashtable.Side) func(match.Pattern, *op) {
		return func(_ match.Pattern, o *op) {
			x.stepForTest(nil, -1)
			x.table.Restore(o.tableKey(), o.tableNode(), side)
		}
	}
	c.index.Posts(restore(hashtable.Post))
	c.index.Messages(restore(hashtable.Arrive))
	c.index.Reset()
	c.indexed = false
	x.stepForTest(nil, -1)
	x.table.Unseal(c.ctx)
}

// postReceive gives the receive o the oldest message that it accepts; if there is none, o waits, and the result is nil.
func (x *matching) postReceive(o *op) (message *op) {
	for {
		if !o.wild {
			if n, ok := x.table.InsertOrMatch(o.tableKey(), o.tableNode(), hashtable.Post); ok {
				return opOf(n)
			}
		}
		if c := x.lockContext(o.ctx, o.wild); c != nil {
			message = c.index.Post(o.postedPattern(), o)
			x.unlockContext(c, o.wild)
			return message
		}
	}
}

// claimReceive gives a message with that key to the oldest receive that accepts it; nil if there is none. Called by the
// poller.
func (x *matching) claimReceive(key uint64) (receive *op) {
	for {
		if n, ok := x.table.Match(key, hashtable.Post); ok {
			return opOf(n)
		}
		if c := x.lockContext(keyContext(key), false); c != nil {
			receive = c.index.Claim(keyPattern(key))
			x.unlockContext(c, false)
			return receive
		}
	}
}

// keepMessage is claimReceive for the message m, which waits if there is no receive. Once m waits it belongs to whoever
// takes it.
func (x *matching) keepMessage(m *op) (receive *op) {
	key := m.tableKey()
	for {
		if n, ok := x.table.InsertOrMatch(key, m.tableNode(), hashtable.Arrive); ok {
			return opOf(n)
		}
		if c := x.lockContext(keyContext(key), false); c != nil {
			receive = c.index.Arrive(keyPattern(key), m)
			x.unlockContext(c, false)
			return receive
		}
	}
}

// findMessage makes one step among the messages of a context: by the table, unless that refuses, or by the index.
func (x *matching) findMessage(ctx uint16, wild bool, byTable func() (ok bool), byIndex func(*match.Index[op])) {
	for wild || !byTable() {
		if c := x.lockContext(ctx, wild); c != nil {
			byIndex(&c.index)
			x.unlockContext(c, wild)
			return
		}
	}
}

// lookFor tells of the oldest message that p accepts, and leaves it.
func (x *matching) lookFor(ctx uint16, p match.Pattern) (st Status, found bool) {
	see := func(m *op) {
		st, found = Status{Source: int(m.peer), Tag: int(m.tag), Bytes: m.size}, true
	}
	x.findMessage(ctx, p.Wild(), func() bool {
		return x.table.View(patternKey(ctx, p), hashtable.Arrive, see)
	}, func(index *match.Index[op]) {
		if m := index.Oldest(p); m != nil {
			see(m)
		}
	})
	return st, found
}

// takeMessage takes the oldest message that p accepts; nil if there is none.
func (x *matching) takeMessage(ctx uint16, p match.Pattern) (message *op) {
	x.findMessage(ctx, p.Wild(), func() bool {
		n, ok := x.table.Match(patternKey(ctx, p), hashtable.Arrive)
		message = opOf(n)
		return ok
	}, func(index *match.Index[op]) { message = index.Take(p) })
	return message
}

// takeEnvelope takes the envelope with that key and the sender's number id; nil if it does not wait.
func (x *matching) takeEnvelope(key, id uint64) (message *op) {
	is := func(m *op) bool { return m.role == roleRTS && m.id == id }
	x.findMessage(keyContext(key), false, func() bool {
		n, ok := x.table.TakeFunc(key, hashtable.Arrive, is)
		message = opOf(n)
		return ok
	}, func(index *match.Index[op]) { message = index.TakeFunc(keyPattern(key), is) })
	return message
}

// withdrawReceive takes the receive o, which was posted with p, back; false if it is matched or done. o may be in use
// for something else by now.
func (x *matching) withdrawReceive(ctx uint16, p match.Pattern, o *op) bool {
	for {
		if !p.Wild() {
			if removed, ok := x.table.Remove(patternKey(ctx, p), o.tableNode()); ok {
				return removed
			}
		}
		if c := x.lockContext(ctx, false); c != nil {
			removed := c.index.Withdraw(p, o)
			x.unlockContext(c, false)
			return removed
		}
		if p.Wild() {
			return false
		}
	}
}

// eachWaiting calls f with everything that waits, under locks. It holds those of all contexts at once, so that nothing
// passes from the table to an index, or back, between the looks at both.
func (x *matching) eachWaiting(f func(ctx uint16, side hashtable.Side, p match.Pattern, o *op)) {
	x.making.Lock()
	defer x.making.Unlock()
	cs := x.wildContexts()
	for _, c := range cs {
		c.mu.Lock()
		defer c.mu.Unlock()
	}
	x.table.Range(func(key uint64, side hashtable.Side, n *node) bool {
		f(keyContext(key), side, keyPattern(key), &n.Value)
		return true
	})
	for _, c := range cs {
		c.index.Posts(func(p match.Pattern, o *op) { f(c.ctx, hashtable.Post, p, o) })
		c.index.Messages(func(p match.Pattern, o *op) { f(c.ctx, hashtable.Arrive, p, o) })
	}
}

// wildContexts are those that had a wildcard. Under making.
func (x *matching) wildContexts() (cs []*context) {
	for i := range x.blocks {
		b := x.blocks[i].Load()
		if b == nil {
			continue
		}
		for k := range b {
			if c := b[k].Load(); c != nil {
				cs = append(cs, c)
			}
		}
	}
	return cs
}

func opOf(n *node) *op {
	if n == nil {
		return nil
	}
	return &n.Value
}

// tableNode is o as the table holds it.
func (o *op) tableNode() *node { return hashtable.NodeOf(o) }

// tableKey of an op without wildcards.
func (o *op) tableKey() uint64 { return makeKey(o.ctx, int(o.peer), int(o.tag)) }

// plainPattern of an op without wildcards.
func (o *op) plainPattern() match.Pattern { return match.Pattern{Source: o.peer, Tag: o.tag} }

// postedPattern is what a receive was posted with.
func (o *op) postedPattern() match.Pattern {
	if o.wild {
		return o.recv.posted
	}
	return o.plainPattern()
}

func keyPattern(k uint64) match.Pattern {
	return match.Pattern{Source: int32(keySource(k)), Tag: int32(keyTag(k))}
}

// patternKey is the key of a pattern without wildcards.
func patternKey(ctx uint16, p match.Pattern) uint64 { return makeKey(ctx, int(p.Source), int(p.Tag)) }

func patternOf(src, tag int) match.Pattern { return match.Pattern{Source: int32(src), Tag: int32(tag)} }
