package shm

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
)

// orderEnv names what TestOrderSeen is to do in a process of its own.
const orderEnv = "GOLCI_SHM_TEST_ORDER"

// orders are what two goroutines of rank 0 do with a variable. One of them sends, the other one polls or sends.
var orders = map[string]struct {
	racy bool
	run  func(r *orderly)
}{
	"record":      {false, func(r *orderly) { r.answered(r.record) }},
	"bulk":        {false, func(r *orderly) { r.answered(r.bulk) }},
	"packed":      {false, func(r *orderly) { r.answered(r.packed) }},
	"end":         {false, func(r *orderly) { r.answered(r.end) }},
	"after send":  {true, (*orderly).afterSend},
	"before poll": {true, (*orderly).beforePoll},
	"two senders": {true, (*orderly).twoSenders},
}

// TestOrderSeen: the race detector sees that what was done before something is sent is before what follows its answer,
// which comes from another process. It reports races that the messages do not prevent.
func TestOrderSeen(t *testing.T) {
	if !invariants.Race {
		t.Skip("for the race detector")
	}
	if name := os.Getenv(orderEnv); name != "" {
		besidePeer(t, orders[name].run)
		return
	}
	for name, o := range orders {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOrderSeen$")
			cmd.Env = append(os.Environ(), orderEnv+"="+name, "GORACE=history_size=7")
			out, err := cmd.CombinedOutput()
			if raced := strings.Contains(string(out), "WARNING: DATA RACE"); raced != o.racy || (err != nil) != o.racy {
				t.Errorf("race reported: %v, want %v: %v\n%s", raced, o.racy, err, out)
			}
		})
	}
}

// orderly is rank 0 of a job whose rank 1 is another process, which sends back what it gets.
type orderly struct {
	discard // used by who polls
	gone    bool
	t       *testing.T
	c       conduit.Conduit
	peer    *exec.Cmd
	shared  int // what the detector is to watch
	// turn lies in mapped memory. Waiting for it gives no order that the detector sees.
	turn *atomic.Uint32
}

func besidePeer(t *testing.T, run func(r *orderly)) {
	cmd, c := startChild(t, "echo", conduit.Config{})
	mem, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	run(&orderly{t: t, c: c, peer: cmd, turn: (*atomic.Uint32)(unsafe.Pointer(unsafe.SliceData(mem)))})
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // which may have been killed
	if err := unix.Munmap(mem); err != nil {
		t.Error(err)
	}
}

// Gone implements conduit.Sink.
func (r *orderly) Gone(int, error) { r.gone = true }

// hear polls until something has come. It does little, since the detector keeps a short history of a goroutine, and
// reports nothing beyond it.
func (r *orderly) hear() {
	for r.n == 0 && !r.gone {
		time.Sleep(time.Millisecond)
		r.c.Poll(1, r)
	}
}

// await waits for the turn.
func (r *orderly) await() {
	for r.turn.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
}

func (r *orderly) record() {
	if _, st := r.c.Reserve(1, conduit.Request, 64); st != conduit.OK {
		r.t.Error(st)
	}
	r.c.Commit(1, 64)
}

func (r *orderly) bulk() {
	if n, _ := r.c.BulkSend(1, 1, 0, make([]byte, 100), nil); n != 100 {
		r.t.Errorf("%d bytes sent", n)
	}
}

func (r *orderly) packed() {
	if _, st := r.c.BulkReserve(1, 100); st != conduit.OK {
		r.t.Error(st)
	}
	r.c.BulkCommit(1, 1, 0, 100)
}

// end sends something to a peer that does not answer, and has it end.
func (r *orderly) end() {
	err := r.peer.Process.Signal(unix.SIGSTOP)
	r.record()
	if err = errors.Join(err, r.peer.Process.Kill()); err != nil {
		r.t.Error(err)
	}
}

// both runs two goroutines.
func both(f, g func()) {
	var wg sync.WaitGroup
	wg.Go(f)
	wg.Go(g)
	wg.Wait()
}

func (r *orderly) answered(send func()) {
	both(func() {
		r.shared = 1
		send()
	}, func() {
		r.hear()
		r.shared = 2
	})
}

func (r *orderly) afterSend() {
	both(func() {
		r.record()
		r.shared = 1
	}, func() {
		r.hear()
		r.shared = 2
	})
}

func (r *orderly) beforePoll() {
	both(func() {
		r.record()
		r.await()
		r.record()
		r.shared = 1
	}, func() {
		r.shared = 2
		r.hear()
		r.turn.Store(1)
	})
}

func (r *orderly) twoSenders() {
	both(func() {
		r.shared = 1
		r.bulk()
		r.turn.Store(1)
	}, func() {
		r.await()
		r.record()
		r.shared = 2
	})
}
