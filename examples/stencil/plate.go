package main

import (
	"context"
	"sync"

	"github.com/golci/golci/realm"
)

// gate is a barrier without a value: a place where one task or copy waits for others, on any rank.
type gate = realm.Barrier[struct{}]

type gateID = realm.BarrierID[struct{}]

// plate is one rank's part.
type plate struct {
	rt     *realm.Runtime
	grid   grid
	each   int // blocks of a rank
	blocks []*block
	all    gate // of all ranks, once for each meeting
	// everything is the data of all blocks, by number. Rank 0 has it.
	everything [][2]realm.Instance
}

// block is some of the plate's points with a rim of one, twice: state s is in data[s%2].
type block struct {
	number int
	h, w   int
	data   [2]realm.Instance
	points [2][]float64
	edges  []*edge
	done   realm.Event // the last task that has been described
	full   realm.Event // the copies of its state into the rim
}

// edge is where a block touches another one.
type edge struct {
	side   int
	own    realm.Space // the points of this block there, which the neighbour has in its rim
	rim    realm.Space // the points of the neighbour that this block has in its rim
	theirs [2]realm.Instance
	ready  gate // a phase for each state but the first: it may be copied to the neighbour

	theirReady gate // of the neighbour
}

// introduction is what the owner of a block tells the owner of a neighbour.
type introduction struct {
	Block, Side int // of the receiver; Side is sides where a block is introduced to rank 0
	Data        [2]realm.InstanceID
	Ready       gateID
	All         gateID // of rank 0
}

// guests are the introductions that have come to a rank of this process.
type guests struct {
	mu   sync.Mutex
	cond sync.Cond
	come map[[2]int]introduction
}

var hosts sync.Map // from *realm.Runtime to *guests

func guestsOf(rt *realm.Runtime) *guests {
	g := &guests{come: make(map[[2]int]introduction)}
	g.cond.L = &g.mu
	x, _ := hosts.LoadOrStore(rt, g)
	return x.(*guests)
}

var introduce = realm.Register("introduce", func(c *realm.Ctx, i introduction) error {
	g := guestsOf(c.Runtime())
	g.mu.Lock()
	g.come[[2]int{i.Block, i.Side}] = i
	g.mu.Unlock()
	g.cond.Broadcast()
	return nil
})

// await waits for the introduction of what lies beside a side of a block.
func (g *guests) await(block, side int) introduction {
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		if i, ok := g.come[[2]int{block, side}]; ok {
			return i
		}
		g.cond.Wait()
	}
}

// world is the place of the introduction of all ranks to rank 0.
const world = -1

// newPlate makes this rank's blocks and gets to know the neighbours.
func newPlate(ctx context.Context, rt *realm.Runtime, g grid, each int) (*plate, error) {
	p := &plate{rt: rt, grid: g, each: each}
	defer hosts.Delete(rt)
	for i := range each {
		b, err := p.newBlock(rt.Rank()*each + i)
		if err != nil {
			return nil, err
		}
		p.blocks = append(p.blocks, b)
	}
	told, err := p.tell()
	if err != nil {
		return nil, err
	}
	host := guestsOf(rt)
	for _, b := range p.blocks {
		for _, e := range b.edges {
			i := host.await(b.number, e.side)
			e.theirs = [2]realm.Instance{i.Data[0].On(rt), i.Data[1].On(rt)}
			e.theirReady = i.Ready.On(rt)
		}
	}
	p.all = host.await(world, 0).All.On(rt)
	for number := range g.rows * g.cols {
		if rt.Rank() == 0 {
			i := host.await(number, sides)
			p.everything = append(p.everything, [2]realm.Instance{i.Data[0].On(rt), i.Data[1].On(rt)})
		}
	}
	return p, rt.Wait(ctx, told)
}

// memory is that in which ranks of the node reach each other's data, if there is one.
func memory(rt *realm.Runtime) realm.Memory {
	if capacity, _ := rt.MemoryUse(rt.Memory(realm.Registered)); capacity > 0 {
		return rt.Memory(realm.Registered)
	}
	return rt.Memory(realm.System)
}

// newBlock makes a block and its side of the edges.
func (p *plate) newBlock(number int) (*block, error) {
	y0, y1, x0, x1 := p.grid.area(number)
	b := &block{number: number, h: int(y1 - y0), w: int(x1 - x0)}
	for i := range b.data {
		var err error
		space := realm.Rect([]int64{y0 - 1, x0 - 1}, []int64{y1 + 1, x1 + 1})
		if b.data[i], err = realm.NewArray[float64](p.rt, memory(p.rt), space); err != nil {
			return nil, err
		}
		v, err := realm.ViewOf[float64](b.data[i], "")
		if err != nil {
			return nil, err
		}
		b.points[i] = v.Slice()
	}
	for side := range sides {
		if p.grid.beside(number, side) < 0 {
			continue
		}
		e := &edge{side: side, own: p.grid.edge(number, side)}
		e.rim = p.grid.edge(p.grid.beside(number, side), opposite(side))
		var err error
		if e.ready, err = realm.NewBarrier(p.rt, 1, realm.Reduction[struct{}]{}); err != nil {
			return nil, err
		}
		b.edges = append(b.edges, e)
	}
	return b, nil
}

// tell introduces all blocks to their neighbours, and rank 0 to all.
func (p *plate) tell() (realm.Event, error) {
	var told []realm.Event
	say := func(rank int, i introduction) {
		told = append(told, realm.Spawn(p.rt, realm.ProcessorOf(rank), introduce, i))
	}
	if p.rt.Rank() == 0 {
		all, err := realm.NewBarrier(p.rt, int64(p.rt.Size()), realm.Reduction[struct{}]{})
		if err != nil {
			return 0, err
		}
		for r := range p.rt.Size() {
			say(r, introduction{Block: world, All: all.ID()})
		}
	}
	for _, b := range p.blocks {
		data := [2]realm.InstanceID{b.data[0].ID(), b.data[1].ID()}
		say(0, introduction{Block: b.number, Side: sides, Data: data})
		for _, e := range b.edges {
			to := p.grid.beside(b.number, e.side)
			say(to/p.each, introduction{
				Block: to, Side: opposite(e.side), Data: data,
				Ready: e.ready.ID(),
			})
		}
	}
	return p.rt.Merge(told...), nil
}

// meet waits for all ranks.
func (p *plate) meet(ctx context.Context) error {
	now := p.all
	p.all = now.Next()
	if err := now.Arrive(1, struct{}{}, realm.NoEvent); err != nil {
		return err
	}
	return p.rt.Wait(ctx, now.Event())
}

// reset makes the plate cold, on all ranks.
func (p *plate) reset(ctx context.Context) error {
	for _, b := range p.blocks {
		for i := range b.points {
			cold(b.points[i], b.w, b.number < p.grid.cols)
		}
	}
	return p.meet(ctx)
}
