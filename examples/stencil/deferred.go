package main

import (
	"context"

	"github.com/golci/golci/realm"
)

// ahead is how many steps are described before the first of them is over.
const ahead = 32

// deferred describes all steps by events. A task needs the state before and a full rim, a copy the neighbour's task.
//
// Other orders need no event, as these imply them. A full rim of state t means that the neighbour's task t-1 is over,
// so it had its rim of state t-1: the points of that state have been copied, and may be overwritten. That the
// neighbour's task t is over means that it had got the points of state t. So the task t-1 of this block is over, too,
// and has read the rim that the copy of state t+1 overwrites.
//
// The task that needs the points asks for the copy. What it waits for, a phase of the neighbour's barrier, is known
// where the points are. So from the end of a task to the beginning of the next there is one message, and others only go
// beside.
func (p *plate) deferred(ctx context.Context, steps int) error {
	var over []realm.Event // of each step
	for _, b := range p.blocks {
		b.done, b.full = realm.NoEvent, realm.NoEvent
	}
	for t := range steps {
		var now []realm.Event
		for _, b := range p.blocks {
			if err := b.describe(p.rt, t); err != nil {
				return err
			}
			now = append(now, b.done, b.full)
		}
		over = append(over, p.rt.Merge(now...))
		if t >= ahead {
			if err := p.rt.Wait(ctx, over[t-ahead]); err != nil {
				return err
			}
		}
	}
	return p.rt.Wait(ctx, over[steps-1])
}

// describe describes step t of a block, and the copies of state t+1 into its rim.
func (b *block) describe(rt *realm.Runtime, t int) error {
	b.done = b.step(rt, t, b.done, b.full)
	var copies []realm.Event
	for _, e := range b.edges {
		if err := e.ready.Arrive(1, struct{}{}, b.done); err != nil {
			return err
		}
		points, ready := realm.Part{Points: &e.rim}, realm.After(e.theirReady.Event())
		copies = append(copies, realm.Copy(rt, b.data[(t+1)%2], e.theirs[(t+1)%2], points, ready))
		e.ready, e.theirReady = e.ready.Next(), e.theirReady.Next()
	}
	b.full = rt.Merge(copies...)
	return nil
}
