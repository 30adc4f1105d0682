package shm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
)

// Tests with real processes: the test binary runs itself as rank 1, in a role.

const (
	roleEnv = "GOLCI_SHM_TEST_ROLE"
	jobEnv  = "GOLCI_SHM_TEST_JOB"
)

func pairConfig(rank int, job string, cfg conduit.Config) Config {
	return Config{
		Rank: rank, Size: 2, JobID: job, Key: "secret", Local: []int{0, 1}, Timeout: 30 * time.Second, Conduit: cfg,
	}
}

// child is rank 1.
func child(role string) int {
	cfg := bulkConfig()
	cfg.TinyQueues = strings.HasSuffix(role, "tiny")
	c, err := New(pairConfig(1, os.Getenv(jobEnv), cfg))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	switch {
	case strings.HasPrefix(role, "echo"):
		echo(c)
	case strings.HasPrefix(role, "sleepy"):
		sleepyEcho(c)
	case strings.HasPrefix(role, "flood"):
		flood(c)
	case strings.HasPrefix(role, "pingpong"):
		spinEcho(c)
	case strings.HasPrefix(role, "sink"):
		swallow(c)
	case strings.HasPrefix(role, "bulk"):
		swallowBulk(c)
	}
	if err := c.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// startChild starts rank 1 and returns it with rank 0's conduit.
func startChild(t testing.TB, role string, cfg conduit.Config) (*exec.Cmd, conduit.Conduit) {
	job := newJob()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), roleEnv+"="+role, jobEnv+"="+job)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c, err := New(pairConfig(0, job, cfg))
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.Fatal(err)
	}
	return cmd, c
}

// echoer sends back what it gets, until rank 0 is gone.
type echoer struct {
	c    conduit.Conduit
	recs [][]byte // not yet sent back, with their bulk data
	bulk []chunk
}

type chunk struct {
	id   uint64
	off  int64
	data []byte
}

func (e *echoer) Record(_ int, rec []byte) { e.recs = append(e.recs, append([]byte(nil), rec...)) }

func (e *echoer) Bulk(_ int, id uint64, off int64, b []byte) {
	e.bulk = append(e.bulk, chunk{id, off, append([]byte(nil), b...)})
}

// Gone implements conduit.Sink.
func (*echoer) Gone(int, error) {}

func (e *echoer) push() {
	for len(e.recs) > 0 {
		rec := e.recs[0]
		space, st := e.c.Reserve(0, conduit.Reply, len(rec))
		if st != conduit.OK {
			break
		}
		copy(space[conduit.WordBytes:], rec[conduit.WordBytes:])
		e.c.Commit(0, binary.LittleEndian.Uint64(rec))
		e.recs = e.recs[1:]
	}
	for len(e.bulk) > 0 {
		b := &e.bulk[0]
		n, _ := e.c.BulkSend(0, b.id, b.off, b.data, nil)
		if n <= 0 {
			break
		}
		b.data, b.off = b.data[n:], b.off+int64(n)
		if len(b.data) == 0 {
			e.bulk = e.bulk[1:]
		}
	}
}

func echo(c conduit.Conduit) {
	e := &echoer{c: c}
	for c.Failed(0) == nil || c.Pending() {
		if c.Poll(16, e) <= 0 && len(e.recs)+len(e.bulk) == 0 {
			c.Sleep(time.Second, func() bool { return c.Failed(0) != nil })
		}
		e.push()
	}
}

// sleepyEcho sleeps without limit whenever it has nothing to do: a lost wake-up is a hang.
func sleepyEcho(c conduit.Conduit) {
	e := &echoer{c: c}
	for c.Failed(0) == nil {
		if c.Poll(16, e) <= 0 && len(e.recs) == 0 {
			c.Sleep(time.Hour, func() bool { return c.Failed(0) != nil })
		}
		e.push()
	}
}

func flood(c conduit.Conduit) {
	e := &echoer{c: c}
	data := make([]byte, 100000)
	for i := uint64(0); c.Failed(0) == nil; i++ {
		if _, st := c.Reserve(0, conduit.Request, 64); st == conduit.OK {
			c.Commit(0, 64)
		}
		c.BulkSend(0, 1, 0, data, nil)
		c.Poll(8, e)
		e.recs, e.bulk = e.recs[:0], e.bulk[:0]
	}
}

func TestTwoProcesses(t *testing.T) {
	for _, tiny := range []bool{false, true} {
		role := "echo"
		if tiny {
			role = "echo-tiny"
		}
		t.Run(role, func(t *testing.T) {
			cmd, c := startChild(t, role, conduit.Config{TinyQueues: tiny})
			roundTrips(t, c)
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("rank 1: %v", err)
			}
		})
	}
}

// checker takes the echoes and checks them against what was sent.
type checker struct {
	t        *testing.T
	next     uint64
	sizes    func(i uint64) int
	bulkNext int64
	bulk     []byte
}

func (k *checker) Record(src int, rec []byte) {
	want := k.sizes(k.next)
	if src != 1 || len(rec) != want || binary.LittleEndian.Uint64(rec[8:]) != k.next {
		k.t.Fatalf("echo of %d bytes from %d, serial %d; want serial %d of %d bytes", len(rec), src,
			binary.LittleEndian.Uint64(rec[8:]), k.next, want)
	}
	for i, b := range rec[16:] {
		if b != byte(uint64(i)+k.next) {
			k.t.Fatalf("echo %d: byte %d is %d", k.next, i, b)
		}
	}
	k.next++
}

// Gone implements conduit.Sink.
func (*checker) Gone(int, error) {}

func (k *checker) Bulk(_ int, id uint64, off int64, b []byte) {
	if id != 77 || off != k.bulkNext || string(b) != string(k.bulk[off:off+int64(len(b))]) {
		k.t.Fatalf("bulk echo %d at %d, want 77 at %d", id, off, k.bulkNext)
	}
	k.bulkNext += int64(len(b))
}

// stuckAfter is how long a machine that does other things may leave two processes without a record.
const stuckAfter = 60 * time.Second

func roundTrips(t *testing.T, c conduit.Conduit) {
	const records = 20000
	k := &checker{t: t, bulk: make([]byte, 3<<20)}
	k.sizes = func(i uint64) int { return 16 + int(i*i%400) }
	for i := range k.bulk {
		k.bulk[i] = byte(i * 7 >> 3)
	}
	moved, sent := time.Now(), 0
	for i := uint64(0); k.next < records || k.bulkNext < int64(len(k.bulk)); {
		if i < records {
			if space, st := c.Reserve(1, conduit.Request, k.sizes(i)); st == conduit.OK {
				n := k.sizes(i)
				binary.LittleEndian.PutUint64(space[8:], i)
				for j := range space[16:n] {
					space[16+j] = byte(uint64(j) + i)
				}
				c.Commit(1, uint64(n))
				i++
			}
		}
		n, _ := c.BulkSend(1, 77, int64(sent), k.bulk[sent:], nil)
		sent += max(n, 0)
		switch {
		case c.Poll(16, k) > 0:
			moved = time.Now()
		case time.Since(moved) > stuckAfter:
			t.Fatalf("stuck at record %d, bulk %d of %d", k.next, k.bulkNext, sent)
		}
	}
}

func TestSleepingProcesses(t *testing.T) {
	cmd, c := startChild(t, "sleepy", conduit.Config{})
	k := &checker{t: t, sizes: func(uint64) int { return 32 }}
	stop := time.AfterFunc(stuckAfter, func() { panic("a wake-up between two processes was lost") })
	for i := uint64(0); i < 5000; i++ {
		stop.Reset(stuckAfter)
		space, st := c.Reserve(1, conduit.Request, 32)
		if st != conduit.OK {
			t.Fatal(st)
		}
		binary.LittleEndian.PutUint64(space[8:], i)
		for j := range 16 {
			space[16+j] = byte(uint64(j) + i)
		}
		c.Commit(1, 32)
		for k.next <= i {
			if c.Poll(4, k) == 0 {
				c.Sleep(time.Hour, nil)
			}
		}
	}
	stop.Stop()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("rank 1: %v", err)
	}
}

type discard struct{ n int }

// Gone implements conduit.Sink.
func (*discard) Gone(int, error) {}

func (d *discard) Record(int, []byte)              { d.n++ }
func (d *discard) Bulk(int, uint64, int64, []byte) { d.n++ }

func TestPeerKilledInMidFlood(t *testing.T) {
	before := inventory(t)
	cmd, c := startChild(t, "flood", conduit.Config{})
	d := &discard{}
	for d.n < 100000 {
		c.Poll(64, d)
		if _, st := c.Reserve(1, conduit.Request, 64); st == conduit.OK {
			c.Commit(1, 64)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(stuckAfter, func() { panic("nobody told of the death") })
	for c.Failed(1) == nil {
		if c.Poll(64, d) == 0 {
			c.Sleep(time.Hour, func() bool { return c.Failed(1) != nil })
		}
	}
	stop.Stop()
	var pe *conduit.PeerError
	if err := c.Failed(1); !errors.Is(err, conduit.ErrPeerDied) || !errors.As(err, &pe) || pe.Peer != 1 {
		t.Errorf("Failed: %v", err)
	}
	if _, st := c.Reserve(1, conduit.System, 64); st != conduit.Dead {
		t.Errorf("Reserve to a dead peer: %v", st)
	}
	for c.Poll(64, d) > 0 {
		continue
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // killed, as it should be
	if after := inventory(t); after != before {
		t.Errorf("before: %s\nafter: %s", before, after)
	}
}
