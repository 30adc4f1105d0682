package udp

import "fmt"

// Debug tells the state of a lane.
func (c *Conduit) Debug(p int) string {
	c.poll.Lock()
	c.engine.Lock()
	defer c.poll.Unlock()
	defer c.engine.Unlock()
	ln := &c.lanes[p]
	return fmt.Sprintf("now %v due %v stage %d sent %d freed %d blocked %v bulk sent %d freed %d taken %d/%d told %d/%d in %v/%v owes %v core %+v out %d/%d full %v held %v wire %+v dropped %d recv %d malformed %d box %+v",
		c.clock(), c.due.Load(), ln.stage.head.Load()-ln.stage.tail.Load(), ln.sent, ln.freed.Load(), ln.blocked, ln.bulk.sent.Load(), ln.bulkFreed.Load(), ln.taken.Load(), ln.bulkTaken.Load(), ln.told, ln.toldBulk,
		ln.in[0].empty(), ln.in[1].empty(), ln.owes, c.core.Stats(p), len(c.out.batch), c.out.calls, c.out.full, c.held.Load(), c.wire.Info(), c.wire.Dropped(), c.recv.datagrams, c.recv.malformed, c.box.Stats())
}
