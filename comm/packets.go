package comm

import (
	"github.com/golci/golci/fult"
	"github.com/golci/golci/pool"
)

// packet holds the bytes of an unexpected message that do not fit its op.
type packet struct {
	mem   []byte
	class uint8
	loose bool // not of a pool: the collector takes it
}

// packetClasses are the sizes of packets in bytes; the last is replaced by the eager limit.
var packetClasses = [...]int{512, 2048, DefaultEager}

// packetsPerWorker of each class are kept at most; a burst beyond it is served from the heap.
const packetsPerWorker = 1024

// packetPools are Fult's packet pools, one for each class, with a sub-pool for each worker.
type packetPools struct {
	sizes [len(packetClasses)]int
	pools [len(packetClasses)]*pool.Pool[packet]
}

func (p *packetPools) initPools(workers, eager int) (err error) {
	p.sizes = packetClasses
	p.sizes[len(p.sizes)-1] = eager
	for class, size := range p.sizes {
		p.pools[class], err = pool.New(pool.Options[packet]{
			Workers: workers,
			Limit:   workers * packetsPerWorker,
			New:     func() *packet { return &packet{mem: make([]byte, size), class: uint8(class)} },
			Poison:  func(x *packet) { poison(x.mem) },
			Check:   func(x *packet) bool { return poisoned(x.mem) },
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// getPacket gives a packet for n bytes to the poller that runs on w, or on no worker.
func (p *packetPools) getPacket(w *fult.Worker, n int) *packet {
	for class, size := range p.sizes {
		if n > size {
			continue
		}
		if x := p.pools[class].Get(packetPoolOf(w)); x != nil {
			return x
		}
		return &packet{mem: make([]byte, size), loose: true}
	}
	return &packet{mem: make([]byte, n), loose: true} // a peer with a larger eager limit
}

// putPacket gives a packet back to the sub-pool of the worker that has read it.
func (p *packetPools) putPacket(home int, x *packet) {
	if !x.loose {
		p.pools[x.class].Put(home, x)
	}
}

// packetPoolOf is the sub-pool of a worker, -1 for none.
func packetPoolOf(w *fult.Worker) int {
	if w == nil {
		return -1
	}
	return w.ID()
}

const poisonByte = 0xdb

func poison(b []byte) {
	for i := range b {
		b[i] = poisonByte
	}
}

func poisoned(b []byte) bool {
	for _, x := range b {
		if x != poisonByte {
			return false
		}
	}
	return true
}
