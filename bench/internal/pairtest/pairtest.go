// Package pairtest runs benchmarks of two ranks without package mpi in one process; tests import it.
package pairtest

import (
	"sync"
	"testing"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/boot"
	"github.com/golci/golci/internal/conduit/local"
)

// Run runs f as the two ranks of a job in this process, and returns their errors.
func Run(t *testing.T, f func(job *boot.Job, c conduit.Conduit) error) []error {
	t.Helper()
	jobs, err := boot.Local(2)
	if err != nil {
		t.Fatal(err)
	}
	conduits, err := local.New(2, conduit.Config{})
	if err != nil {
		t.Fatal(err)
	}
	errs := make([]error, 2)
	var wg sync.WaitGroup
	for i := range jobs {
		wg.Go(func() { errs[i] = f(jobs[i], conduits[i]) })
	}
	wg.Wait()
	for _, c := range conduits {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	return errs
}
