package main

import (
	"context"
	"errors"

	"github.com/golci/golci/realm"
)

// gate is a barrier without a value: a place where one operation waits for another one, on any rank.
type gate = realm.Barrier[struct{}]

// Fields of a piece's nodes.
const (
	voltage = iota
	charge  // what its own tasks have moved
	landed  // what other pieces have moved; written by reductions alone
)

// add is the reduction of charges.
var add = realm.RegisterOp("circuit.add", realm.SumOp[int64]())

// charges is an instance for reductions, of either kind.
type charges interface {
	realm.ReductionInstance
	ReduceAll(nodes []int64, moved []int64) error
	Reset()
}

// board is one rank's part.
type board struct {
	rt     *realm.Runtime
	graph  *graph
	o      options
	pieces []*piece
	all    gate // of all ranks, once for each meeting
	// everything is the nodes of all pieces, by number. Rank 0 has it.
	everything []realm.Instance
}

// piece is some of the graph's nodes, and the wires that begin there. Nodes are numbered from 0: its own, then ghosts.
type piece struct {
	number   int
	capacity []float64
	wires    []wire
	current  []float64 // of each wire
	moved    []int64   // by each wire in this step

	nodes          realm.Instance // has the fields above
	voltage        []float64
	charge, landed []int64
	ghosts         realm.Instance // the voltages of other pieces' nodes; not made if there are none
	ghostVoltage   []float64
	upstream       []*upstream
	downstream     []*downstream
	updated        realm.Event // of the last step that has been described
}

// downstream is another piece where wires of this piece end.
type downstream struct {
	bundle
	nodes   realm.Instance
	charges charges // for its nodes
	fresh   gate    // a phase for each step but the first: the ghosts have the voltages. Owned by this rank
	landed  gate    // a phase for each step: the charges have come. Owned by the other piece's rank
	ready   realm.Event
}

// upstream is another piece whose wires end in this piece: what the other one has as its downstream.
type upstream struct {
	from   int
	points realm.Space // the nodes that are shared with it
	ghosts realm.Instance
	fresh  gate // owned by the rank of the other piece
	landed gate // owned by this rank
}

// newBoard makes this rank's pieces and gets to know the others.
func newBoard(ctx context.Context, rt *realm.Runtime, g *graph, o options) (*board, error) {
	b := &board{rt: rt, graph: g, o: o}
	for i := range o.pieces {
		p, err := b.newPiece(rt.Rank()*o.pieces + i)
		if err != nil {
			return nil, err
		}
		b.pieces = append(b.pieces, p)
	}
	for from := range g.pieces {
		for _, x := range g.bundles(from) {
			if x.to/o.pieces != rt.Rank() {
				continue
			}
			u, err := b.newUpstream(x)
			if err != nil {
				return nil, err
			}
			p := b.pieces[x.to%o.pieces]
			p.upstream = append(p.upstream, u)
		}
	}
	return b, b.meetOthers(ctx)
}

// newPiece makes a piece and its part of what lies downstream.
func (b *board) newPiece(number int) (*piece, error) {
	g := b.graph
	first := number * g.each
	p := &piece{number: number, capacity: g.capacity[first:][:g.each], wires: g.localize(number)}
	p.current, p.moved = make([]float64, len(p.wires)), make([]int64, len(p.wires))
	if err := b.makeNodes(p, realm.Range(int64(first), int64(first+g.each))); err != nil {
		return nil, err
	}
	bundles := g.bundles(number)
	if err := b.makeGhosts(p, ghosts(bundles)); err != nil {
		return nil, err
	}
	for _, x := range bundles {
		d := &downstream{bundle: x}
		var err error
		if d.charges, err = b.newCharges(x); err != nil {
			return nil, err
		}
		if d.fresh, err = realm.NewBarrier(b.rt, 1, realm.Reduction[struct{}]{}); err != nil {
			return nil, err
		}
		p.downstream = append(p.downstream, d)
	}
	return p, nil
}

func (b *board) makeNodes(p *piece, s realm.Space) (err error) {
	p.nodes, err = realm.NewInstance(b.rt, b.rt.Memory(realm.System), s, realm.SOA,
		realm.FieldOf[float64]("voltage"), realm.FieldOf[int64]("charge"), realm.FieldOf[int64]("landed"))
	if err != nil {
		return err
	}
	var wrong [3]error
	p.voltage, wrong[voltage] = slice[float64](p.nodes, "voltage")
	p.charge, wrong[charge] = slice[int64](p.nodes, "charge")
	p.landed, wrong[landed] = slice[int64](p.nodes, "landed")
	return errors.Join(wrong[:]...)
}

func (b *board) makeGhosts(p *piece, nodes []int64) (err error) {
	if len(nodes) == 0 {
		return nil
	}
	p.ghosts, err = realm.NewArray[float64](b.rt, b.rt.Memory(realm.System), realm.Indices(nodes...))
	if err != nil {
		return err
	}
	p.ghostVoltage, err = slice[float64](p.ghosts, "")
	return err
}

// slice is the values of a field, in the order of the points.
func slice[T any](in realm.Instance, field string) ([]T, error) {
	v, err := realm.ViewOf[T](in, field)
	if err != nil {
		return nil, err
	}
	return v.Slice(), nil
}

// newCharges makes the instance for the reductions of a bundle, of the kind that takes less time.
func (b *board) newCharges(x bundle) (charges, error) {
	c := realm.ReductionCase{
		Points: int64(len(x.nodes)), Reductions: int64(len(x.ends)), LSize: 8, RSize: 8,
		Reused: true, Remote: x.to/b.o.pieces != b.rt.Rank(),
	}
	if c.Choose() == realm.ReductionList {
		return realm.NewList(add, realm.Indices(x.nodes...))
	}
	return realm.NewFold(add, realm.Indices(x.nodes...), realm.ExclusiveReductions)
}

func (b *board) newUpstream(x bundle) (*upstream, error) {
	u := &upstream{from: x.from, points: realm.Indices(x.nodes...)}
	var err error
	u.landed, err = realm.NewBarrier(b.rt, 1, realm.Reduction[struct{}]{})
	return u, err
}

// meet waits for all ranks.
func (b *board) meet(ctx context.Context) error {
	now := b.all
	b.all = now.Next()
	if err := now.Arrive(1, struct{}{}, realm.NoEvent); err != nil {
		return err
	}
	return b.rt.Wait(ctx, now.Event())
}

// reset gives all nodes the voltages of the beginning, on all ranks.
func (b *board) reset(ctx context.Context) error {
	for _, p := range b.pieces {
		load(p.charge, b.graph.voltage[p.number*b.graph.each:], p.capacity)
		clear(p.landed)
		clear(p.current)
		update(p.voltage, p.charge, p.landed, p.capacity)
		p.updated = realm.NoEvent
		for i, node := range ghosts(b.graph.bundles(p.number)) {
			p.ghostVoltage[i] = b.graph.begin(node)
		}
	}
	return b.meet(ctx)
}
