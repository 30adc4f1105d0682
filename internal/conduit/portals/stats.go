package portals

// QueueStats is what was counted on one receive queue.
type QueueStats struct {
	// Events is the number of records served.
	Events uint64
	// Full is how often this rank was refused for want of room in a peer's queue of this kind.
	Full uint64
	// Stalls is how often the gate kept a record waiting because too many buffers were in use already.
	Stalls uint64
}

// Stats are a rank's counters since the start.
type Stats struct {
	// Sys, Safe and AM are the queues of system records, replies and requests.
	Sys, Safe, AM QueueStats
	// Polls is the number of polls that were let in.
	Polls uint64
	// Blocked is how often a request had to wait because its answer could not have been sent.
	Blocked uint64
	// TicketsWaited and ChunksWaited are refusals to send for want of a ticket or of chunks.
	TicketsWaited, ChunksWaited uint64
	// Overflow is the number of requests that found no room at this rank.
	Overflow uint64
	// SegmentBytes is the receive space with all that belongs to it, of which RequestBytes hold requests.
	SegmentBytes, RequestBytes int
}

// Stats returns the counters. It waits for a poll that is under way, so a Sink must not call it.
func (c *Conduit) Stats() Stats {
	p := &c.poll
	p.lock.Lock()
	defer p.lock.Unlock()
	queue := func(i int) QueueStats {
		return QueueStats{Events: p.takers[i].events, Full: c.full[i].Load(), Stalls: p.takers[i].stalls}
	}
	return Stats{
		Sys: queue(sysQueue), Safe: queue(safeQueue), AM: queue(amQueue), Polls: p.polls, Blocked: p.blocked,
		TicketsWaited: c.purse.ticketsWaited.Load(), ChunksWaited: c.purse.chunksWaited.Load(),
		Overflow: c.overflow.Load(), SegmentBytes: c.seg.bytes, RequestBytes: len(c.seg.queues[amQueue].data),
	}
}
