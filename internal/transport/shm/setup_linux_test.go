package shm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/usertest"
	"github.com/golci/golci/internal/transport/ring"
)

// TestSocketNames: the name of one rank tells nothing of that of another, nor of the job.
func TestSocketNames(t *testing.T) {
	c := Config{JobID: "job-" + strings.Repeat("x", 300), Key: "secret"}
	other := Config{JobID: c.JobID, Key: "Secret"}
	seen := map[string]bool{}
	for _, cfg := range []*Config{&c, &other} {
		for rank := range 12 {
			name := socketName(cfg, rank).Name
			if seen[name] || strings.Contains(name, "job") || strings.HasSuffix(name, fmt.Sprint("-", rank)) || len(name) > 100 {
				t.Errorf("rank %d: %s", rank, name)
			}
			seen[name] = true
		}
	}
}

// TestNameHeld: a rank whose name another process has bound says whose that process is.
func TestNameHeld(t *testing.T) {
	cfg := Config{Rank: 0, Size: 2, JobID: newJob(), Key: "secret", Local: ranks(2), Timeout: 10 * time.Second}
	var ln net.Listener
	var err error
	usertest.AsStranger(t, func() { ln, err = net.ListenUnix("unixpacket", socketName(&cfg, 0)) })
	if err != nil {
		t.Fatal(err)
	}
	_, err = New(cfg)
	if want := fmt.Sprintf("process %d of user %d", os.Getpid(), usertest.Stranger); !errors.Is(err, unix.EADDRINUSE) ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	ln.Close()
	if ln, err = net.ListenUnix("unixpacket", socketName(&cfg, 0)); err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if _, err = New(cfg); !errors.Is(err, unix.EADDRINUSE) || !strings.Contains(err.Error(), "the same rank in the same job") {
		t.Errorf("%v", err)
	}
}

// poor is a listener that has no descriptors at first.
type poor struct {
	*net.UnixListener
	failures int
}

func (p *poor) AcceptUnix() (*net.UnixConn, error) {
	if p.failures > 0 {
		p.failures--
		return nil, os.NewSyscallError("accept4", unix.EMFILE)
	}
	return p.UnixListener.AcceptUnix()
}

// TestAcceptAgain: a rank that has no descriptor for a call takes it when it has one.
func TestAcceptAgain(t *testing.T) {
	x := &exchange{cfg: &Config{Rank: 0, Size: 2, JobID: newJob(), Key: "secret", Local: ranks(2)}, lasts: map[int]error{}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	x.done = cancel
	ln, err := net.ListenUnix("unixpacket", socketName(x.cfg, 0))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { x.accept(ctx, &wg, &poor{ln, 3}) })
	c, err := net.DialUnix("unixpacket", nil, socketName(x.cfg, 0))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := sendPacket(c, hello{from: 1, to: 1}.encode(x.cfg.Key), nil); err != nil { // not for this rank: it hangs up
		t.Fatal(err)
	}
	if _, _, err := receivePacket(c); err == nil || strings.Contains(err.Error(), "refused") {
		t.Errorf("the call has been answered with %v", err)
	}
	if err := ctx.Err(); err != nil {
		t.Error(err)
	}
	ln.Close()
	wg.Wait()
	if x.fatal != nil || !errors.Is(x.lasts[0], unix.EMFILE) {
		t.Errorf("%v, noted %v", x.fatal, x.lasts[0])
	}
}

// TestNumberOfTheDead: after the end of a peer's process its number is not used any more. Another process may have it
// then.
func TestNumberOfTheDead(t *testing.T) {
	cs, errs := together(2, func(*Config) {})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, c := range cs {
			c.Close()
		}
	}()
	e := endOf(cs[0])
	if !e.reaches(1) || e.remotes[1].Load().life < 0 {
		t.Skipf("skipped: no direct access, or no process descriptors: %+v", e.remotes[1].Load())
	}
	cmd := exec.CommandContext(t.Context(), "sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	life, err := unix.PidfdOpen(cmd.Process.Pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(life) }()
	mine := e.remotes[1].Load()
	defer func() { e.remotes[1].Store(mine) }()
	// The number is this process's own: as if it had been given away.
	e.remotes[1].Store(&remote{pid: mine.pid, life: life})
	target := []byte("untouched")
	addr := uint64(uintptr(unsafe.Pointer(&target[0])))
	if err := e.vm(1, []byte("UNTOUCHED"), addr, writev); err != nil || string(target) != "UNTOUCHED" {
		t.Fatalf("while it lives: %v, %q", err, target)
	}
	dies := func(_ int, local []unix.Iovec, _ []unix.RemoteIovec, _ uint) (int, error) {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return int(local[0].Len), nil
	}
	if err := e.vm(1, make([]byte, 4), addr, vmCall{name: "test", call: dies}); !errors.Is(err, conduit.ErrPeerDied) {
		t.Errorf("its process has died during the call: %v", err)
	}
	if err := e.vm(1, []byte("!!!!!!!!!"), addr, writev); !errors.Is(err, conduit.ErrPeerDied) || string(target) != "UNTOUCHED" {
		t.Errorf("Put to a dead process: %v, %q", err, target)
	}
	if err := e.vm(1, make([]byte, 4), addr, readv); !errors.Is(err, conduit.ErrPeerDied) {
		t.Errorf("Fetch from a dead process: %v", err)
	}
	runtime.KeepAlive(target)
}

// endOf is the part of a conduit that is of this package.
func endOf(c conduit.Conduit) *rankMemory { return c.(*ring.Endpoint).Memory.(*rankMemory) }
