package gasnettest

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/comm/conduit/shm"
)

func init() { networks = append(networks, network{name: "shm", make: overShm}) }

var shmJobs atomic.Int64

// overShm has the ranks of this process find each other as processes of a node do, and share memory.
func overShm(t testing.TB, n int, _ uint64) []conduit.Conduit {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	name := fmt.Sprintf("gasnettest-%d-%d", os.Getpid(), shmJobs.Add(1))
	cs, errs := make([]conduit.Conduit, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		cfg := shm.Config{Rank: i, Size: n, JobID: name, Key: "test", Local: all, Timeout: 5 * time.Minute}
		wg.Go(func() { cs[i], errs[i] = shm.New(cfg) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return cs
}
