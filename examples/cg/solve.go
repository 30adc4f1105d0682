package main

import (
	"fmt"
	"math"
)

// outcome tells how solve ended.
type outcome struct {
	steps    int
	residual float64 // its norm
	relative float64 // to the norm of the right side
}

// solve improves x until the residual is small (Hestenes, Stiefel: Methods of Conjugate Gradients, 1952). The residual
// of the end is computed anew from x.
func (s *strip) solve(x, right field, tolerance float64, most int) (o outcome, err error) {
	goal, err := s.dot(right, right)
	if err != nil || goal == 0 {
		return o, err
	}
	rest, direction, image := s.field(), s.field(), s.field()
	if err := s.residual(x, right, rest); err != nil {
		return o, err
	}
	copy(direction.values, rest.values)
	now, err := s.dot(rest, rest)
	for ; err == nil && math.Sqrt(now/goal) > tolerance; o.steps++ {
		if o.steps == most {
			return o, fmt.Errorf("after %d steps the residual is %g, more than %g", most, math.Sqrt(now/goal), tolerance)
		}
		now, err = s.step(x, rest, direction, image, now)
	}
	if err != nil {
		return o, err
	}
	if err := s.residual(x, right, rest); err != nil {
		return o, err
	}
	now, err = s.dot(rest, rest)
	o.residual, o.relative = math.Sqrt(now), math.Sqrt(now/goal)
	return o, err
}

// step goes along direction to where the error is least, and gives the next direction. now and its successor are the
// square of the residual's norm.
func (s *strip) step(x, rest, direction, image field, now float64) (next float64, err error) {
	if err := s.apply(direction, image); err != nil {
		return 0, err
	}
	curve, err := s.dot(direction, image)
	if err != nil {
		return 0, err
	}
	s.add(x, now/curve, direction)
	s.add(rest, -now/curve, image)
	next, err = s.dot(rest, rest)
	for i := 1; i <= s.rows; i++ {
		from := rest.row(i)
		for j, v := range direction.row(i) {
			direction.row(i)[j] = from[j] + next/now*v
		}
	}
	return next, err
}

// residual makes out right minus the image of x.
func (s *strip) residual(x, right, out field) error {
	if err := s.apply(x, out); err != nil {
		return err
	}
	for i := 1; i <= s.rows; i++ {
		from := right.row(i)
		for j, v := range out.row(i) {
			out.row(i)[j] = from[j] - v
		}
	}
	return nil
}

// add adds a multiple of b to a.
func (s *strip) add(a field, factor float64, b field) {
	for i := 1; i <= s.rows; i++ {
		from := b.row(i)
		for j := range a.row(i) {
			a.row(i)[j] += factor * from[j]
		}
	}
}
