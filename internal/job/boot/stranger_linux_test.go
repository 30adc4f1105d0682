package boot

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/internal/test/usertest"
)

// joinMeeting lets size ranks join at a rendezvous, and returns their jobs.
func joinMeeting(t *testing.T, size int, limit time.Duration) []*Job {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	jobs := make([]*Job, size)
	var wg sync.WaitGroup
	for r := range size {
		wg.Go(func() {
			var err error
			if jobs[r], err = joinPlace(ctx, meetingPlace(t, r, size), options{}); err != nil {
				t.Errorf("rank %d: %v", r, err)
			}
		})
	}
	wg.Wait()
	return jobs
}

// endAll finalizes the jobs that there are.
func endAll(t *testing.T, jobs []*Job) {
	t.Helper()
	var wg sync.WaitGroup
	for _, j := range jobs {
		if j == nil {
			continue
		}
		wg.Go(func() {
			if err := j.Finalize(t.Context()); err != nil {
				t.Errorf("rank %d: %v", j.Rank, err)
			}
		})
	}
	wg.Wait()
}

// TestRendezvousSquatted: another user has bound the first names of the rendezvous.
func TestRendezvousSquatted(t *testing.T) {
	names := newMeeting(meetingPlace(t, 0, 1)).names
	var held []net.Listener
	usertest.AsStranger(t, func() {
		for _, name := range names[:3] {
			ln, err := net.Listen("unix", name)
			if err != nil {
				t.Error(err)
				return
			}
			held = append(held, ln)
		}
		full, err := silentListener(names[3])
		if err != nil {
			t.Error(err)
			return
		}
		held = append(held, full)
	})
	for _, ln := range held {
		defer ln.Close()
	}
	for { // until a call to the listener without room does not get through any more
		c, err := net.Dial("unix", names[3])
		if err != nil {
			break
		}
		defer c.Close()
	}
	jobs := joinMeeting(t, 5, 20*time.Second)
	for i, name := range names {
		full := i == 3 // so it may be ours
		// The rank that serves closes its name when the last rank has come: that one may have joined before.
		for end := time.Now().Add(10 * time.Second); isAnswered(name) != full; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("name %d: a rank still answers, or none did", i)
				break
			}
		}
	}
	endAll(t, jobs)
}

// silentListener never accepts, and has room for one caller.
func silentListener(name string) (net.Listener, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrUnix{Name: name}), unix.Listen(fd, 0)); err != nil {
		return nil, err
	}
	return net.FileListener(f)
}

// TestRendezvousToggled: another user binds the first names and lets them go, over and over, while the ranks look for
// each other. They still meet in one place.
func TestRendezvousToggled(t *testing.T) {
	names := newMeeting(meetingPlace(t, 0, 1)).names
	quit := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		usertest.AsStranger(t, func() {
			for i := 0; ; i = (i + 1) % 3 {
				select {
				case <-quit:
					return
				default:
				}
				if ln, err := net.Listen("unix", names[i]); err == nil {
					runtime.Gosched()
					ln.Close()
				}
			}
		})
	})
	for range 20 {
		endAll(t, joinMeeting(t, 6, 20*time.Second))
		if t.Failed() {
			break
		}
	}
	close(quit)
	wg.Wait()
}

// TestRendezvousHeld: when another user holds all names the error says who.
func TestRendezvousHeld(t *testing.T) {
	names := newMeeting(meetingPlace(t, 0, 1)).names
	var held []net.Listener
	usertest.AsStranger(t, func() {
		for _, name := range names {
			if ln, err := net.Listen("unix", name); err == nil {
				held = append(held, ln)
			}
		}
	})
	for _, ln := range held {
		defer ln.Close()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := joinPlace(ctx, meetingPlace(t, 0, 2), options{})
	if want := fmt.Sprintf("process %d of user %d", os.Getpid(), usertest.Stranger); !errors.Is(err, ErrMissing) ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestRendezvousTurnsAway: a caller of another user gets the end of its connection, not time to speak.
func TestRendezvousTurnsAway(t *testing.T) {
	ln, err := listenAbstract(newMeeting(meetingPlace(t, 0, 1)).names[0])
	if err != nil {
		t.Fatal(err)
	}
	h, err := newHost(ln, &envPlace{size: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer h.stopServing(canceled)
	var c net.Conn
	usertest.AsStranger(t, func() { c, err = net.Dial("unix", ln.Addr().String()) })
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	begun := time.Now()
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("a stranger heard: %v", err)
	}
	if d := time.Since(begun); d >= helloTimeout {
		t.Errorf("the stranger could stay for %v", d)
	}
	if len(h.arrived) != 0 || h.door.Early() != 0 {
		t.Errorf("%d ranks came, %d may speak", len(h.arrived), h.door.Early())
	}
}

// TestRendezvousEarly: callers of the same user that say nothing are turned away when there are too many, and a rank
// gets through.
func TestRendezvousEarly(t *testing.T) {
	name := newMeeting(meetingPlace(t, 0, 1)).names[0]
	ln, err := listenAbstract(name)
	if err != nil {
		t.Fatal(err)
	}
	h, err := newHost(ln, &envPlace{size: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer h.stopServing(canceled)
	for range 2 * maxEarly {
		c, err := net.Dial("unix", name)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	for {
		c, err := net.Dial("unix", name)
		if err != nil {
			t.Fatal(err)
		}
		if conn, err := greetHost(t.Context(), c, &envPlace{rank: 1, size: 2}, helloTimeout); err == nil {
			conn.Close()
			break
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.door.Early() > maxEarly {
		t.Errorf("%d callers wait", h.door.Early())
	}
}

// floodRole makes the test binary call the name in this variable without a word, over and over, until its input ends.
const floodRole = "GOLCI_TEST_BOOT_FLOOD"

func init() { roles[floodRole] = floodMain }

// floodMain writes a line after each 900 calls that got through.
func floodMain() int {
	go func() {
		var held [900]net.Conn
		for i := 0; ; {
			c, err := net.Dial("unix", os.Getenv(floodRole))
			if err != nil {
				continue
			}
			if held[i] != nil {
				held[i].Close()
			}
			held[i] = c
			if i++; i == len(held) {
				fmt.Println(i)
				i = 0
			}
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// TestRendezvousFlood: another user calls without a word, more often than this process has descriptors. All ranks
// join all the same.
func TestRendezvousFlood(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("skipped: needs root to become another user")
	}
	const size = 8
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Env = []string{floodRole + "=" + newMeeting(meetingPlace(t, 0, 1)).names[0]}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: usertest.Stranger, Gid: usertest.Stranger}}
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
	defer func() {
		in.Close()
		_ = cmd.Wait()
	}()
	few := old
	few.Cur = 128
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	jobs := make([]*Job, size)
	var wg sync.WaitGroup
	join := func(r int) {
		var err error
		if jobs[r], err = joinPlace(ctx, meetingPlace(t, r, size), options{}); err != nil {
			t.Errorf("rank %d: %v", r, err)
		}
	}
	wg.Go(func() { join(0) }) // it serves, and is flooded before the others come
	lines := bufio.NewReader(out)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	for r := 1; r < size; r++ {
		wg.Go(func() { join(r) })
	}
	wg.Wait()
	endAll(t, jobs)
}
