// Circuit simulates an electric circuit with package realm: a random graph of nodes that wires connect. The graph is
// cut into pieces, several to a rank, and a wire leads at most to the piece beside its own. A node is private to its
// piece or shared, if wires of another piece touch it. For that piece it is a ghost.
//
// Each step has three tasks for a piece. The first computes the currents of its wires from the voltages of own nodes
// and ghosts. The second distributes the charge that they move: to own nodes at once, and to ghosts by a reduction
// into the piece that has the node. The third computes the voltages, and copies those of shared nodes to where they
// are ghosts.
//
// The program does this in two forms. In the bulk-synchronous one, all ranks wait for each other after the tasks of a
// step that send, and what they have sent. In the deferred one, every task, copy and reduction has the events of what
// it needs as its precondition. Barriers between two pieces tell when ghosts are fresh, and when charges have landed.
//
// Charges are numbers in fixed point. Their sum does not depend on the order, so both forms give what a serial run
// gives.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/golci/golci/examples/internal/rank"
	"github.com/golci/golci/realm"
)

func main() {
	rank.MainRealm(parse, func(ctx context.Context, rt *realm.Runtime, o options) error {
		return circuit(ctx, rt, o, os.Stdout)
	})
}

type options struct {
	pieces int // of each rank
	nodes  int // of each piece
	wires  int // of each piece
	leave  int // per cent of the wires
	steps  int
	inner  int // iterations of a step for the currents
	ahead  int // steps
	seed   uint64
	check  bool // compare with a serial run
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("circuit", flag.ContinueOnError)
	f.IntVar(&o.pieces, "pieces", 4, "pieces of each rank")
	f.IntVar(&o.nodes, "nodes", 500, "nodes of each piece")
	f.IntVar(&o.wires, "wires", 2000, "wires of each piece")
	f.IntVar(&o.leave, "pct", 10, "per cent of the wires that leave their piece")
	f.IntVar(&o.steps, "steps", 200, "steps to compute")
	f.IntVar(&o.inner, "inner", 20, "iterations for the currents in each step")
	f.IntVar(&o.ahead, "ahead", 16, "steps that the deferred form describes ahead")
	f.Uint64Var(&o.seed, "seed", 1, "of the random graph")
	f.BoolVar(&o.check, "check", true, "compare with a serial run")
	if err := rank.Parse(f, "circuit [flags]: a random circuit, bulk-synchronous and deferred", args, 0); err != nil {
		return o, err
	}
	if o.leave > 100 {
		return o, fmt.Errorf("-pct %d: want at most 100", o.leave)
	}
	return o, cmp.Or(
		rank.AtLeast("pieces", o.pieces, 1), rank.AtLeast("nodes", o.nodes, 1), rank.AtLeast("wires", o.wires, 0),
		rank.AtLeast("pct", o.leave, 0), rank.AtLeast("steps", o.steps, 1), rank.AtLeast("inner", o.inner, 1),
		rank.AtLeast("ahead", o.ahead, 1),
	)
}

// circuit is one rank's part. Rank 0 prints to w.
func circuit(ctx context.Context, rt *realm.Runtime, o options, w io.Writer) error {
	g := draw(rt.Size()*o.pieces, o.nodes, o.wires, o.leave, o.seed)
	if rt.Rank() != 0 {
		w = io.Discard
	}
	g.describe(w, o)
	b, err := newBoard(ctx, rt, g, o)
	if err != nil {
		return err
	}
	bulk, err := b.measure(ctx, "bulk-synchronous", b.bulk)
	if err != nil {
		return err
	}
	deferred, err := b.measure(ctx, "deferred", b.deferred)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "bulk-synchronous: %v a step\n", bulk/time.Duration(o.steps))
	fmt.Fprintf(w, "deferred:         %v a step\n", deferred/time.Duration(o.steps))
	fmt.Fprintf(w, "gain: %.2f\n", bulk.Seconds()/deferred.Seconds())
	if o.check {
		fmt.Fprintln(w, "check: both are equal to a serial run")
	}
	return nil
}

// describe tells what the graph is like, and with what flags it is drawn again.
func (g *graph) describe(w io.Writer, o options) {
	leave, shared := 0, make(map[int64]bool)
	for p := range g.pieces {
		for _, b := range g.bundles(p) {
			leave += len(b.ends)
			for _, node := range b.nodes {
				shared[node] = true
			}
		}
	}
	fmt.Fprintf(w,
		"circuit: %d pieces of %d nodes and %d wires, seed %d; %d wires leave their piece, %d nodes are shared\n",
		g.pieces, o.nodes, o.wires, o.seed, leave, len(shared))
}

// measure runs a form from the beginning, and compares its result.
func (b *board) measure(ctx context.Context, name string, form func(context.Context) error) (time.Duration, error) {
	if err := b.reset(ctx); err != nil {
		return 0, err
	}
	start := time.Now()
	if err := form(ctx); err != nil {
		return 0, err
	}
	took := time.Since(start)
	s, err := b.collect(ctx)
	if err == nil && s != nil && b.o.check {
		err = s.same(serial(b.graph, b.o.steps, b.o.inner))
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return took, nil
}
