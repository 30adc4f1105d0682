package realm

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/golci/golci/rank"
)

// patience is how long a test's job may take before it counts as hanging.
const patience = 2 * time.Minute

// nets are the ways that messages may travel.
var nets = []struct {
	name     string
	settings map[string]string
}{
	{"local", map[string]string{"GOLCI_CONDUIT": "local"}},
	{"udp", map[string]string{"GOLCI_CONDUIT": "udp"}},
	{"faulty", map[string]string{
		"GOLCI_CONDUIT": "udp", "GOLCI_UDP_FAULTS": "loss=0.02,dup=0.05,reorder=0.2,seed=11",
	}},
}

// overNets runs f for n ranks, over each net. f runs once, for all ranks.
func overNets(t *testing.T, n int, f func(t *testing.T, rts []*Runtime)) {
	t.Helper()
	for _, net := range nets {
		if testing.Short() && net.name == "udp" || n == 1 && net.name != "local" {
			continue
		}
		t.Run(fmt.Sprintf("%s of %d", net.name, n), func(t *testing.T) {
			team(t, n, rank.Config{Settings: net.settings}, func(rts []*Runtime) { f(t, rts) })
		})
	}
}

// team runs f once, with the runtimes of n ranks.
func team(t *testing.T, n int, cfg rank.Config, f func(rts []*Runtime)) {
	t.Helper()
	rts := make([]*Runtime, n)
	var ready sync.WaitGroup
	ready.Add(n)
	end := make(chan Event, n)
	job := func(rt *Runtime) error {
		rts[rt.ev.Self] = rt
		ready.Done()
		if rt.ev.Self > 0 {
			return rt.Wait(context.Background(), <-end)
		}
		ready.Wait()
		over := rt.NewUserEvent()
		for range n - 1 {
			end <- over.Event()
		}
		c := rt.ev.Events.CellAt(over.e.EventIndex())
		if err := rt.ev.OfRank.BlockUntil(func() bool { // the test is not to see these messages
			c.Lock.Lock()
			defer c.Lock.Unlock()
			return c.Slot.Subscribers() == n-1
		}); err != nil {
			return err
		}
		f(rts)
		return over.Trigger(NoEvent)
	}
	done := make(chan error, 1)
	go func() { done <- RunWith(n, cfg, job) }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		buf := make([]byte, 1<<20)
		t.Fatalf("the job of %d ranks hangs\n%s", n, buf[:runtime.Stack(buf, true)])
	}
}

// must fails the test for an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func rankConfig(conduit string) rank.Config {
	return rank.Config{Settings: map[string]string{"GOLCI_CONDUIT": conduit}}
}
