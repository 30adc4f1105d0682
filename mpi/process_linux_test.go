package mpi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/job/boot/pmi"
	"github.com/golci/golci/internal/job/boot/serve"
	"github.com/golci/golci/internal/platform/affinity"
	"github.com/golci/golci/internal/platform/invariants"
)

// roleVar makes the test binary a rank of a job of processes: what it does is the variable's value.
const roleVar = "GOLCI_TEST_MPI_ROLE"

var roles = map[string]func(p *Proc) error{
	"all":    roleAll,
	"hang":   roleHang,
	"cores":  roleCores,
	"differ": roleDiffer, "differ last": roleDifferLast,
	"inturn": roleInTurnShared,
}

// lateMain is a rank that waits for one that does not come.
func lateMain() int {
	if os.Getenv("PMI_RANK") != "0" {
		time.Sleep(patience) // the test ends it
		return 0
	}
	const limit = 3 * time.Second // long enough to get into the fence on any day
	cause := errors.New("enough")
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, cause)
	defer cancel()
	var err error
	if os.Getenv("PMI_SIZE") == "2" {
		_, err = Init(WithTimeout(limit))
	} else if _, err = InitContext(ctx); !errors.Is(err, cause) {
		fmt.Println("error:", err)
		return 4
	}
	var missing *boot.MissingError
	if !errors.Is(err, boot.ErrMissing) || !errors.As(err, &missing) || missing.Ranks == "" && missing.Note == "" {
		fmt.Println("error:", err)
		return 3
	}
	fmt.Println("missed", missing.Ranks, missing.Note)
	return 0
}

// rankMain is the program of a rank.
func rankMain(role string) int {
	if own, ok := ownRoles[role]; ok {
		return own()
	}
	p, err := Init(WithTimeout(20 * time.Second))
	if err == nil {
		err = roles[role](p)
	}
	if err == nil {
		err = p.Finalize()
	}
	if err != nil {
		fmt.Println("error:", err)
		return 3
	}
	fmt.Printf("rank %d is done\n", p.World().Rank())
	return 0
}

// roleAll does a bit of everything between processes.
func roleAll(p *Proc) error {
	c := p.World()
	if err := everyWay(c, func(way int) error { return allPairs(c, way) }); err != nil {
		return err
	}
	d, err := c.Split(c.Rank()%2, 0)
	if err != nil {
		return err
	}
	if err := reduces(d, 1, d.Size(), Sum); err != nil {
		return err
	}
	big := make([]float64, 300_000)
	for i := range big {
		big[i] = float64(i * c.Rank())
	}
	if err := Allreduce(c, InPlace(big), big, Sum); err != nil {
		return err
	}
	if want := float64(999 * c.Size() * (c.Size() - 1) / 2); big[999] != want {
		return fmt.Errorf("sum %v, want %v", big[999], want)
	}
	return errors.Join(d.Free(), wants(ErrComm, d.Barrier()))
}

// roleHang has a rank wait for ever, and say so when it does.
func roleHang(p *Proc) error {
	go func() {
		untilPending(p.World(), 1)
		fmt.Println("waiting")
	}()
	return second(Recv(p.World(), make([]byte, 4321), AnySource, 99))
}

// roleCores tells where the threads of a rank may run.
func roleCores(p *Proc) error {
	return p.Parallel(1, func(int) error {
		fmt.Printf("threads run on %v\n", affinity.Get())
		return nil
	})
}

// TestProcessesDivideTheCores: the workers of ranks that the launcher has not bound have cores of their own, unless
// that is not wanted.
func TestProcessesDivideTheCores(t *testing.T) {
	if affinity.Count() < 2 || invariants.Race {
		t.Skip("needs two processors, and workers, which the race detector's threads do not have")
	}
	for _, bind := range []string{"core", "none"} {
		t.Setenv("GOLCI_BIND", bind)
		j := startProcesses(t, 2, "cores")
		var where [2]string
		for r, cmd := range j.cmds {
			if err := cmd.Wait(); err != nil {
				t.Fatalf("rank %d: %v\n%s", r, err, j.text())
			}
			where[r], _, _ = strings.Cut(j.outs[r].String(), "\n")
		}
		if apart := where[0] != where[1]; apart != (bind == "core") || !strings.HasPrefix(where[0], "threads run on [") {
			t.Errorf("%s: %q", bind, where)
		}
	}
}

// processes is a job of processes of the test binary, under a PMI server of the test.
type processes struct {
	cmds []*exec.Cmd
	outs []*output
	srv  *serve.Server
	fail chan string
	env  []string // of every rank, beside that of the test
}

// output collects what a rank prints.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// startProcesses starts a job of n ranks, with env beside the environment of the test.
func startProcesses(t *testing.T, n int, role string, env ...string) *processes {
	t.Helper()
	j := &processes{env: env}
	j.startAll(t, n, role)
	return j
}

func (j *processes) startAll(t *testing.T, n int, role string) {
	t.Helper()
	j.fail = make(chan string, n)
	var err error
	name := fmt.Sprintf("test-%d-%d", os.Getpid(), time.Now().UnixNano())
	j.srv, err = serve.New(pmi.Config{Size: n, KVSName: name}, serve.Hooks{
		Fail: func(_, _ int, text string) { j.fail <- text },
		EOF:  func(int) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.srv.Close)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	for r := range n {
		j.start(ctx, t, r, n, role)
	}
}

func (j *processes) start(ctx context.Context, t *testing.T, rank, size int, role string) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "pmi"), os.NewFile(uintptr(fds[1]), "pmi")
	defer func() { _ = theirs.Close() }()
	conn, err := net.FileConn(ours)
	if err != nil {
		t.Fatal(err)
	}
	_ = ours.Close() // FileConn has a copy
	out := new(output)
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"="+role, "PMI_FD=3",
		fmt.Sprint("PMI_RANK=", rank), fmt.Sprint("PMI_SIZE=", size))
	cmd.Env = append(cmd.Env, j.env...)
	cmd.ExtraFiles, cmd.Stdout, cmd.Stderr = []*os.File{theirs}, out, out
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	j.srv.Attach(rank, conn)
	j.cmds, j.outs = append(j.cmds, cmd), append(j.outs, out)
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
}

func (j *processes) text() string {
	var s strings.Builder
	for r, o := range j.outs {
		fmt.Fprintf(&s, "--- rank %d\n%s", r, o)
	}
	return s.String()
}

func TestProcesses(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		j := startProcesses(t, n, "all")
		for r, cmd := range j.cmds {
			if err := cmd.Wait(); err != nil {
				t.Fatalf("rank %d of %d: %v\n%s", r, n, err, j.text())
			}
			if want := fmt.Sprintf("rank %d is done", r); !strings.Contains(j.outs[r].String(), want) {
				t.Fatalf("rank %d printed\n%s", r, j.outs[r])
			}
		}
	}
}

// TestQuitDumps: SIGQUIT has a rank write what it waits for, and end as Go has it. Stacks come only if they are asked
// for, and after that; they are the program's, not those of Go and this module.
func TestQuitDumps(t *testing.T) {
	const call = "Recv on world from any rank, tag 99, 4321 bytes\n"
	for setting, stacks := range map[string]bool{"": false, "calls": false, "stacks": true} {
		t.Setenv("GOLCI_DUMP", setting)
		j := startProcesses(t, 1, "hang")
		j.await(t, 0, "waiting")
		if err := j.cmds[0].Process.Signal(syscall.SIGQUIT); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		err := j.cmds[0].Wait()
		text := j.outs[0].String()
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(text, call) {
			t.Errorf("%q: %v\n%s", setting, err, text)
		}
		if strings.Contains(text, "mpi.roleHang") != stacks || strings.Contains(text, "goroutine ") != stacks {
			t.Errorf("%q: are there stacks?\n%s", setting, text)
		}
		if stacks && strings.Index(text, call) > strings.Index(text, "goroutine ") {
			t.Errorf("%q: the stacks come first\n%s", setting, text)
		}
		if strings.Contains(text, "signal.loop") || strings.Contains(text, "quitter") {
			t.Errorf("%q: stacks of the module\n%s", setting, text)
		}
	}
}

// TestInitTimeout: a rank whose peer never comes gets an error that tells so, and how far it can tell who.
func TestInitTimeout(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 3} { // by the setting, and by a context
		j := startProcesses(t, n, "late")
		if err := j.cmds[0].Wait(); err != nil || !strings.Contains(j.outs[0].String(), "missed") {
			t.Errorf("%v\n%s", err, j.text())
		}
	}
}

func TestInitBadSettings(t *testing.T) {
	for _, o := range []Option{WithTimeout(0), With("GOLCI_CONDUIT", "pigeon"), WithLoan(-1)} {
		if _, err := Init(o); !errors.Is(err, ErrArgument) {
			t.Errorf("got %v", err)
		}
	}
}

func init() {
	asRank = func() {
		if role := os.Getenv(roleVar); role != "" {
			os.Exit(rankMain(role))
		}
	}
}
