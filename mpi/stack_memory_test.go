package mpi

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/golci/golci/am/rma"
	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/transport/udp"
	"github.com/golci/golci/internal/transport/udp/nic"
	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/rank"
)

// crowd is a job of which some ranks run, in this process, over datagrams. The others have only published where they
// would receive: the ranks that run believe in them.
type crowd struct {
	jobs   []*boot.Job
	procs  []*Proc
	ghosts sync.WaitGroup
	silent []net.PacketConn // where the ghosts receive: a datagram that came back would be the end of one
}

// stackConfig has remote memory beside MPI on each rank. Nothing leaves loopback.
func stackConfig(made func(p *Proc)) rank.Config {
	return rank.Config{
		Settings: map[string]string{"GOLCI_CONDUIT": "udp", "GOLCI_UDP_INTERFACES": "127.0.0.1", "GOLCI_WORKERS": "1"},
		Attach: func(r *rank.Rank) error {
			p, err := core.NewProc(r, true)
			if err != nil {
				return err
			}
			m, err := rma.New(r.Endpoint(), rma.Config{SegmentSize: 4096})
			if err != nil {
				return err
			}
			if made != nil {
				made((*Proc)(p))
			}
			return r.Attach(rank.Layer{Stop: m.Close})
		},
	}
}

const whereKey = "golci.udp" // under which package rank publishes where a rank receives

// card is what a rank of a job of that size publishes. It is that of a rank that starts alone, and fails.
func card(t *testing.T, size int) []byte {
	t.Helper()
	c := newCrowd(t, size, 1, nil)
	if _, err := rank.On(t.Context(), c.jobs[0], stackConfig(nil)); !errors.Is(err, boot.ErrNoKey) {
		t.Fatalf("a rank whose peers are silent: %v", err)
	}
	b, err := c.jobs[1].Get(t.Context(), 0, whereKey)
	if err != nil {
		t.Fatal(err)
	}
	c.end(t)
	return b
}

// newCrowd makes a job in which all but the first few ranks publish that card.
func newCrowd(t *testing.T, size, running int, card []byte) *crowd {
	t.Helper()
	jobs, err := boot.Local(size)
	if err != nil {
		t.Fatal(err)
	}
	c := &crowd{jobs: jobs}
	if card != nil {
		c.listen(t, card)
	}
	for i, j := range jobs {
		j.LocalRanks = []int{i}
		if i < running {
			continue
		}
		c.ghosts.Go(func() {
			if card != nil && j.Put(whereKey, card) != nil {
				return
			}
			for j.Fence(context.Background()) == nil {
				continue
			}
		})
	}
	return c
}

// listen opens what an endpoint names.
func (c *crowd) listen(t *testing.T, endpoint []byte) {
	t.Helper()
	var e nic.Endpoint
	if err := json.Unmarshal(endpoint, &e); err != nil {
		t.Fatal(err)
	}
	for _, a := range e.Addrs {
		conn, err := net.ListenPacket("udp", a.Addr.String())
		if err != nil {
			t.Fatal(err)
		}
		c.silent = append(c.silent, conn)
	}
}

// start brings the first n ranks up.
func (c *crowd) start(t *testing.T, n int) {
	t.Helper()
	c.procs = make([]*Proc, n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { _, errs[i] = rank.On(t.Context(), c.jobs[i], stackConfig(func(p *Proc) { c.procs[i] = p })) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// end lets go of everything: nobody waits for ranks that are not there.
func (c *crowd) end(t *testing.T) {
	t.Helper()
	over, cancel := context.WithCancel(context.Background())
	cancel()
	var wg sync.WaitGroup
	for _, p := range c.procs {
		wg.Go(func() { _ = p.FinalizeContext(over) }) // it cannot meet the ranks that are not there
	}
	wg.Wait()
	_ = c.jobs[0].Abort(1, "the test is over") // the ghosts leave
	c.ghosts.Wait()
	for _, conn := range c.silent {
		_ = conn.Close()
	}
}

// layers are what memory is counted for: the prefixes of functions, the first that fits counts.
var layers = []struct{ name, prefix string }{
	{"launcher", "internal/job/boot"},
	{"udp", "internal/transport/udp"},
	{"udp core", "internal/transport/reliable"},
	{"receive pool", "internal/transport/receivepool"},
	{"conduit", "conduit"},
	{"ledger", "internal/transport/credit"},
	{"am", "am"},
	{"rma", "am/rma"},
	{"comm", "comm."},
	{"rank", "rank"},
	{"mpi", "mpi"},
	{"all others", ""},
}

// memoryByLayer is the bytes in use that were allocated while all allocations were recorded, by layer.
func memoryByLayer() map[string]int {
	runtime.GC()
	runtime.GC() // publishes what was freed
	records := make([]runtime.MemProfileRecord, 1<<16)
	n, _ := runtime.MemProfile(records, true)
	sums := map[string]int{}
	for _, r := range records[:n] {
		sums[layerOf(r.Stack())] += int(r.InUseBytes())
	}
	return sums
}

// layerOf is the layer of the innermost function of this module on a stack.
func layerOf(stack []uintptr) string {
	frames := runtime.CallersFrames(stack)
	for {
		f, more := frames.Next()
		if at, ok := strings.CutPrefix(f.Function, "github.com/golci/golci/"); ok {
			if strings.HasSuffix(f.File, "_test.go") {
				return "launcher" // the test is one
			}
			i := slices.IndexFunc(layers[:], func(l struct{ name, prefix string }) bool { return strings.HasPrefix(at, l.prefix) })
			return layers[i].name
		}
		if !more {
			return "all others"
		}
	}
}

// quiet is what one rank with all layers takes in a job of that size, by layer, when it has talked to nobody.
func quiet(t *testing.T, size int) map[string]int {
	t.Helper()
	c := newCrowd(t, size, 1, card(t, size))
	rate := runtime.MemProfileRate
	runtime.MemProfileRate = 1
	defer func() { runtime.MemProfileRate = rate }()
	before := memoryByLayer()
	c.start(t, 1)
	after := memoryByLayer()
	for l := range after {
		after[l] -= before[l]
	}
	c.end(t)
	return after
}

// alone tells whether this is a process for one test. If it is not, it runs the test in such a process: what tests
// before have left would be freed while this one counts.
func alone(t *testing.T) bool {
	t.Helper()
	const mark = "GOLCI_TEST_ALONE"
	if os.Getenv(mark) != "" {
		return true
	}
	c := exec.Command(os.Args[0], "-test.v", "-test.run", "^"+t.Name()+"$")
	c.Env = append(os.Environ(), mark+"=1")
	out, err := c.CombinedOutput()
	if t.Logf("\n%s", out); err != nil {
		t.Error(err)
	}
	return false
}

// TestMemoryOfAJob: a rank with MPI, remote memory and all below, over datagrams, that believes in 10,000 peers keeps
// little of each.
func TestMemoryOfAJob(t *testing.T) {
	if invariants.Race {
		t.Skip("the race detector's memory would count, too")
	}
	if !alone(t) {
		return
	}
	const few, many, limit = 2_000, 10_000, 164
	small, large := quiet(t, few), quiet(t, many)
	sum := float64(borrowerBytes) // of a peer that is talked to
	t.Logf("%-14s %12s %12s", "", "bytes a peer", "bytes")
	for _, l := range layers {
		if l.name == "launcher" || l.name == "all others" {
			continue // which depends on nothing but the cores
		}
		each := float64(large[l.name]-small[l.name]) / (many - few)
		sum += each
		t.Logf("%-14s %12.1f %12d", l.name, each, large[l.name])
	}
	t.Logf("%-14s %12.1f, with the %d bytes that a loan takes when it is used", "together", sum, borrowerBytes)
	if sum > limit {
		t.Errorf("%.1f bytes for a peer, want %d at most", sum, limit)
	}
}

// borrowerBytes is the half of the state of a loan that a rank has only of peers it has sent to.
const borrowerBytes = 20

// TestMemoryOfTalk: a rank of 10,000 that talks to 64 takes memory for these, and the receive space stays what the
// credits pay for.
func TestMemoryOfTalk(t *testing.T) {
	if invariants.Race {
		t.Skip("the race detector's memory would count, too")
	}
	if testing.Short() {
		t.Skip("65 ranks in a job of 10,000 take some seconds to start")
	}
	const size, busy, rounds = 10_000, 64, 20
	c := newCrowd(t, size, busy+1, card(t, size))
	defer c.end(t)
	c.start(t, busy+1)
	before := heapNow()
	var wg sync.WaitGroup
	errs := make([]error, busy+1)
	for i, p := range c.procs {
		wg.Go(func() { errs[i] = talk(p.World(), i, busy, rounds) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	grown := heapNow() - before
	room, taken := 0, 0
	ledger := c.procs[0].core().OfRank().Endpoint().Credits()
	for _, peer := range ledger.Peers {
		room += peer.Lent.Loan
	}
	room = (room + ledger.Banked) * 256
	for _, p := range c.procs {
		taken = max(taken, p.core().OfRank().Conduit().(*udp.Conduit).Stats().Pool)
	}
	t.Logf("%d ranks, %d talk to one: %d bytes for each end of a pair; %d bytes of receive space pay for all credits, of which a rank has used %d at most",
		size, busy, grown/(2*busy), room, taken)
	if each := grown / (2 * busy); each > 128<<10 {
		t.Errorf("%d bytes for each end of a pair", each)
	}
	if max(taken, room) > 12_600_000 {
		t.Errorf("%d bytes of receive space in use, %d paid for", taken, room)
	}
}

// talk has rank 0 exchange messages, small and large, with the ranks 1 to busy.
func talk(c *Comm, rank, busy, rounds int) error {
	small, large := make([]byte, 64), make([]byte, 100_000)
	for i := range rounds {
		data := small
		if i == rounds-1 {
			data = large
		}
		if rank != 0 {
			if err := errors.Join(Send(c, data, 0, i), second(Recv(c, data, 0, i))); err != nil {
				return err
			}
			continue
		}
		for p := 1; p <= busy; p++ {
			if err := errors.Join(second(Recv(c, data, p, i)), Send(c, data, p, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func heapNow() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
