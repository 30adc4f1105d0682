package shm

import (
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/comm/conduit"
)

// segment waits for what peer has registered.
func segment(t *testing.T, c conduit.Conduit, peer int) []byte {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Microsecond) {
		mem, err := c.(conduit.Memory).Segment(peer)
		if err != nil {
			t.Fatal(err)
		}
		if mem != nil {
			return mem
		}
	}
	t.Fatalf("the memory of rank %d does not come", peer)
	return nil
}

// TestMemory: what one rank registers the others map; each has its own size, and nothing is left after Close.
func TestMemory(t *testing.T) {
	before := inventory(t)
	cs := inProcess(t, 3, conduit.Config{})
	for i, c := range cs {
		m := c.(conduit.Memory)
		if _, err := m.Register(1 << 60); !errors.Is(err, conduit.ErrGrant) {
			t.Errorf("too much: %v", err)
		}
		own, err := m.Register(int64(5000 + i))
		if err != nil || len(own) != 5000+i {
			t.Fatalf("%d bytes, %v", len(own), err)
		}
		own[i] = byte(10 + i)
		if _, err := m.Register(100); !errors.Is(err, conduit.ErrConfig) {
			t.Errorf("twice: %v", err)
		}
	}
	for i, c := range cs {
		for peer := range cs {
			mem := segment(t, c, peer)
			if len(mem) != 5000+peer || mem[peer] != byte(10+peer) {
				t.Errorf("rank %d sees %d bytes of rank %d, mark %d", i, len(mem), peer, mem[peer])
			}
		}
		if _, err := c.(conduit.Memory).Segment(3); !errors.Is(err, conduit.ErrUnreachable) {
			t.Errorf("rank 3 of 3: %v", err)
		}
	}
	mem := segment(t, cs[0], 1)
	if lost := cs[0].(conduit.Memory); lost.Lost(1).Load() || lost.Lost(3) != nil {
		t.Error("lost before anybody has closed, or a rank outside the job")
	}
	if err := cs[1].Close(); err != nil {
		t.Error(err)
	}
	for end := time.Now().Add(30 * time.Second); !cs[0].(conduit.Memory).Lost(1).Load(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("rank 1 has closed, and is not lost")
		}
	}
	for _, c := range cs {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if mem[1] != 0 {
		t.Error("the memory is still shared after Close")
	}
	if _, err := cs[0].(conduit.Memory).Register(100); !errors.Is(err, conduit.ErrConfig) && !errors.Is(err, conduit.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if after := inventory(t); after != before {
		t.Errorf("before: %s\nafter: %s", before, after)
	}
}

// TestMemoryLies: a peer that says something impossible of its memory is not believed, and the descriptors are closed.
func TestMemoryLies(t *testing.T) {
	before := inventory(t)
	cs := inProcess(t, 2, conduit.Config{})
	f, err := createMemory(1, os.Getpagesize())
	if err != nil {
		t.Fatal(err)
	}
	plain, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	liar := cs[1].(*end)
	for name, lie := range map[string]struct {
		packet string
		f      *os.File
	}{
		"short":   {memoryWord + "1234", f},
		"unknown": {"what is this", f},
		"empty":   {memoryWord + "\x00\x00\x00\x00\x00\x00\x00\x00", f},
	} {
		if err := sendPacket(liar.conns[0], []byte(lie.packet), lie.f); err != nil {
			t.Fatal(name, err)
		}
	}
	c := cs[0].(conduit.Memory)
	deadline := time.Now().Add(30 * time.Second)
	for err = nil; err == nil && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		_, err = c.Segment(1)
	}
	if !errors.Is(err, conduit.ErrUnreachable) {
		t.Errorf("empty memory: %v", err)
	}
	s := &cs[1].(*end).shared // the same lies without a socket between
	for size, file := range map[uint64]*os.File{1 << 50: f, 1 << 20: f, 100: plain} {
		if r := s.mapPeer(0, size, file); r.err == nil {
			t.Errorf("%d bytes: believed", size)
		}
	}
	if r := s.mapPeer(0, 100, f); r.err != nil || len(r.mem) != 100 {
		t.Errorf("the truth: %v", r.err)
	}
	closeFiles([]*os.File{f, plain})
	for _, c := range cs {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if after := inventory(t); after != before {
		t.Errorf("before: %s\nafter: %s", before, after)
	}
}

// TestFileLimit: a limit on the size of files is told, not run into: the kernel would end the process.
func TestFileLimit(t *testing.T) {
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	low := old
	low.Cur = 1 << 20
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &low); err != nil {
		t.Skipf("the limit cannot be set here: %v", err)
	}
	err := checkFile(2 << 20)
	if e := unix.Setrlimit(unix.RLIMIT_FSIZE, &old); e != nil {
		t.Fatal(e)
	}
	var g *conduit.GrantError
	if !errors.As(err, &g) || g.Asked != 2<<20 || g.Granted != 1<<20 {
		t.Errorf("%v", err)
	}
}
