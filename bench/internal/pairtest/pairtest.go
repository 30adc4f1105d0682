// Package pairtest runs benchmarks of two ranks without package mpi in one process; tests import it.
package pairtest

import (
	"sync"
	"testing"

	"github.com/golci/golci/bench/rma/twin"
	"github.com/golci/golci/comm/rank"
	"github.com/golci/golci/internal/settings"
)

// Run runs f as the two ranks of a job in this process, joined by the conduit over, and returns their errors.
func Run(t *testing.T, over string, f func(r *rank.Rank) error) []error {
	t.Helper()
	set := twin.Settings()
	set[settings.Conduit.Env()] = over
	team, err := rank.Local(2, rank.Config{Settings: set})
	if err != nil {
		t.Fatal(err)
	}
	errs := make([]error, 2)
	var wg sync.WaitGroup
	for i, r := range team.Ranks() {
		wg.Go(func() { errs[i] = f(r) })
	}
	wg.Wait()
	if err := team.Close(); err != nil {
		t.Error(err)
	}
	return errs
}
