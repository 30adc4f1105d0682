package main

import (
	"context"

	"github.com/golci/golci/realm"
)

// ahead is how many steps are described before the first of them is over.
const ahead = 32

// deferred describes all steps by events. A task needs the state before, a full rim, and that the points that it
// overwrites have been copied. A copy needs the neighbour's task, and that the rim that it overwrites has been read.
//
// Who needs the points asks for the copy. What it waits for, a phase of the neighbour's barrier, is known where the
// points are. So from the end of a task to the beginning of the next there is one message, and others only go beside.
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
	before := b.done
	needs := []realm.Event{before, b.full}
	for _, e := range b.edges {
		if t > 1 { // where state t+1 goes, state t-1 was
			needs = append(needs, e.taken.Event())
			e.taken = e.taken.Next()
		}
	}
	b.done = b.step(rt, t, rt.Merge(needs...))
	var copies []realm.Event
	for _, e := range b.edges {
		if err := e.ready.Arrive(1, struct{}{}, b.done); err != nil {
			return err
		}
		if err := e.theirReady.Arrive(1, struct{}{}, before); err != nil { // which has read the rim of state t-1
			return err
		}
		points := realm.Part{Points: &e.rim}
		c := realm.Copy(rt, b.data[(t+1)%2], e.theirs[(t+1)%2], points, realm.After(e.theirReady.Event()))
		if err := e.theirTaken.Arrive(1, struct{}{}, c); err != nil {
			return err
		}
		e.ready, e.theirReady, e.theirTaken = e.ready.Next(), e.theirReady.Next(), e.theirTaken.Next()
		copies = append(copies, c)
	}
	b.full = rt.Merge(copies...)
	return nil
}
