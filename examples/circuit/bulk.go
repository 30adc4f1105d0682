package main

import (
	"context"

	"github.com/golci/golci/realm"
)

// bulk computes all steps with a wait for all ranks after each of two phases. A phase has tasks for every piece, and
// what they send. Currents and charges need no wait between them: the piece itself has computed what it distributes.
func (b *board) bulk(ctx context.Context) error {
	for range b.o.steps {
		for _, phase := range []func(p *piece) []realm.Event{b.bulkDistribute, b.bulkUpdate} {
			var over []realm.Event
			for _, p := range b.pieces {
				over = append(over, phase(p)...)
			}
			if err := b.rt.Wait(ctx, b.rt.Merge(over...)); err != nil {
				return err
			}
			if err := b.meet(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *board) bulkDistribute(p *piece) []realm.Event {
	over := []realm.Event{b.distribute(p, b.flow(p))}
	for _, d := range p.downstream {
		over = append(over, b.give(d, over[0]))
	}
	return over
}

func (b *board) bulkUpdate(p *piece) []realm.Event {
	over := []realm.Event{b.update(p)}
	for _, u := range p.upstream {
		over = append(over, b.show(p, u, over[0]))
	}
	return over
}
