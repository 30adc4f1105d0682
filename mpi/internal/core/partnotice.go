package core

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/golci/golci/mpi/internal/notice"

	"github.com/golci/golci/mpi/internal/sentinel"
)

// partKey names a send and the receive that it meets: the communicator, the sender's rank in the world, the tag, and
// how many of them were made before with all these.
type partKey struct {
	uid    uint64
	source int
	tag    int
	number uint32
}

// partSeries counts sends to a rank of the world, or receives from one.
type partSeries struct {
	uid  uint64
	peer int
	tag  int
	send bool
}

// announced is what a sender tells of a partitioned send.
type announced struct {
	channel int
	batch   batch
}

// partitionedMatcher brings partitioned sends and receives of a rank together.
type partitionedMatcher struct {
	mu sync.Mutex // guards what follows; nothing is taken under it
	// Counters stay for the life of the process: a uid is never used again.
	counters  map[partSeries]uint32
	waiting   map[partKey]*partitionedRecv // receives without a send
	announced map[partKey]announced        // sends without a receive
	channels  map[int]*channels            // by rank of the world that messages go to
}

// initMaps makes the maps at the first use. mu is held.
func (x *partitionedMatcher) initMaps() {
	if x.counters == nil {
		x.counters = make(map[partSeries]uint32)
		x.waiting, x.announced = make(map[partKey]*partitionedRecv), make(map[partKey]announced)
		x.channels = make(map[int]*channels)
	}
}

// nextNumber is the number of the next send or receive of a series. mu is held.
func (x *partitionedMatcher) nextNumber(s partSeries) uint32 {
	x.initMaps()
	n := x.counters[s]
	x.counters[s] = n + 1
	return n
}

// announce gives a send to a rank of the world a channel, and tells that rank.
func (x *partitionedMatcher) announce(c *Comm, to, tag int, b batch) (channel int, err error) {
	x.mu.Lock()
	n := x.nextNumber(partSeries{c.coll.UID, to, tag, true})
	list := x.channels[to]
	if list == nil {
		list = new(channels)
		x.channels[to] = list
	}
	channel, ok := list.takeChannel()
	x.mu.Unlock()
	if !ok {
		return 0, fmt.Errorf("%w: there are %d partitioned sends to a rank", sentinel.ErrContexts, partChannels)
	}
	text := binary.LittleEndian.AppendUint64(nil, uint64(b.parts))
	text = binary.LittleEndian.AppendUint64(text, uint64(b.bytes))
	args := [4]uint64{c.coll.UID, uint64(tag)<<32 | uint64(n), notice.Parts, uint64(channel)}
	c.Srv.Notify(to, args, string(text))
	return channel, nil
}

// releaseChannel gives a channel back.
func (x *partitionedMatcher) releaseChannel(to, channel int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.channels[to].used[channel/64] &^= 1 << (channel % 64)
}

// awaitSend makes a receive from a rank of the world meet its send.
func (x *partitionedMatcher) awaitSend(p *partitionedRecv, from int) {
	x.mu.Lock()
	n := x.nextNumber(partSeries{p.c.coll.UID, from, p.tag, false})
	p.key = partKey{p.c.coll.UID, from, p.tag, n}
	a, ok := x.announced[p.key]
	if ok {
		delete(x.announced, p.key)
	} else {
		x.waiting[p.key] = p
	}
	x.mu.Unlock()
	if ok {
		p.meetSend(a)
	}
}

// forgetRecv drops a receive. What its send announces later stays told, and nobody asks for it.
func (x *partitionedMatcher) forgetRecv(p *partitionedRecv) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.waiting, p.key)
}

// noticed takes an announcement. It is called by the poller. What another rank of this job cannot have sent is dropped.
func (x *partitionedMatcher) noticed(key partKey, channel uint64, text []byte) {
	if len(text) != 16 || channel >= partChannels {
		return
	}
	parts, bytes := binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[8:])
	if parts > maxParts || bytes > maxPartBytes || parts == 0 && bytes > 0 || parts > 0 && bytes%parts != 0 {
		return
	}
	a := announced{int(channel), newBatch(int(parts), int(bytes))}
	x.mu.Lock()
	x.initMaps()
	p := x.waiting[key]
	if p == nil {
		x.announced[key] = a
	}
	delete(x.waiting, key)
	x.mu.Unlock()
	if p != nil {
		p.meetSend(a)
	}
}

// Limits of what an announcement may tell.
const (
	maxParts     = 1<<31 - 1
	maxPartBytes = 1<<62 - 1
)

// channels are those from this rank to one other. They are used in turn, so that the messages of a send that has been
// freed have been received before its channel is used again.
type channels struct {
	used [partChannels / 64]uint64
	last int
}

// takeChannel gives a channel that is not in use; false if there is none.
func (x *channels) takeChannel() (int, bool) {
	for range partChannels {
		x.last = (x.last + 1) % partChannels
		if bit := uint64(1) << (x.last % 64); x.used[x.last/64]&bit == 0 {
			x.used[x.last/64] |= bit
			return x.last, true
		}
	}
	return 0, false
}
