package main

import (
	"errors"

	"github.com/golci/golci/realm"
)

// flow computes the currents of a piece's wires, once after have triggered.
func (b *board) flow(p *piece, after ...realm.Event) realm.Event {
	return b.task(p, after, func() error {
		flow(p.current, p.moved, p.wires, p.voltage, p.ghostVoltage, b.o.inner)
		return nil
	})
}

// distribute puts the charges to own nodes and into the instances for reductions.
func (b *board) distribute(p *piece, after ...realm.Event) realm.Event {
	return b.task(p, after, func() error {
		distribute(p.charge, p.moved, p.wires)
		var wrong error
		for _, d := range p.downstream {
			d.charges.Reset()
			wrong = errors.Join(wrong, d.charges.ReduceAll(d.ends, p.moved[d.first:d.last]))
		}
		return wrong
	})
}

// update computes the voltages.
func (b *board) update(p *piece, after ...realm.Event) realm.Event {
	return b.task(p, after, func() error {
		update(p.voltage, p.charge, p.landed, p.capacity)
		return nil
	})
}

func (b *board) task(p *piece, after []realm.Event, f func() error) realm.Event {
	return realm.SpawnLocal(b.rt, b.rt.CPU(p.number), func(*realm.Ctx) error { return f() }, realm.After(after...))
}

// give reduces the charges of wires into the nodes downstream.
func (b *board) give(d *downstream, after realm.Event) realm.Event {
	return realm.Reduce(b.rt, d.nodes, landed, d.charges, realm.After(after))
}

// show copies the voltages of shared nodes into the ghosts of a piece upstream.
func (b *board) show(p *piece, u *upstream, after realm.Event) realm.Event {
	part := realm.Part{Points: &u.points, Fields: []realm.Pair{{Dst: 0, Src: voltage}}}
	return realm.Copy(b.rt, u.ghosts, p.nodes, part, realm.After(after))
}
