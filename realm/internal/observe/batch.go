package observe

// Sink names a profiler of the job: the number, and above 32 bits its rank. 0 is none.
type Sink uint64

// SinkOf is the profiler with that number, from 1 on, of a rank.
func SinkOf(rank int, id uint32) Sink { return Sink(rank)<<32 | Sink(id) }

// Rank is the rank of the profiler.
func (s Sink) Rank() int { return int(s >> 32) }

// ID is its number there.
func (s Sink) ID() uint32 { return uint32(s) }

// batchRecords is how many records a batch has at most.
const batchRecords = 256

// Batch is records for one profiler on their way.
type Batch struct {
	Sink Sink
	List []Record
}

// takes tells whether b, which may be nil, has room for a record for sink.
func (b *Batch) takes(sink Sink) bool {
	return b != nil && b.Sink == sink && len(b.List) < batchRecords
}

// newBatch is a batch that has the record of w.
func (g *Log) newBatch(w *Operation) *Batch {
	b := g.batches.Get()
	if b == nil {
		b = &Batch{List: make([]Record, 0, batchRecords)}
	}
	b.Sink, b.List = w.Sink, append(b.List, w.Record)
	return b
}

// put adds the record of w to a batch of the caller. One that has no room for it is delivered before.
func (g *Log) put(w *Operation, own **Batch) {
	if b := *own; b.takes(w.Sink) {
		b.List = append(b.List, w.Record)
		return
	}
	g.Deliver(*own)
	*own = g.newBatch(w)
}

// Deliver has the profiler get b, which may be nil. It neither blocks nor runs a program's code.
func (g *Log) Deliver(b *Batch) {
	if b != nil {
		g.cfg.Later(func() { g.handOver(b) })
	}
}

// gather adds the record of w to those that Later comes to.
func (g *Log) gather(w *Operation) {
	g.mu.Lock()
	n := len(g.gathered)
	if n > 0 && g.gathered[n-1].takes(w.Sink) {
		b := g.gathered[n-1]
		b.List = append(b.List, w.Record)
	} else {
		g.gathered = append(g.gathered, g.newBatch(w))
	}
	g.mu.Unlock()
	if n > 0 {
		return
	}
	g.cfg.Later(func() {
		g.mu.Lock()
		all := g.gathered
		g.gathered = nil
		g.mu.Unlock()
		for _, b := range all {
			g.handOver(b)
		}
	})
}

// handOver delivers b, and frees it.
func (g *Log) handOver(b *Batch) {
	b.scale(&g.Clock)
	g.cfg.Deliver(b)
	b.List = b.List[:0]
	g.batches.Put(b)
}
