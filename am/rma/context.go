package rma

import "fmt"

// Context is where a goroutine or thread starts implicit operations: they have no handle, and are waited for together.
// It belongs to one goroutine or thread at a time.
type Context struct {
	m      *Memory
	puts   *op // the set of implicit puts and other writes; nil until one is under way
	gets   *op
	region *op // the set of an open access region
	open   bool
}

// NewContext makes a Context. It need not be closed, but what was started in it should be waited for.
func (m *Memory) NewContext() *Context { return &Context{m: m} }

// enterContext makes o an operation of c, which waits for it, or without c gives a handle. An error has given o back.
func (o *op) enterContext(c *Context) (Handle, error) {
	if c == nil {
		return o.handleOf(), nil
	}
	set, err := c.pickSet(o)
	if err != nil {
		return Handle{}, o.cancelUnsent(err)
	}
	set.mu.Lock()
	set.left++
	set.mu.Unlock()
	o.mu.Lock()
	o.set = set
	o.mu.Unlock()
	return Handle{}, nil
}

// pickSet gives the set that a new operation belongs to.
func (c *Context) pickSet(o *op) (*op, error) {
	p := &c.puts
	switch {
	case c.open:
		p = &c.region
	case o.dst != nil:
		p = &c.gets
	}
	if *p == nil {
		set, err := c.m.newOp(-1, 0, nil, result{})
		if err != nil {
			return nil, err
		}
		*p = set
	}
	return *p, nil
}

// Put starts an implicit put. src may be reused when it returns. Errors and blocking as for Memory.PutNB.
func (c *Context) Put(peer int, off int64, src []byte) error {
	return c.putImplicit(peer, off, src, putNow)
}

// PutBulk starts an implicit put whose src must not change until it has been waited for.
func (c *Context) PutBulk(peer int, off int64, src []byte) error {
	return c.putImplicit(peer, off, src, putDefer)
}

// TryPut is PutBulk in immediate mode, see Memory.TryPutNB.
func (c *Context) TryPut(peer int, off int64, src []byte) error {
	return c.putImplicit(peer, off, src, putTry)
}

func (c *Context) putImplicit(peer int, off int64, src []byte, mode putMode) error {
	_, _, err := c.m.putSlowly(peer, off, src, mode, c)
	return err
}

// Get starts an implicit get. dst must be left alone until it has been waited for.
func (c *Context) Get(peer int, off int64, dst []byte) error {
	_, err := c.m.getSlowly(peer, off, dst, c, false)
	return err
}

// TryGet is Get in immediate mode, see Memory.TryPutNB.
func (c *Context) TryGet(peer int, off int64, dst []byte) error {
	_, err := c.m.getSlowly(peer, off, dst, c, true)
	return err
}

// PutValue starts an implicit Memory.PutValue.
func (c *Context) PutValue(peer int, off int64, v uint64, n int) error {
	_, err := c.m.putValue(peer, off, v, n, c)
	return err
}

// Memset starts an implicit Memory.Memset.
func (c *Context) Memset(peer int, off int64, v byte, n int) error {
	_, err := c.m.memset(peer, off, v, n, c)
	return err
}

// WaitPuts waits for the implicit puts, values, sets and atomics that this context has started since the last such
// wait, as Handle.Wait does, and returns the first error. ErrRegion inside an access region.
func (c *Context) WaitPuts() error { return c.waitSets(&c.puts) }

// WaitGets is WaitPuts for the implicit gets.
func (c *Context) WaitGets() error { return c.waitSets(&c.gets) }

// WaitAll waits for all of them.
func (c *Context) WaitAll() error { return c.waitSets(&c.puts, &c.gets) }

func (c *Context) waitSets(sets ...**op) (err error) {
	if c.open {
		return c.regionError("is open: end it first")
	}
	for _, p := range sets {
		set := *p
		if set == nil {
			continue
		}
		*p = nil
		set.releaseHeld(nil, nil)
		if e := set.handleOf().Wait(); err == nil {
			err = e
		}
	}
	return err
}

// TestPuts reports whether WaitPuts would return at once, and if so its error. It never polls and never blocks.
func (c *Context) TestPuts() (bool, error) { return c.testSets(&c.puts) }

// TestGets is TestPuts for WaitGets.
func (c *Context) TestGets() (bool, error) { return c.testSets(&c.gets) }

// TestAll is TestPuts for WaitAll.
func (c *Context) TestAll() (bool, error) { return c.testSets(&c.puts, &c.gets) }

func (c *Context) testSets(sets ...**op) (bool, error) {
	for _, p := range sets {
		if !c.open && !isIdle(*p) {
			return false, nil
		}
	}
	return !c.open, c.waitSets(sets...)
}

// isIdle reports whether no operation of the set is under way. set is the op that counts them; a nil one is idle.
func isIdle(set *op) bool {
	if set == nil {
		return true
	}
	set.mu.Lock()
	defer set.mu.Unlock()
	return set.left == 0
}

// BeginRegion opens an access region: the implicit operations from here to EndRegion are captured by its handle,
// explicit ones are not. ErrRegion if one is open: they do not nest.
func (c *Context) BeginRegion() error {
	if c.open {
		return c.regionError("is open already: they do not nest")
	}
	c.open = true
	return nil
}

// EndRegion closes the access region. The handle is that of its operations, zero if all are done. ErrRegion: none is
// open.
func (c *Context) EndRegion() (Handle, error) {
	if !c.open {
		return Handle{}, c.regionError("is not open")
	}
	set := c.region
	c.open, c.region = false, nil
	if set == nil {
		return Handle{}, nil
	}
	h := set.handleOf()
	set.releaseHeld(nil, nil)
	return h, nil
}

func (c *Context) regionError(what string) error {
	return fmt.Errorf("%w of rank %d %s", ErrRegion, c.m.rank, what)
}
