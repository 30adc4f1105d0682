package boot

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golci/golci/internal/job/boot/pmi"
	"github.com/golci/golci/internal/job/boot/serve"
)

// bench is a PMI server in this process; rank i dials its own connection.
type benchServer struct {
	srv *serve.Server

	mu    sync.Mutex
	fails []string
}

func newBench(t *testing.T, size int, preset map[string]string) *benchServer {
	t.Helper()
	b := &benchServer{}
	var err error
	b.srv, err = serve.New(pmi.Config{Size: size, KVSName: fmt.Sprintf("%s-%d", t.Name(), time.Now().UnixNano()), Preset: preset},
		serve.Hooks{Fail: func(_, _ int, text string) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.fails = append(b.fails, text)
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.srv.Close)
	return b
}

// join lets rank join over a pipe.
func (b *benchServer) join(ctx context.Context, p envPlace, lost func(*Job)) (*Job, error) {
	near, far := net.Pipe()
	b.srv.Attach(p.rank, far)
	return joinConn(ctx, near, nil, p, options{lost: lost})
}

func ours(key []byte, size int) map[string]string {
	return map[string]string{
		pmi.KeySecret: hex.EncodeToString(key), pmi.KeyMapping: fmt.Sprintf("(vector,(0,1,%d))", size),
	}
}

// joinAll lets all ranks of a job join at once.
func (b *benchServer) joinAll(t *testing.T, size int, own bool) []*Job {
	t.Helper()
	jobs := make([]*Job, size)
	var wg sync.WaitGroup
	for i := range jobs {
		wg.Go(func() {
			var err error
			jobs[i], err = b.join(t.Context(), envPlace{launcher: LauncherGolci, rank: i, size: size, fd: -1, ours: own}, nil)
			if err != nil {
				t.Errorf("rank %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return jobs
}

func TestWireExchange(t *testing.T) {
	const size = 4
	key := NewKey()
	for name, preset := range map[string]map[string]string{
		"own": ours(key, size), "foreign": {}, "foreign with map": {pmi.KeyMapping: "(vector,(0,2,2))"},
		"foreign with a bad map": {pmi.KeyMapping: "hello"},
	} {
		t.Run(name, func(t *testing.T) {
			jobs := newBench(t, size, preset).joinAll(t, size, name == "own")
			all(t, jobs, exchange)
			for _, j := range jobs {
				local := size
				if name == "foreign with map" {
					local = 2
				}
				if len(j.LocalRanks) != local || j.JobID != jobs[0].JobID || len(j.Key) != keyBytes {
					t.Errorf("rank %d: %v %s", j.Rank, j.LocalRanks, j.JobID)
				}
				if name == "own" && string(j.Key) != string(key) {
					t.Errorf("rank %d has another key", j.Rank)
				}
			}
			all(t, jobs, func(ctx context.Context, j *Job) error { return j.Finalize(ctx) })
			all(t, jobs, func(ctx context.Context, j *Job) error {
				if err := j.Fence(ctx); !errors.Is(err, errDone) {
					return fmt.Errorf("fence after finalize: %w", err)
				}
				return j.Finalize(ctx)
			})
		})
	}
}

// TestWireMissing: ranks 1 and 3 of 5 never come. With a server of ours, and on one node with any, the error names
// them.
func TestWireMissing(t *testing.T) {
	for name, preset := range map[string]map[string]string{
		"own": ours(NewKey(), 5), "foreign": {pmi.KeyMapping: "(vector,(0,1,5))"},
		"foreign, two nodes": {pmi.KeyMapping: "(vector,(0,1,2),(1,1,3))"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 5, preset)
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			var wg sync.WaitGroup
			for _, r := range []int{0, 2, 4} {
				wg.Go(func() {
					_, err := b.join(ctx, envPlace{rank: r, size: 5, fd: -1, ours: name == "own"}, nil)
					checkMissing(t, r, name, err)
				})
			}
			wg.Wait()
		})
	}
}

// checkMissing allows for ranks that have given up, and so left, a moment before this one looked.
func checkMissing(t *testing.T, rank int, name string, err error) {
	t.Helper()
	var miss *MissingError
	if !errors.As(err, &miss) || !errors.Is(err, ErrMissing) {
		t.Errorf("rank %d: %v", rank, err)
		return
	}
	if miss.Ended { // a rank that gave up has ended for those that still wait
		if strings.Trim(miss.Ranks, "0,24") != "" {
			t.Errorf("rank %d: %q have ended, want some of 0, 2 and 4", rank, miss.Ranks)
		}
		return
	}
	want := []string{"1", "3"}
	if name == "foreign, two nodes" {
		want = map[int][]string{0: {"1"}, 2: {"3"}, 4: {"3"}}[rank]
		if !strings.Contains(miss.Note, "other nodes") {
			t.Errorf("rank %d: note %q", rank, miss.Note)
		}
	}
	for _, w := range want {
		if !strings.Contains(strings.ReplaceAll(miss.Ranks, "1-4", "1,2,3,4"), w) && !strings.Contains(miss.Ranks, "-") {
			t.Errorf("rank %d: missing %q, want %v", rank, miss.Ranks, want)
		}
	}
}

func TestWireLost(t *testing.T) {
	b := newBench(t, 1, ours(NewKey(), 1))
	told := make(chan int, 1)
	j, err := b.join(t.Context(), envPlace{rank: 0, size: 1, fd: -1, ours: true}, func(j *Job) { told <- j.Rank })
	if err != nil {
		t.Fatal(err)
	}
	b.srv.HangUp()
	<-j.lostServer()
	if r := <-told; r != 0 {
		t.Errorf("told about rank %d", r)
	}
	if err := j.Fence(t.Context()); !errors.Is(err, ErrLost) {
		t.Errorf("fence: %v", err)
	}
	if err := j.Finalize(t.Context()); !errors.Is(err, ErrLost) {
		t.Errorf("finalize: %v", err)
	}
}

func TestWireAbort(t *testing.T) {
	b := newBench(t, 2, ours(NewKey(), 2))
	jobs := b.joinAll(t, 2, true)
	if err := jobs[1].Abort(5, "enough"); err != nil {
		t.Fatal(err)
	}
	if err := jobs[1].Put("a", nil); !errors.Is(err, ErrAborted) {
		t.Errorf("put: %v", err)
	}
	// Rank 0 is not named, though it is not in the barrier, either, when rank 1 ends.
	if err := jobs[0].Fence(t.Context()); !errors.Is(err, ErrMissing) || err.Error() != "golci: rank(s) 1 of 2 ended while this rank waited for all" {
		t.Errorf("fence: %v", err)
	}
	if fails := b.awaitFail(t); fails[0] != "rank 1 aborted the job with code 5: enough" {
		t.Errorf("the server heard %q", fails)
	}
	if err := jobs[0].Finalize(t.Context()); !errors.Is(err, ErrMissing) {
		t.Errorf("finalize: %v", err)
	}
}

// awaitFail waits for the server's first report, which comes after its answers, and returns all there are.
func (b *benchServer) awaitFail(t *testing.T) []string {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		b.mu.Lock()
		fails := slices.Clone(b.fails)
		b.mu.Unlock()
		if len(fails) > 0 {
			return fails
		}
	}
	t.Fatal("the server heard of no failure")
	return nil
}

// TestWireAbortDuringFence: a rank can abort the job while another of its goroutines waits for ever.
func TestWireAbortDuringFence(t *testing.T) {
	b := newBench(t, 2, ours(NewKey(), 2))
	jobs := b.joinAll(t, 2, true)
	waits := make(chan error)
	go func() { waits <- jobs[0].Fence(t.Context()) }()
	w := jobs[0].store.(*pmiStore)
	for len(w.turn) > 0 { // until the fence has its turn
		runtime.Gosched()
	}
	if err := jobs[0].Abort(3, ""); err != nil {
		t.Error(err)
	}
	if err := <-waits; !errors.Is(err, ErrAborted) {
		t.Errorf("fence: %v", err)
	}
	if err := jobs[0].Abort(3, ""); !errors.Is(err, errDone) {
		t.Errorf("second abort: %v", err)
	}
	if err := jobs[0].Finalize(t.Context()); !errors.Is(err, ErrAborted) {
		t.Errorf("finalize: %v", err)
	}
	jobs[1].store.(*pmiStore).closeWire(canceled)
}

// TestWireBadServer: whatever the other end says, Join ends with an error.
func TestWireBadServer(t *testing.T) {
	for name, answer := range map[string]string{
		"rubbish": "hello\n", "refusal": "cmd=response_to_init rc=-1\n", "other": "cmd=maxes\n",
		"long": strings.Repeat("x", 2*pmi.MaxRead), "end": "", "half": "cmd=response_to_init rc=0",
	} {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			if _, err := bufio.NewReader(far).ReadString('\n'); err == nil {
				_, _ = far.Write([]byte(answer))
			}
		}()
		if _, err := joinConn(t.Context(), near, nil, envPlace{size: 2, ours: true}, options{}); err == nil {
			t.Errorf("%s: joined", name)
		}
	}
}

// TestWireLateWho: a barrier that ends while the missing ranks are asked for has ended, and the late answer to that
// question is not taken for another one.
func TestWireLateWho(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	go func() {
		r := bufio.NewReader(far)
		for _, answer := range []string{
			"", "cmd=barrier_out rc=0\ncmd=golci_missing rc=0 ranks=1\n", "cmd=get_result rc=0 value=x\n",
		} {
			if _, err := r.ReadString('\n'); err != nil {
				return
			}
			_, _ = far.Write([]byte(answer))
		}
	}()
	w := newWire(near, 2, true)
	defer w.closeWire(canceled)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := w.fence(ctx); err != nil {
		t.Fatal(err)
	}
	if got, err := w.getRaw(t.Context(), "key"); got != "x" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}
