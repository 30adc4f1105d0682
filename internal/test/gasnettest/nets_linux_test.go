package gasnettest

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/mixedtest"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/internal/transport/mixed"
	"github.com/golci/golci/internal/transport/shm"
	"github.com/golci/golci/internal/transport/udp/seal"
)

func init() {
	networks = append(networks, network{name: "shm", make: overShm},
		network{name: "mixed shm and udp", make: overShmAndUDP, slow: true})
}

var shmJobs atomic.Int64

// overShm has the ranks of this process find each other as processes of a node do, and share memory.
func overShm(t testing.TB, n int, _ uint64) []conduit.Conduit {
	return overNodes(t, n, mixedtest.AllNear)
}

func overNodes(t testing.TB, n int, together mixedtest.Together) []conduit.Conduit {
	t.Helper()
	name := fmt.Sprintf("gasnettest-%d-%d", os.Getpid(), shmJobs.Add(1))
	cs, errs := make([]conduit.Conduit, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		cfg := shm.Config{Rank: i, Size: n, JobID: name, Key: "test", Local: together.Node(i, n), Timeout: 5 * time.Minute}
		wg.Go(func() { cs[i], errs[i] = shm.New(cfg) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return cs
}

// overShmAndUDP has ranks on nodes of two, and datagrams between the nodes.
func overShmAndUDP(t testing.TB, n int, _ uint64) []conduit.Conduit {
	near := overNodes(t, n, mixedtest.Twos)
	far := udptest.Job{Mode: seal.Trust}.Open(t, n, conduit.Config{})
	cs := make([]conduit.Conduit, n)
	for i := range cs {
		var err error
		if cs[i], err = mixed.New(near[i], far[i], func(peer int) bool { return mixedtest.Twos(i, peer) }); err != nil {
			t.Fatal(err)
		}
	}
	return cs
}
