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
	table *hashtable.Table[op]
	calm  int // operations without wildcards in a row after which the table matches a context again
	// pause, if not nil, is called before each step of the index: before mu, if not nil, is locked, before each bucket
	// that is drained, by its number, and before each node that is put back. Tests change threads there.
	pause func(mu *sync.Mutex, bucket int)

	making sync.Mutex // held to add to blocks
	blocks [1 << 16 / contextsPerBlock]atomic.Pointer[contextBlock]
}

// context is what is kept of a context that has had a wildcard.
type context struct {
	ctx uint16

	mu      sync.Mutex
	indexed bool            // the index matches, and the table refuses; else the index is empty
	index   match.Index[op] // what waits
	quiet   int             // operations since the last one with a wildcard
}

const contextsPerBlock = 256

type contextBlock [contextsPerBlock]atomic.Pointer[context]

func (m *matching) init(entries int) (err error) {
	if m.table, err = hashtable.New[op](entries); err != nil {
		return err
	}
	m.calm = m.table.Buckets() // what indexing a context costs, about
	return nil
}

// context finds ctx, nil if it has not had a wildcard.
func (m *matching) context(ctx uint16) *context {
	b := m.blocks[ctx/contextsPerBlock].Load()
	if b == nil {
		return nil
	}
	return b[ctx%contextsPerBlock].Load()
}

func (m *matching) makeContext(ctx uint16) *context {
	m.making.Lock()
	defer m.making.Unlock()
	if c := m.context(ctx); c != nil {
		return c
	}
	at := &m.blocks[ctx/contextsPerBlock]
	b := at.Load()
	if b == nil {
		b = new(contextBlock)
		at.Store(b)
	}
	c := &context{ctx: ctx}
	b[ctx%contextsPerBlock].Store(c)
	return c
}

// lock locks a context whose index matches. For an operation with a wildcard it has the index match; for another it
// gives nil if the table does.
func (m *matching) lock(ctx uint16, wild bool) *context {
	c := m.context(ctx)
	if c == nil {
		if !wild {
			return nil
		}
		c = m.makeContext(ctx)
	}
	m.step(&c.mu, -1)
	c.mu.Lock()
	if !c.indexed {
		if !wild {
			c.mu.Unlock()
			return nil
		}
		m.fill(c)
	}
	return c
}

// unlock ends an operation on a context that lock gave.
func (m *matching) unlock(c *context, wild bool) {
	c.quiet++
	if wild {
		c.quiet = 0
	}
	if c.quiet > m.calm && c.index.Wild() == 0 && c.index.Len() <= m.calm {
		m.empty(c)
	}
	c.mu.Unlock()
}

// step is where a test may change threads.
func (m *matching) step(mu *sync.Mutex, bucket int) {
	if m.pause != nil {
		m.pause(mu, bucket)
	}
}

// fill moves what waits in the context from the table into its index. Each bucket is emptied after the seal, so what
// was put there by operations that have not seen the seal is found.
func (m *matching) fill(c *context) {
	m.table.Seal(c.ctx)
	var messages []*op
	for i := range m.table.Buckets() {
		m.step(nil, i)
		m.table.DrainBucket(i, c.ctx, func(_ uint64, side hashtable.Side, n *node) {
			if o := &n.Value; side == hashtable.Arrive {
				messages = append(messages, o)
			} else {
				c.index.Post(o.pattern(), o) // those of one key in their order; others do not compete
			}
		})
	}
	slices.SortFunc(messages, func(a, b *op) int { return cmp.Compare(a.msg.stamp, b.msg.stamp) })
	for _, o := range messages {
		c.index.Arrive(o.pattern(), o)
	}
	c.indexed = true
}

// empty moves what waits in the context back into the table.
func (m *matching) empty(c *context) {
	restore := func(side hashtable.Side) func(match.Pattern, *op) {
		return func(_ match.Pattern, o *op) {
			m.step(nil, -1)
			m.table.Restore(o.key(), o.node(), side)
		}
	}
	c.index.Posts(restore(hashtable.Post))
	c.index.Messages(restore(hashtable.Arrive))
	c.index.Reset()
	c.indexed = false
	m.step(nil, -1)
	m.table.Unseal(c.ctx)
}

// post gives the receive o the oldest message that it accepts; if there is none, o waits, and the result is nil.
func (m *matching) post(o *op) (message *op) {
	for {
		if !o.wild {
			if n, ok := m.table.InsertOrMatch(o.key(), o.node(), hashtable.Post); ok {
				return opOf(n)
			}
		}
		if c := m.lock(o.ctx, o.wild); c != nil {
			message = c.index.Post(o.asked(), o)
			m.unlock(c, o.wild)
			return message
		}
	}
}

// claim gives a message with that key to the oldest receive that accepts it; nil if there is none. Called by the
// poller.
func (m *matching) claim(key uint64) (receive *op) {
	for {
		if n, ok := m.table.Match(key, hashtable.Post); ok {
			return opOf(n)
		}
		if c := m.lock(keyContext(key), false); c != nil {
			receive = c.index.Claim(keyPattern(key))
			m.unlock(c, false)
			return receive
		}
	}
}

// keep is claim for the message u, which waits if there is no receive. Once u waits it belongs to whoever takes it.
func (m *matching) keep(u *op) (receive *op) {
	key := u.key()
	for {
		if n, ok := m.table.InsertOrMatch(key, u.node(), hashtable.Arrive); ok {
			return opOf(n)
		}
		if c := m.lock(keyContext(key), false); c != nil {
			receive = c.index.Arrive(keyPattern(key), u)
			m.unlock(c, false)
			return receive
		}
	}
}

// look tells of the oldest message that p accepts, and leaves it.
func (m *matching) look(ctx uint16, p match.Pattern) (st Status, found bool) {
	see := func(u *op) {
		st, found = Status{Source: int(u.peer), Tag: int(u.tag), Bytes: u.size}, true
	}
	for {
		if !p.Wild() && m.table.View(patternKey(ctx, p), hashtable.Arrive, see) {
			return st, found
		}
		if c := m.lock(ctx, p.Wild()); c != nil {
			if u := c.index.Oldest(p); u != nil {
				see(u)
			}
			m.unlock(c, p.Wild())
			return st, found
		}
	}
}

// take takes the oldest message that p accepts; nil if there is none.
func (m *matching) take(ctx uint16, p match.Pattern) (message *op) {
	for {
		if !p.Wild() {
			if n, ok := m.table.Match(patternKey(ctx, p), hashtable.Arrive); ok {
				return opOf(n)
			}
		}
		if c := m.lock(ctx, p.Wild()); c != nil {
			message = c.index.Take(p)
			m.unlock(c, p.Wild())
			return message
		}
	}
}

// takeEnvelope takes the envelope with that key and the sender's number id; nil if it does not wait.
func (m *matching) takeEnvelope(key, id uint64) (message *op) {
	is := func(u *op) bool { return u.role == roleRTS && u.id == id }
	for {
		if n, ok := m.table.TakeFunc(key, hashtable.Arrive, is); ok {
			return opOf(n)
		}
		if c := m.lock(keyContext(key), false); c != nil {
			message = c.index.TakeFunc(keyPattern(key), is)
			m.unlock(c, false)
			return message
		}
	}
}

// withdraw takes the receive o, which was posted with p, back; false if it is matched or done. o may be in use for
// something else by now.
func (m *matching) withdraw(ctx uint16, p match.Pattern, o *op) bool {
	for {
		if !p.Wild() {
			if removed, ok := m.table.Remove(patternKey(ctx, p), o.node()); ok {
				return removed
			}
		}
		if c := m.lock(ctx, false); c != nil {
			removed := c.index.Withdraw(p, o)
			m.unlock(c, false)
			return removed
		}
		if p.Wild() {
			return false
		}
	}
}

// each calls f with everything that waits, under locks. It holds those of all contexts at once, so that nothing
// passes from the table to an index, or back, between the looks at both.
func (m *matching) each(f func(ctx uint16, side hashtable.Side, p match.Pattern, o *op)) {
	m.making.Lock()
	defer m.making.Unlock()
	cs := m.contexts()
	for _, c := range cs {
		c.mu.Lock()
		defer c.mu.Unlock()
	}
	m.table.Range(func(key uint64, side hashtable.Side, n *node) bool {
		f(keyContext(key), side, keyPattern(key), &n.Value)
		return true
	})
	for _, c := range cs {
		c.index.Posts(func(p match.Pattern, o *op) { f(c.ctx, hashtable.Post, p, o) })
		c.index.Messages(func(p match.Pattern, o *op) { f(c.ctx, hashtable.Arrive, p, o) })
	}
}

// contexts are those that had a wildcard. Under making.
func (m *matching) contexts() (cs []*context) {
	for i := range m.blocks {
		b := m.blocks[i].Load()
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
