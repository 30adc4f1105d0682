package main

import (
	"context"

	"github.com/golci/golci/realm"
)

// bulk computes all steps with a wait for all ranks after each, which has a task for every block and its copies. Who
// has the points sends them. One wait is enough: the rim of state t+1 has been that of state t-1, which all have read.
func (p *plate) bulk(ctx context.Context, steps int) error {
	for t := range steps {
		var over []realm.Event
		for _, b := range p.blocks {
			done := b.step(p.rt, t)
			over = append(over, done)
			for _, e := range b.edges {
				over = append(over, b.send(p.rt, e, t+1, done))
			}
		}
		if err := p.rt.Wait(ctx, p.rt.Merge(over...)); err != nil {
			return err
		}
		if err := p.meet(ctx); err != nil {
			return err
		}
	}
	return nil
}

// step computes state t+1 of a block out of state t, once after have triggered.
func (b *block) step(rt *realm.Runtime, t int, after ...realm.Event) realm.Event {
	next, now := b.points[(t+1)%2], b.points[t%2]
	return realm.SpawnLocal(rt, rt.CPU(b.number), func(*realm.Ctx) error {
		relax(next, now, b.h, b.w)
		return nil
	}, realm.After(after...))
}

// send copies a block's points at an edge into the rim of the neighbour, in the data of a state.
func (b *block) send(rt *realm.Runtime, e *edge, state int, after realm.Event) realm.Event {
	return realm.Copy(rt, e.theirs[state%2], b.data[state%2], realm.Part{Points: &e.own}, realm.After(after))
}
