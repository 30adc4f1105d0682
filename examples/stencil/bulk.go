package main

import (
	"context"

	"github.com/golci/golci/realm"
)

// bulk computes all steps with a wait for all ranks after the tasks and after the copies of each.
func (p *plate) bulk(ctx context.Context, steps int) error {
	for t := range steps {
		var done []realm.Event
		for _, b := range p.blocks {
			done = append(done, b.step(p.rt, t, realm.NoEvent))
		}
		if err := p.rt.Wait(ctx, p.rt.Merge(done...)); err != nil {
			return err
		}
		if err := p.meet(ctx); err != nil { // nobody reads a rim any more
			return err
		}
		var sent []realm.Event
		for _, b := range p.blocks {
			for _, e := range b.edges {
				sent = append(sent, b.send(p.rt, e, t+1, realm.NoEvent))
			}
		}
		if err := p.rt.Wait(ctx, p.rt.Merge(sent...)); err != nil {
			return err
		}
		if err := p.meet(ctx); err != nil { // all rims are full
			return err
		}
	}
	return nil
}

// step computes state t+1 of a block out of state t, once after has triggered.
func (b *block) step(rt *realm.Runtime, t int, after realm.Event) realm.Event {
	next, now := b.points[(t+1)%2], b.points[t%2]
	return realm.SpawnLocal(rt, rt.CPU(b.number), func(*realm.Ctx) error {
		relax(next, now, b.h, b.w)
		return nil
	}, realm.After(after))
}

// send copies a block's points at an edge into the rim of the neighbour, in the data of a state.
func (b *block) send(rt *realm.Runtime, e *edge, state int, after realm.Event) realm.Event {
	return realm.Copy(rt, e.theirs[state%2], b.data[state%2], realm.Part{Points: &e.own}, realm.After(after))
}
