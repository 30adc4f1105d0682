//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/dl"
	"github.com/golci/golci/internal/platform/fi"
	"github.com/golci/golci/internal/test/conformance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(patient{m}) }

// patient waits for conduits that have been closed and tell their peers of it.
type patient struct{ goleak.TestingM }

func (p patient) Run() int {
	code := p.TestingM.Run()
	for end := time.Now().Add((afterwards + 1) * lingering); goleak.Find() != nil && time.Now().Before(end); {
		continue // Find takes its time
	}
	return code
}

// lingering is short, since in these tests a rank often closes while nobody polls for its peers.
const lingering = 200 * time.Millisecond

// network is a way of the library that conduits are tested over.
type network struct {
	fi.Want
	slow int // as conformance.RunSlow has it
}

// networks lacks net and udp;ofi_rxd, which have not passed. From libfabric 2.0 on net is called tcp.
var networks = []network{
	{fi.Want{Provider: "shm"}, 20},
	{fi.Want{Provider: "tcp;ofi_rxm", Domain: "lo"}, 20},
	{fi.Want{Provider: "tcp", Domain: "lo"}, 20},
	{fi.Want{Provider: "net", Domain: "lo"}, 20},
}

// open makes the conduits of n ranks. It skips where there is no such network.
func (w network) open(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
	t.Helper()
	var out []conduit.Conduit
	for _, c := range w.job(t, n, Config{Conduit: cfg}) {
		out = append(out, c)
	}
	return out
}

func (w network) job(t testing.TB, n int, cfg Config) (out []*Conduit) {
	t.Helper()
	cfg.Size, cfg.Job = n, 4711
	if cfg.Linger == 0 {
		cfg.Linger = lingering
	}
	var ls []*Listener
	var names [][]byte
	for i := range n {
		cfg.Rank = i
		l, err := Listen(w.Want, cfg)
		if errors.Is(err, dl.ErrMissing) || errors.Is(err, fi.ErrNone) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		if l.Info.Provider != w.Provider {
			t.Skip("by that name the library offers ", l.Info.Provider, errors.Join(append(closed(ls), l.Close())...))
		}
		ls, names = append(ls, l), append(names, l.Name)
	}
	for _, l := range ls {
		c, err := l.Connect(names)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

func closed(ls []*Listener) (errs []error) {
	for _, l := range ls {
		errs = append(errs, l.Close())
	}
	return errs
}

func TestConformance(t *testing.T) {
	for _, w := range networks {
		t.Run(strings.ReplaceAll(w.Provider, ";", "+"), func(t *testing.T) {
			if testing.Short() && w.Provider == "net" {
				t.Skip("tcp;ofi_rxm goes by the same sockets")
			}
			conformance.RunSlow(t, w.slow, w.open)
		})
	}
}
