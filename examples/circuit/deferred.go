package main

import (
	"context"

	"github.com/golci/golci/realm"
)

// deferred describes all steps by events, some of them ahead of what is over.
func (b *board) deferred(ctx context.Context) error {
	over := make([]realm.Event, b.o.steps)
	for t := range b.o.steps {
		updated := make([]realm.Event, len(b.pieces))
		for i, p := range b.pieces {
			var err error
			if updated[i], err = b.describe(p, t == b.o.steps-1); err != nil {
				return err
			}
		}
		over[t] = b.rt.Merge(updated...)
		if t >= b.o.ahead {
			if err := b.rt.Wait(ctx, over[t-b.o.ahead]); err != nil {
				return err
			}
		}
	}
	if err := b.rt.Wait(ctx, over[b.o.steps-1]); err != nil {
		return err
	}
	return b.meet(ctx)
}

// describe describes the next step of a piece, and returns the event of its last task.
//
// Some orders need no event, as others imply them. Fresh ghosts mean that the piece downstream has updated its nodes,
// so it had got the charges of the step before: they may be overwritten here. Charges that have landed mean that the
// piece upstream has used its ghosts, so it had got the voltages of the step before: they may be overwritten here.
func (b *board) describe(p *piece, last bool) (realm.Event, error) {
	needs := []realm.Event{p.updated}
	for _, d := range p.downstream {
		needs = append(needs, d.ready)
	}
	distributed := b.distribute(p, b.flow(p, needs...))
	for _, d := range p.downstream {
		if err := pass(&d.landed, b.give(d, distributed)); err != nil {
			return realm.NoEvent, err
		}
		d.ready = realm.NoEvent
		if !last {
			d.ready = await(&d.fresh)
		}
	}
	needs = []realm.Event{distributed}
	for _, u := range p.upstream {
		needs = append(needs, await(&u.landed))
	}
	p.updated = b.update(p, needs...)
	for _, u := range p.upstream {
		if last { // nobody reads the ghosts again
			break
		}
		if err := pass(&u.fresh, b.show(p, u, p.updated)); err != nil {
			return realm.NoEvent, err
		}
	}
	return p.updated, nil
}

// pass opens a phase of a gate once an event has triggered, and goes on to the next phase.
func pass(g *gate, after realm.Event) error {
	now := *g
	*g = now.Next()
	return now.Arrive(1, struct{}{}, after)
}

// await is the event of a phase of a gate, and goes on to the next phase.
func await(g *gate) realm.Event {
	now := *g
	*g = now.Next()
	return now.Event()
}
