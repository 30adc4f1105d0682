package udp

import "sync/atomic"

// bulkStage is the chunks that BulkSend has copied and that are not acknowledged: slots used in turn, each by its writer (the
// caller of BulkSend) while it is free, and by the holder of engine from then on.
type bulkStage struct {
	slots []slot
	// Of the writer.
	write int
	sent  uint64 // bytes
	// Under engine; of the rank's own lane, under poll.
	read int
	busy int // slots handed to the reliable core
}

// slot is one chunk.
type slot struct {
	state atomic.Uint32 // slotFree and so on
	n     int
	id    uint64
	off   int64
	buf   []byte
}

const (
	slotFree uint32 = iota
	slotStaged
	slotBusy // the reliable core reads it
)

// BulkSend implements conduit.Conduit.
func (c *Conduit) BulkSend(peer int, id uint64, off int64, data []byte) int {
	if c.unreachable(peer) {
		return -1
	}
	if c.g.chunk == 0 || len(data) == 0 {
		return 0
	}
	ln := &c.lanes[peer]
	b := &ln.bulk
	if b.slots == nil {
		b.slots = make([]slot, c.g.slots)
	}
	done := 0
	for done < len(data) {
		s := &b.slots[b.write]
		n := min(len(data)-done, c.g.chunk)
		if s.state.Load() != slotFree || b.sent+uint64(n)-ln.bulkFreed.Load() > uint64(c.g.slots*c.g.chunk) {
			break
		}
		if cap(s.buf) < n {
			s.buf = make([]byte, c.g.chunk)
		}
		s.id, s.off, s.n = id, off+int64(done), copy(s.buf[:n], data[done:])
		b.sent += uint64(n)
		done += n
		b.write = (b.write + 1) % len(b.slots)
		s.state.Store(slotStaged)
	}
	if done > 0 {
		if peer == c.cfg.Rank {
			c.selfMail()
		} else {
			c.push(peer)
		}
	}
	return done
}

// next is the oldest staged chunk, or nil.
func (b *bulkStage) next() *slot {
	if len(b.slots) == 0 {
		return nil
	}
	if s := &b.slots[b.read]; s.state.Load() == slotStaged {
		return s
	}
	return nil
}

// handed notes that the core or the sink has got what next gave, under a new state.
func (b *bulkStage) handed(state uint32) {
	b.slots[b.read].state.Store(state)
	b.read = (b.read + 1) % len(b.slots)
}
