package main

import (
	"fmt"
	"io"
)

// report collects the results and prints them at rank 0. It is collective, and waits.
func (s *solver) report(d directory, in input, o options, out io.Writer) error {
	top, err := s.best(d, best)
	if err != nil {
		return err
	}
	edges, err := s.edges()
	if err != nil {
		return err
	}
	if s.rank == 0 {
		for _, x := range top {
			fmt.Fprintf(out, "%d %.9f\n", x.ID, x.Score)
		}
		fmt.Fprintf(out, "graph: %d vertices, %d edges\n", s.vertices, edges)
		fmt.Fprintf(out, "ranks: %d, of %d blocks each\n", s.ranks, s.blocks)
		fmt.Fprintf(out, "iterations: %d, last change %.3g\n", s.rounds, s.sum.Change)
		fmt.Fprintf(out, "edges/s: %.0f\n", float64(edges)*float64(s.rounds)/s.took.Seconds())
	}
	if !o.checks(edges) {
		return nil
	}
	scores, err := s.gather()
	if err != nil || s.rank != 0 {
		return err
	}
	far, err := compare(in, s.rule, d, scores)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "check: equal to a serial run, the differences sum up to %.3g\n", far)
	return err
}
