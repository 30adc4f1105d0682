package realm

import (
	"github.com/golci/golci/comm/am"
	"github.com/golci/golci/internal/realm/event"
)

// spawnWords is the number of arguments of a message that spawns a task. A message with two more brings a part of the
// task's arguments: its offset and the length of all. Parts come in any order.
const spawnWords = 5

// sendSpawn sends the message, or messages, of a spawn. It blocks for credits.
func (rt *Runtime) sendSpawn(peer int, b []byte, words ...uint64) error {
	most := rt.ep.MaxMedium()
	if len(b) <= most {
		return rt.request(peer, hSpawn, b, words...)
	}
	for off := 0; off < len(b); off += most {
		part := b[off:min(off+most, len(b))]
		if err := rt.request(peer, hSpawn, part, append(words[:spawnWords:spawnWords], uint64(off),
			uint64(len(b)))...); err != nil {
			return err
		}
	}
	return nil
}

// parts has the arguments of tasks of which not all have come. The poller owns it.
type parts struct {
	of map[event.ID]*pieces // by finish event
}

type pieces struct {
	src  int
	all  []byte
	have int // bytes
}

// mostArguments bounds what one task's arguments take, in bytes.
const mostArguments = 1 << 30

// take adds a part, and returns all arguments once they have come.
func (p *parts) take(t *am.Token, args []uint64, part []byte) []byte {
	finish, off, n := event.ID(args[3]), args[spawnWords], args[len(args)-1]
	x := p.of[finish]
	if x == nil && n <= mostArguments {
		if p.of == nil {
			p.of = make(map[event.ID]*pieces)
		}
		x = &pieces{src: t.Source(), all: make([]byte, n)}
		p.of[finish] = x
	}
	if x == nil || x.src != t.Source() || off > uint64(len(x.all)) || copy(x.all[off:], part) < len(part) {
		return []byte{} // no task has arguments like these
	}
	if x.have += len(part); x.have < len(x.all) {
		return nil
	}
	delete(p.of, finish)
	return x.all
}

// drop forgets what a rank has begun that has died.
func (p *parts) drop(rank int) {
	for e, x := range p.of {
		if x.src == rank {
			delete(p.of, e)
		}
	}
}
