package groupmsg

// Router hands messages to the meetings of one rank that they belong to, whichever receive they came by. Receives go by
// source and tag, so two meetings with one tag and a source in common get each other's messages. The router counts
// receives for each such pair, and meetings that wait; it does not care who posted which.
//
// Messages of one meeting from one source are handed out in the order in which they came. One goroutine at a time uses
// a router. W stands for whoever waits, M for a message.
type Router[W, M any] struct {
	posted map[recvKey]*counter[W]
	early  map[sender][]M // came before anybody waited for them
}

// recvKey is what a receive names.
type recvKey struct{ from, tag int }

// sender is whose message somebody waits for.
type sender struct {
	name Name
	from int
}

// counter is what happens at a place.
type counter[W any] struct {
	posted  int // receives that have not completed; between calls, as many as wait, or more
	waiting []waiter[W]
}

type waiter[W any] struct {
	name Name
	who  W
}

// Wait asks for the next message of a meeting from a rank. ok: m is it. Otherwise the caller waits; if post, the caller
// must post a receive for that rank and name.Tag().
func (d *Router[W, M]) Wait(name Name, from int, who W) (m M, ok, post bool) {
	s := sender{name, from}
	if list := d.early[s]; len(list) > 0 {
		d.keepLater(s, list[1:])
		return list[0], true, false
	}
	c := d.counterAt(recvKey{from, name.Tag()})
	c.waiting = append(c.waiting, waiter[W]{name, who})
	return m, false, c.postMore()
}

// postMore tells whether there are fewer receives than meetings that wait, and counts one more if so.
func (c *counter[W]) postMore() bool {
	if c.posted >= len(c.waiting) {
		return false
	}
	c.posted++
	return true
}

// Completed says that a receive from a rank has completed, and which meeting the message belongs to. ok: who waited for
// it gets it. Otherwise the router keeps it. If post, the caller must post the receive again, since others still wait.
func (d *Router[W, M]) Completed(name Name, from int, m M) (who W, ok, post bool) {
	p := recvKey{from, name.Tag()}
	c := d.counterAt(p)
	c.posted = max(c.posted-1, 0)
	defer d.tidy(p, c)
	for i, w := range c.waiting {
		if w.name == name {
			c.waiting = append(c.waiting[:i:i], c.waiting[i+1:]...)
			return w.who, true, c.postMore()
		}
	}
	s := sender{name, from}
	d.keepLater(s, append(d.early[s], m))
	return who, false, c.postMore()
}

// Leave ends the wait of the meeting for a rank, which has failed or takes no part. !ok: nobody waits. A receive that
// is posted stays, for the next meeting with this tag.
func (d *Router[W, M]) Leave(name Name, from int) (who W, ok bool) {
	p := recvKey{from, name.Tag()}
	c := d.counterAt(p)
	defer d.tidy(p, c)
	for i, w := range c.waiting {
		if w.name == name {
			c.waiting = append(c.waiting[:i:i], c.waiting[i+1:]...)
			return w.who, true
		}
	}
	return who, false
}

// Gone says that a rank has failed and that receives from it have ended. It returns who waited for it, in no order, and
// forgets its messages.
func (d *Router[W, M]) Gone(from int) (who []W) {
	for p, c := range d.posted {
		if p.from == from {
			for _, w := range c.waiting {
				who = append(who, w.who)
			}
			delete(d.posted, p)
		}
	}
	for s := range d.early {
		if s.from == from {
			delete(d.early, s)
		}
	}
	return who
}

// countAside is the number of messages that nobody has asked for.
func (d *Router[W, M]) countAside() (n int) {
	for _, list := range d.early {
		n += len(list)
	}
	return n
}

func (d *Router[W, M]) counterAt(p recvKey) *counter[W] {
	c := d.posted[p]
	if c == nil {
		c = new(counter[W])
		if d.posted == nil {
			d.posted = make(map[recvKey]*counter[W])
		}
		d.posted[p] = c
	}
	return c
}

// tidy forgets a place without receives, where nobody waits, either.
func (d *Router[W, M]) tidy(p recvKey, c *counter[W]) {
	if c.posted == 0 {
		delete(d.posted, p)
	}
}

// keepLater keeps messages for later, or forgets the list if there are none.
func (d *Router[W, M]) keepLater(s sender, list []M) {
	if d.early == nil {
		d.early = make(map[sender][]M)
	}
	if d.early[s] = list; len(list) == 0 {
		delete(d.early, s)
	}
}
