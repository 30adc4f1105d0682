package boot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golci/golci/internal/job/authconn"
	"github.com/golci/golci/internal/test/nettest"
)

const testSecret = "0123456789abcdef0123456789abcdef"

// rootEnv is the environment of a rank that meets the others at addr.
func rootEnv(addr string, rank, size int) map[string]string {
	return map[string]string{
		"GOLCI_RANK": fmt.Sprint(rank), "GOLCI_SIZE": fmt.Sprint(size), "GOLCI_ROOT": addr, "GOLCI_SECRET": testSecret,
	}
}

// rootPlace is what such a rank reads of it, with more variables.
func rootPlace(t *testing.T, addr string, rank, size int, more ...string) envPlace {
	t.Helper()
	p, err := detectLauncher(envOf(with(rootEnv(addr, rank, size), more...)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// joinRoot joins ranks at once and returns their jobs.
func joinRoot(t *testing.T, places ...envPlace) []*Job {
	t.Helper()
	jobs := make([]*Job, len(places))
	var wg sync.WaitGroup
	for i, p := range places {
		wg.Go(func() {
			var err error
			if jobs[i], err = joinPlace(t.Context(), p, options{}); err != nil {
				t.Errorf("rank %d: %v", p.rank, err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return jobs
}

func TestRoot(t *testing.T) {
	const size = 5
	addr := nettest.FreePort(t)
	for range 3 { // the port is free again at once
		var places []envPlace
		for r := range size {
			places = append(places, rootPlace(t, addr, r, size))
		}
		jobs := joinRoot(t, places...)
		for _, j := range jobs {
			if j.Launcher != LauncherEnv || len(j.LocalRanks) != size || string(j.Key) != string(jobs[0].Key) {
				t.Errorf("%+v", j)
			}
		}
		all(t, jobs, func(ctx context.Context, j *Job) error { return errors.Join(exchange(ctx, j), j.Finalize(ctx)) })
	}
}

// TestRootLate: rank 0 may come after the others, and find the first of its ports taken by another program, which says
// nothing to them.
func TestRootLate(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	go func() {
		for {
			c, err := taken.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	p := rootPlace(t, nettest.FreePort(t), 1, 2)
	p.root.addrs = []string{taken.Addr().String(), p.root.addrs[0]}
	joined := make(chan *Job)
	go func() {
		j, err := joinPlace(t.Context(), p, options{})
		if err != nil {
			t.Error(err)
		}
		joined <- j
	}()
	time.Sleep(100 * time.Millisecond)
	p0 := p
	p0.rank = 0
	jobs := joinRoot(t, p0)
	if other := <-joined; other != nil {
		jobs = append(jobs, other)
	}
	all(t, jobs, func(ctx context.Context, j *Job) error { return j.Finalize(ctx) })
}

// TestRootDeath: when one rank goes without finalizing, all the others learn it, and their reason tells whom to look
// at.
func TestRootDeath(t *testing.T) {
	addr := nettest.FreePort(t)
	jobs := joinRoot(t, rootPlace(t, addr, 0, 3), rootPlace(t, addr, 1, 3), rootPlace(t, addr, 2, 3))
	jobs[1].store.(*pmiStore).conn.Close()
	for _, j := range jobs {
		<-j.lostServer()
		j.store.(*pmiStore).closeWire(canceled)
	}
	if text := jobs[2].Loss(); !strings.Contains(text, "rank 0 at "+addr) {
		t.Errorf("rank 2 says: %s", text)
	}
}

// TestRootMissing: rank 0 names those that do not come. A rank without rank 0 names its address.
func TestRootMissing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	addr := nettest.FreePort(t)
	_, err := joinPlace(ctx, rootPlace(t, addr, 0, 3), options{})
	var missing *MissingError
	if !errors.As(err, &missing) || missing.Ranks != "1-2" {
		t.Errorf("rank 0: %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = joinPlace(ctx, rootPlace(t, addr, 1, 3), options{})
	if !errors.Is(err, ErrMissing) || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), addr) {
		t.Errorf("rank 1: %v", err)
	}
}

// TestRootRefuses: who does not fit into the job is told why, does no harm, and no secret is shown.
func TestRootRefuses(t *testing.T) {
	t.Parallel()
	addr := nettest.FreePort(t)
	const other = "another secret, of 34 characters.."
	joined := make(chan []*Job)
	go func() { joined <- joinRoot(t, rootPlace(t, addr, 0, 2)) }()
	for name, c := range map[string]struct {
		p    envPlace
		want string
		is   error
	}{
		"secret": {rootPlace(t, addr, 1, 2, "GOLCI_SECRET", other), "has another GOLCI_SECRET", ErrMissing},
		"size":   {rootPlace(t, addr, 1, 3), "rank 1 on", errRefused},
		"rank":   {rootPlace(t, addr, 2, 3), "of a job of 3 ranks, but the one that serves is of a job of 2", errRefused},
	} {
		limit := time.Minute
		if c.is == ErrMissing {
			limit = time.Second
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, err := joinPlace(ctx, c.p, options{})
		cancel()
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), other) {
			t.Errorf("%s: %v", name, err)
		}
	}
	jobs := joinRoot(t, rootPlace(t, addr, 1, 2))
	jobs = append(jobs, <-joined...)
	all(t, jobs, func(ctx context.Context, j *Job) error { return j.Finalize(ctx) })
}

// TestRootTwice: two processes with one rank's number are told apart by their nodes.
func TestRootTwice(t *testing.T) {
	addr := nettest.FreePort(t)
	p := rootPlace(t, addr, 0, 3)
	id, err := authconn.New(p.root.key, rootLabel)
	if err != nil {
		t.Fatal(err)
	}
	own, stop, err := serveRoot(t.Context(), &p, id)
	if err != nil {
		t.Fatal(err)
	}
	defer stop(canceled)
	defer own.Close()
	p.rank, p.node = 1, "here"
	c, err := callRoot(t.Context(), &p, id)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p.node = "there"
	if _, err = callRoot(t.Context(), &p, id); !errors.Is(err, errRefused) ||
		!strings.Contains(err.Error(), "there is a rank 1 already, on here; this one is on there") {
		t.Errorf("%v", err)
	}
}

// TestRootStrangers: callers that say nothing or nonsense keep no rank out.
func TestRootStrangers(t *testing.T) {
	t.Parallel()
	addr := nettest.FreePort(t)
	p := rootPlace(t, addr, 0, 2)
	joined := make(chan []*Job)
	go func() { joined <- joinRoot(t, p) }()
	for i := range 2 * maxEarly {
		var c net.Conn
		var err error
		for c == nil { // until rank 0 listens
			c, err = net.Dial("tcp", addr)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%2 == 0 {
			_, _ = io.WriteString(c, strings.Repeat("x", 100))
		}
	}
	jobs := joinRoot(t, rootPlace(t, addr, 1, 2))
	jobs = append(jobs, <-joined...)
	all(t, jobs, func(ctx context.Context, j *Job) error { return j.Finalize(ctx) })
}

// TestRootTaken: a port that another program holds is named, and what to do.
func TestRootTaken(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, err = joinPlace(t.Context(), rootPlace(t, ln.Addr().String(), 0, 2), options{})
	if !errors.Is(err, errEnv) || !strings.Contains(err.Error(), ln.Addr().String()) ||
		!strings.Contains(err.Error(), "GOLCI_ROOT names another port") {
		t.Errorf("%v", err)
	}
}

func TestListenAddr(t *testing.T) {
	for in, want := range map[string]string{
		"127.0.0.1:7": "127.0.0.1:7", "[::1]:7": "[::1]:7", "node1:7000": ":7000", "10.0.0.1:7000": ":7000",
		"localhost:9": ":9",
	} {
		if got := listenAddr(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// TestRootProcesses: the same with processes, which nobody starts but this test.
func TestRootProcesses(t *testing.T) {
	const size = 3
	addr := nettest.FreePort(t)
	outs := make([]bytes.Buffer, size)
	var wg sync.WaitGroup
	for r := range size {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, os.Args[0])
			cmd.Env = append(os.Environ(), rankRole+"=join")
			for k, v := range rootEnv(addr, r, size) {
				cmd.Env = append(cmd.Env, k+"="+v)
			}
			cmd.Stdout, cmd.Stderr = &outs[r], &outs[r]
			if err := cmd.Run(); err != nil {
				t.Errorf("rank %d: %v: %s", r, err, outs[r].String())
			}
		})
	}
	wg.Wait()
	var lines []string
	for r := range outs {
		lines = append(lines, strings.TrimSpace(outs[r].String()))
	}
	checkRanks(t, lines, LauncherEnv, size)
}

// FuzzHello: whatever comes first on a connection is read or refused, and the name of a node is fit for people's eyes.
func FuzzHello(f *testing.F) {
	f.Add([]byte("cmd=golci_hello rank=1 size=2 node=n1\n"))
	f.Add([]byte("cmd=golci_hello rank=-1 size=2 node=\x1b[2J\n"))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := parseHello(line)
		if err == nil && (e.node == "" || len(e.node) > maxNode || e.node != plainName(e.node)) {
			t.Errorf("%q: node %q", line, e.node)
		}
	})
}
