package fult

import (
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/internal/platform/futex"
)

// board is memory shared by two processes: a mail word for each, on which its workers also sleep.
type board struct {
	mail [2]struct {
		count  atomic.Uint32 // messages so far
		bell   atomic.Uint32 // changes with every reason to wake
		asleep atomic.Uint32
		_      [52]byte
	}
}

// ring wakes side if it sleeps.
func (b *board) ring(side int) {
	m := &b.mail[side]
	m.bell.Add(1)
	if m.asleep.Load() != 0 {
		futex.Wake(&m.bell, 1)
	}
}

// post gives side its next mail.
func (b *board) post(side int) {
	b.mail[side].count.Add(1)
	b.ring(side)
}

// boardPoller signals a thread when there is mail.
type boardPoller struct {
	b    *board
	side int
	seen uint32 // of the one worker
	who  atomic.Pointer[Thread]
}

func (p *boardPoller) Poll(w *Worker) int {
	who := p.who.Load()
	n := p.b.mail[p.side].count.Load()
	if who == nil || n == p.seen {
		return 0
	}
	p.seen = n
	w.Signal(who)
	return 1
}

func (p *boardPoller) Sleep(d time.Duration, ready func() bool) bool {
	m := &p.b.mail[p.side]
	m.asleep.Store(1)
	bell := m.bell.Load()
	if m.count.Load() == p.seen && !ready() {
		futex.Wait(&m.bell, bell, d)
	}
	m.asleep.Store(0)
	return true
}

func (p *boardPoller) Wake() { p.b.ring(p.side) }

const (
	boardEnv   = "FULT_TEST_BOARD"
	boardTurns = 2000
)

// TestSignalsFromAnotherProcess plays ping-pong with a second process. The workers sleep in shared memory at once, so
// the kernel carries every wake-up.
func TestSignalsFromAnotherProcess(t *testing.T) {
	if os.Getenv(boardEnv) != "" {
		playBoard(t, mapBoard(t, 3), 1)
		return
	}
	fd, err := unix.MemfdCreate("board", 0)
	if err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(fd), "board")
	defer file.Close()
	if err := file.Truncate(int64(unsafe.Sizeof(board{}))); err != nil {
		t.Fatal(err)
	}
	other := exec.Command(os.Args[0], "-test.run=^TestSignalsFromAnotherProcess$", "-test.timeout=60s")
	other.Env = append(os.Environ(), boardEnv+"=1")
	other.ExtraFiles = []*os.File{file}
	other.Stderr = os.Stderr
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	playBoard(t, mapBoard(t, fd), 0)
	if err := other.Wait(); err != nil {
		t.Errorf("the other process: %v", err)
	}
}

func mapBoard(t *testing.T, fd int) *board {
	t.Helper()
	mem, err := unix.Mmap(fd, 0, int(unsafe.Sizeof(board{})), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(mem) })
	return (*board)(unsafe.Pointer(unsafe.SliceData(mem)))
}

// playBoard sends its k-th message when it has the other side's, side 0 first.
func playBoard(t *testing.T, b *board, side int) {
	t.Helper()
	s, err := New(Config{Spin: -1, coroutines: true})
	if err != nil {
		t.Fatal(err)
	}
	p := &boardPoller{b: b, side: side}
	if err := s.SetPoller(p); err != nil {
		t.Fatal(err)
	}
	h := spawn(t, s, func(th *Thread) {
		p.who.Store(th)
		for k := range uint32(boardTurns) {
			if side == 0 {
				b.post(1)
			}
			for b.mail[side].count.Load() <= k {
				th.Wait()
			}
			if got := b.mail[side].count.Load(); got != k+1 {
				t.Errorf("message %d came before its time", got)
			}
			if side == 1 {
				b.post(0)
			}
		}
	})
	join(t, h)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
