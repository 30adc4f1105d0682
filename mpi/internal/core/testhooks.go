package core

// Tests of the packages above start from states that a program reaches after many calls, and wait until a rank is in a
// call. They do so by the functions of this file. Nothing else uses them.

// ID is the number that both contexts of c come from.
func (c *Comm) ID() int { return c.id }

// Calls is the number of the last collective on c.
func (c *Comm) Calls() uint64 { return c.coll.LastCall() }

// Calling tells whether a collective runs on c.
func (c *Comm) Calling() bool { return c.coll.Running() }

// InCall tells whether the rank has begun call number call on c.
func (c *Comm) InCall(call uint64) bool {
	return c.coll.Begun(call)
}

// Failed tells whether a collective on c is known to have failed.
func (c *Comm) Failed() bool { return c.coll.Failure() != nil }

// SkipTo makes the next collective on c number call+1. All ranks call it with the same number, and wait for each
// other.
func (c *Comm) SkipTo(call uint64) error {
	c.coll.SetLastCall(call)
	return c.forColl().LastBarrier()
}

// Pretend is SkipTo on this rank alone, which does not wait.
func (c *Comm) Pretend(call uint64) { c.coll.SetLastCall(call) }
