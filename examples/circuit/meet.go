package main

import (
	"context"
	"sync"

	"github.com/golci/golci/realm"
)

// role is what an introduction is about.
type role int

const (
	ofDownstream role = iota // the nodes of To, with the gate for charges, for From
	ofUpstream               // the ghosts of From, with the gate for their voltages, for To
	ofPiece                  // the nodes of From, for rank 0
	ofJob                    // the gate of all ranks
)

// contact names an introduction. The pieces of ofDownstream and ofUpstream are those of a bundle.
type contact struct {
	Role     role
	From, To int
}

// introduction is what one rank tells another one of.
type introduction struct {
	Contact contact
	Data    realm.InstanceID
	Gate    realm.BarrierID[struct{}]
}

// guests are the introductions that have come to a rank of this process.
type guests struct {
	mu   sync.Mutex
	come map[contact]introduction
	want int             // 0: not known yet
	full realm.UserEvent // all have come; made when want is known
}

var hosts sync.Map // from *realm.Runtime to *guests

func guestsOf(rt *realm.Runtime) *guests {
	g, _ := hosts.LoadOrStore(rt, &guests{come: make(map[contact]introduction)})
	return g.(*guests)
}

var introduce = realm.Register("circuit.introduce", func(c *realm.Ctx, i introduction) error {
	g := guestsOf(c.Runtime())
	g.mu.Lock()
	g.come[i.Contact] = i
	full := len(g.come) == g.want
	g.mu.Unlock()
	if full {
		return g.full.Trigger(realm.NoEvent)
	}
	return nil
})

// await waits until so many introductions have come.
func (g *guests) await(ctx context.Context, rt *realm.Runtime, want int) error {
	g.mu.Lock()
	g.want, g.full = want, rt.NewUserEvent()
	full := len(g.come) == want
	g.mu.Unlock()
	if full {
		return nil
	}
	return rt.Wait(ctx, g.full.Event())
}

// meetOthers introduces this rank's pieces to others, and learns of theirs.
func (b *board) meetOthers(ctx context.Context) error {
	defer hosts.Delete(b.rt)
	told, err := b.tell()
	if err != nil {
		return err
	}
	want := 1
	for _, p := range b.pieces {
		want += len(p.downstream) + len(p.upstream)
	}
	if b.rt.Rank() == 0 {
		want += b.graph.pieces
	}
	g := guestsOf(b.rt)
	if err := g.await(ctx, b.rt, want); err != nil {
		return err
	}
	b.learn(g.come)
	return b.rt.Wait(ctx, told)
}

// learn takes what others have told.
func (b *board) learn(come map[contact]introduction) {
	for _, p := range b.pieces {
		for _, d := range p.downstream {
			i := come[contact{ofDownstream, p.number, d.to}]
			d.nodes, d.landed = i.Data.On(b.rt), i.Gate.On(b.rt)
		}
		for _, u := range p.upstream {
			i := come[contact{ofUpstream, u.from, p.number}]
			u.ghosts, u.fresh = i.Data.On(b.rt), i.Gate.On(b.rt)
		}
	}
	b.all = come[contact{Role: ofJob}].Gate.On(b.rt)
	for number := range b.graph.pieces {
		if b.rt.Rank() == 0 {
			b.everything = append(b.everything, come[contact{ofPiece, number, 0}].Data.On(b.rt))
		}
	}
}

// tell introduces all pieces to those upstream and downstream of them, and to rank 0.
func (b *board) tell() (realm.Event, error) {
	var told []realm.Event
	say := func(rank int, i introduction) {
		told = append(told, realm.Spawn(b.rt, realm.ProcessorOf(rank), introduce, i))
	}
	if b.rt.Rank() == 0 {
		all, err := realm.NewBarrier(b.rt, int64(b.rt.Size()), realm.Reduction[struct{}]{})
		if err != nil {
			return realm.NoEvent, err
		}
		for r := range b.rt.Size() {
			say(r, introduction{Contact: contact{Role: ofJob}, Gate: all.ID()})
		}
	}
	for _, p := range b.pieces {
		say(0, introduction{contact{ofPiece, p.number, 0}, p.nodes.ID(), realm.BarrierID[struct{}]{}})
		for _, u := range p.upstream {
			say(u.from/b.o.pieces, introduction{contact{ofDownstream, u.from, p.number}, p.nodes.ID(), u.landed.ID()})
		}
		for _, d := range p.downstream {
			say(d.to/b.o.pieces, introduction{contact{ofUpstream, p.number, d.to}, p.ghosts.ID(), d.fresh.ID()})
		}
	}
	return b.rt.Merge(told...), nil
}
