package win

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/op"
	"github.com/golci/golci/rank"
)

// TestPendingAreLookedAtTwice: the work for accesses that are under way grows with their number. Here as many as there
// are stay under way: for each that starts one ends.
func TestPendingAreLookedAtTwice(t *testing.T) {
	const most, more = 1023, 1000
	var procs [2]*core.Proc
	cfg := rank.Config{Caller: "win", Settings: map[string]string{
		"GOLCI_SERVER": "waiter", "GOLCI_CONDUIT": "local",
	}, Tuning: rank.Tuning{PollRequests: 1}}
	cfg.Attach = func(r *rank.Rank) (err error) {
		procs[r.Rank()], err = core.NewProc(r, true)
		return err
	}
	team, err := rank.Local(2, cfg)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	err = team.Run(func(r *rank.Rank) error {
		c := procs[r.Rank()].World()
		w, _, err := own(c, 1)
		if err := first(err, w.LockAll(0), c.Barrier()); err != nil {
			return err
		}
		if c.Rank() == 1 {
			<-over // rank 0 polls for it meanwhile
			return first(w.UnlockAll(), w.Free())
		}
		add := func() { err = first(err, w.Accumulate(longs([]int64{1}), at(1, 0, 1), op.Sum)) }
		for range most {
			add()
		}
		for range more {
			procs[1].World().Srv.Poll()
			c.Srv.Poll()
			add()
		}
		p := &w.pending[1]
		if n := len(p.list); n < most/2 {
			err = first(err, fmt.Errorf("%d accesses are under way, and the test wants about %d", n, most))
		}
		if p.scans > 3*(most+more) {
			err = first(err, fmt.Errorf("%d accesses were looked at %d times", most+more, p.scans))
		}
		close(over)
		return first(err, w.UnlockAll(), w.Free())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPiecesAreFound compares pieces that are found with a search through all.
func TestPiecesAreFound(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	ranks(t, 1, func(c *core.Comm) error {
		w, err := NewDynamic(c)
		if err != nil {
			return err
		}
		mem := make([]byte, 4096)
		base := uintptr(unsafe.Pointer(&mem[0]))
		var owner [4096]int // of each byte; 0: not attached
		for i := 1; i <= 3000; i++ {
			at, n := random.IntN(4000), 1+random.IntN(90)
			if at += random.IntN(2); at+n > len(mem) {
				continue
			}
			if o := owner[at]; o != 0 && (at == 0 || owner[at-1] != o) {
				if err := w.Detach(unsafe.Pointer(&mem[at])); err != nil {
					return fmt.Errorf("seed %d, step %d: %w", seed, i, err)
				}
				for k := range owner {
					if owner[k] == o {
						owner[k] = 0
					}
				}
				continue
			}
			free, held := true, true
			for k := at; k < at+n; k++ {
				free, held = free && owner[k] == 0, held && owner[k] != 0
			}
			if got := w.pieces.findBytes(int64(base)+int64(at), n); (got != nil) != held {
				return fmt.Errorf("seed %d, step %d: found %d bytes at %d, want that %v", seed, i, len(got), at, held)
			}
			if err := w.Attach(unsafe.Pointer(&mem[at]), int64(n)); (err == nil) != free {
				return fmt.Errorf("seed %d, step %d: attach %d bytes at %d: %v, free %v", seed, i, n, at, err, free)
			}
			for k := at; free && k < at+n; k++ {
				owner[k] = i
			}
		}
		return w.Free()
	})
}
