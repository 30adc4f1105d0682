package scale

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/internal/job/boot/pmi"
	"github.com/golci/golci/internal/job/boot/serve"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/mpi"
	"github.com/golci/golci/rank"
)

// asRank has the test's program be a rank of a job, which only starts.
const asRank = "GOLCI_TEST_SCALE_RANK"

func TestMain(m *testing.M) {
	if os.Getenv(asRank) != "" {
		if _, err := rank.Start(context.Background(), rank.Config{}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("started")
		_, _ = io.Copy(io.Discard, os.Stdin) // until the test has counted
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// requests counts what the ranks ask a launcher for. A value that travels in pieces counts as one.
type requests struct {
	mu sync.Mutex
	n  map[string]int
}

func (q *requests) count(rank int, line string) {
	m, err := pmi.Parse([]byte(line))
	if err != nil {
		panic(err) // the rank speaks another protocol
	}
	if key := m.Str("key"); strings.HasPrefix(key, "golci.") && strings.Count(key, ".") > 1 &&
		!strings.HasSuffix(key, ".0") {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.n[fmt.Sprintf("%s of rank %d", m.Cmd, rank)]++
}

// heard is what a rank says, line by line.
type heard struct {
	r    *bufio.Reader
	take func(line string)
	rest []byte
}

func (h *heard) Read(b []byte) (int, error) {
	if len(h.rest) == 0 {
		line, err := h.r.ReadString('\n')
		if err != nil {
			return 0, err
		}
		h.take(line)
		h.rest = []byte(line)
	}
	n := copy(b, h.rest)
	h.rest = h.rest[n:]
	return n, nil
}

// TestStartAsksWhatARealRankAsks: processes that start as ranks on two nodes say to their launcher what simulated ranks
// say: the same commands, as often.
func TestStartAsksWhatARealRankAsks(t *testing.T) {
	const n, perNode = 4, 2
	real := requests{n: map[string]int{}}
	srv, err := serve.New(pmi.Config{Size: n, KVSName: fmt.Sprint("scale-", os.Getpid()), Preset: map[string]string{
		pmi.KeySecret: hex.EncodeToString(make([]byte, 32)), pmi.KeyMapping: pmi.FormatMapping([]int{perNode, perNode}),
	}}, serve.Hooks{EOF: func(int) {}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	outs := make([]*bufio.Reader, n)
	for r := range n {
		outs[r] = startRank(ctx, t, srv, r, n, &real)
	}
	for r, out := range outs {
		if line, err := out.ReadString('\n'); line != "started\n" {
			t.Fatalf("rank %d: %q, %v", r, line, err)
		}
	}
	simulated := requests{n: map[string]int{}}
	j, err := newStarting(t.Context(), Config{PerNode: perNode}, n)
	if err != nil {
		t.Fatal(err)
	}
	j.net.Take = func(to, from int, w word) {
		if to == n {
			simulated.count(from, w.line)
		}
		j.take(to, from, w)
	}
	j.run()
	real.mu.Lock()
	defer real.mu.Unlock()
	if len(real.n) < 4*n {
		t.Errorf("only %d kinds of requests: %v", len(real.n), real.n)
	}
	for what := range real.n {
		if real.n[what] != simulated.n[what] {
			t.Errorf("%s: %d times, simulated %d times", what, real.n[what], simulated.n[what])
		}
		delete(simulated.n, what)
	}
	if len(simulated.n) > 0 {
		t.Errorf("only simulated ranks say %v", simulated.n)
	}
}

// startRank starts this program as a rank, and gives what it prints. The end of the test ends it.
func startRank(ctx context.Context, t *testing.T, srv *serve.Server, r, n int, q *requests) *bufio.Reader {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "pmi"), os.NewFile(uintptr(fds[1]), "pmi")
	conn, err := net.FileConn(ours)
	if err != nil {
		t.Fatal(err)
	}
	_ = ours.Close() // FileConn has a copy
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), asRank+"=1", "GOLCI_JOB=1", "PMI_FD=3", fmt.Sprint("PMI_RANK=", r),
		fmt.Sprint("PMI_SIZE=", n))
	cmd.ExtraFiles, cmd.Stderr = []*os.File{theirs}, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close() // the rank has it
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	h := &heard{r: bufio.NewReader(conn), take: func(line string) { q.count(r, line) }}
	srv.AttachReader(r, conn, bufio.NewReaderSize(h, pmi.MaxRead))
	return bufio.NewReader(out)
}

// TestBarrierSendsWhatARealOneSends: ranks in one process receive as many messages in a barrier as simulated ones send.
func TestBarrierSendsWhatARealOneSends(t *testing.T) {
	const first, times = 17, 12 // calls whose number is a power of two are checked, by messages of their own
	for _, n := range []int{2, 3, 4, 6} {
		want := rows(t, Config{Ranks: []int{n}, Only: []string{"barrier"}})["barrier"][n].MessagesMax
		err := mpi.Run(n, func(c *mpi.Comm) error {
			p := c.Proc()
			for range first {
				if err := c.Barrier(); err != nil {
					return err
				}
			}
			before := received(t, p)
			for range times {
				if err := c.Barrier(); err != nil {
					return err
				}
			}
			if got := received(t, p) - before; got != times*uint64(want) {
				t.Errorf("rank %d of %d has received %d messages in %d barriers, want %d for each", c.Rank(), n, got, times, want)
			}
			return c.Barrier()
		}, mpi.With(settings.Collectives.Env(), "messages"), mpi.With(settings.Check.Env(), "off")) // else they compare calls
		if err != nil {
			t.Fatal(err)
		}
	}
}

// received is how many requests a rank has received, when all that has been sent has come.
func received(t *testing.T, p *mpi.Proc) uint64 {
	t.Helper()
	time.Sleep(100 * time.Millisecond) // the others have left the barrier, too
	for c := range p.Counters() {
		if c.Name == "requests_received" {
			return c.Value
		}
	}
	t.Error("no counter of the requests received")
	return 0
}
