package main

import (
	"context"

	"github.com/golci/golci/realm"
)

// collect puts the points of a state together at rank 0, which has been introduced to all blocks; the others get nil.
func (p *plate) collect(ctx context.Context, state int) ([]float64, error) {
	if p.rt.Rank() != 0 {
		return nil, p.meet(ctx)
	}
	n := int64(p.grid.n)
	whole, err := realm.NewArray[float64](p.rt, p.rt.Memory(realm.System), realm.Rect([]int64{-1, -1},
		[]int64{n + 1, n + 1}))
	if err != nil {
		return nil, err
	}
	v, err := realm.ViewOf[float64](whole, "")
	if err != nil {
		return nil, err
	}
	var copied []realm.Event
	for number := range p.grid.rows * p.grid.cols {
		y0, y1, x0, x1 := p.grid.area(number)
		points := realm.Rect([]int64{y0, x0}, []int64{y1, x1})
		copied = append(copied, realm.Copy(p.rt, whole, p.everything[number][state%2], realm.Part{Points: &points}))
	}
	if err := p.rt.Wait(ctx, p.rt.Merge(copied...)); err != nil {
		return nil, err
	}
	points := append([]float64(nil), v.Slice()...)
	if err := p.rt.Wait(ctx, realm.Destroy(p.rt, whole)); err != nil {
		return nil, err
	}
	return points, p.meet(ctx)
}
