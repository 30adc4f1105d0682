package udp

import "github.com/golci/golci/comm/conduit/udp/seal"

// Stats counts what has come to a rank, and left it, since New.
type Stats struct {
	// Seal is what became of datagrams that came, by whether they were of this job.
	Seal seal.Stats
	// Received is how many datagrams came, also foreign ones; Truncated those that were longer than any of this job; Malformed those of
	// this job whose contents were against the rules; Dropped those that the system had no room for, as far as it tells.
	Received, Truncated, Malformed, Dropped uint64
	// Sent is how many datagrams left, counting those together that the system is given together; Refused what it did not take.
	Sent, Refused uint64
}

// Stats may be called by all but a Sink in its Record or Bulk. It may wait for a Poll under way.
func (c *Conduit) Stats() Stats {
	c.poll.Lock()
	defer c.poll.Unlock()
	c.engine.Lock()
	defer c.release()
	r, o := &c.recv, &c.out
	return Stats{
		Seal: c.box.Stats(), Received: r.datagrams, Truncated: r.truncated, Malformed: r.malformed, Dropped: c.wire.Dropped(),
		Sent: o.datagrams, Refused: o.failed,
	}
}
