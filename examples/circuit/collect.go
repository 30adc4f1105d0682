package main

import (
	"context"
	"errors"

	"github.com/golci/golci/realm"
)

// collect puts all nodes together at rank 0; the other ranks get nil.
func (b *board) collect(ctx context.Context) (*state, error) {
	if b.rt.Rank() != 0 {
		return nil, b.meet(ctx)
	}
	n := int64(len(b.graph.capacity))
	whole, err := realm.NewInstance(b.rt, b.rt.Memory(realm.System), realm.Range(0, n), realm.SOA,
		realm.FieldOf[float64]("voltage"), realm.FieldOf[int64]("charge"), realm.FieldOf[int64]("landed"))
	if err != nil {
		return nil, err
	}
	var copied []realm.Event
	for _, nodes := range b.everything {
		copied = append(copied, realm.Copy(b.rt, whole, nodes, realm.Part{}))
	}
	if err := b.rt.Wait(ctx, b.rt.Merge(copied...)); err != nil {
		return nil, err
	}
	s, err := stateOf(whole)
	if err != nil {
		return nil, err
	}
	if err := b.rt.Wait(ctx, realm.Destroy(b.rt, whole)); err != nil {
		return nil, err
	}
	return s, b.meet(ctx)
}

// stateOf is a copy of the values of nodes.
func stateOf(nodes realm.Instance) (*state, error) {
	volts, err := slice[float64](nodes, "voltage")
	own, err2 := slice[int64](nodes, "charge")
	others, err3 := slice[int64](nodes, "landed")
	if err := errors.Join(err, err2, err3); err != nil {
		return nil, err
	}
	s := &state{append([]float64(nil), volts...), append([]int64(nil), own...)}
	for i, c := range others {
		s.charge[i] += c
	}
	return s, nil
}
