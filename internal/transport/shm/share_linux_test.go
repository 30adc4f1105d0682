package shm

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/conduit"
)

// TestMemory: what the ranks have allocated their peers map; nothing is left after Close.
func TestMemory(t *testing.T) {
	before := inventory(t)
	cs := inProcess(t, 3, conduit.Config{})
	var own [][]byte
	for i, c := range cs {
		mem, err := c.(conduit.Remote).Allocate(int64(5000 + i))
		if err != nil {
			t.Fatal(err)
		}
		mem[i] = byte(10 + i)
		own = append(own, mem)
	}
	var seen []byte
	for i, c := range cs {
		for peer, mem := range own {
			if peer == i {
				continue
			}
			k, _ := cs[peer].(conduit.Remote).Expose(i, mem)
			seen = nil
			for end := time.Now().Add(30 * time.Second); seen == nil && time.Now().Before(end); time.Sleep(100 * time.Microsecond) {
				var err error
				if seen, _, err = c.(conduit.Remote).Map(peer, k); err != nil {
					t.Fatal(err)
				}
			}
			if len(seen) != len(mem) || seen[peer] != byte(10+peer) || &seen[0] == &mem[0] {
				t.Errorf("rank %d sees %d bytes of rank %d", i, len(seen), peer)
			}
		}
	}
	for _, c := range cs {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if seen[1] != 0 {
		t.Error("the memory is still shared after Close")
	}
	if _, err := cs[0].(conduit.Remote).Allocate(100); !errors.Is(err, conduit.ErrClosed) {
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
	liar := endOf(cs[1])
	for name, lie := range map[string]struct {
		packet string
		f      *os.File
	}{
		"short":   {memoryWord + "1234", f},
		"unknown": {"what is this", f},
		"empty":   {memoryWord + strings.Repeat("\x00", 16), f},
	} {
		if err := sendPacket(liar.conns[0], []byte(lie.packet), lie.f); err != nil {
			t.Fatal(name, err)
		}
	}
	c := cs[0].(conduit.Remote)
	deadline := time.Now().Add(30 * time.Second)
	for err = nil; err == nil && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		_, _, err = c.Map(1, conduit.Key{Size: 8})
	}
	if !errors.Is(err, conduit.ErrUnreachable) {
		t.Errorf("empty memory: %v", err)
	}
	s := &endOf(cs[1]).shared // the same lies without a socket between
	for size, file := range map[uint64]*os.File{1 << 50: f, 1 << 20: f, 100: plain} {
		if err := s.addMapping(0, size, 1<<12, file); err == nil {
			t.Errorf("%d bytes: believed", size)
		}
	}
	if err := s.addMapping(0, 100, 1<<12, f); err != nil {
		t.Errorf("the truth: %v", err)
	}
	for _, k := range []conduit.Key{
		{Base: 1 << 12, Size: 101}, {Base: 1<<12 - 1, Size: 2}, {Base: 1<<12 + 99, Size: 2}, {Base: 1 << 12, Size: -1}, {Base: 1 << 63, Size: 1},
	} {
		if mem, _, err := cs[1].(conduit.Remote).Map(0, k); mem != nil {
			t.Errorf("%+v: %d bytes, %v", k, len(mem), err)
		}
	}
	if mem, _, err := cs[1].(conduit.Remote).Map(0, conduit.Key{Base: 1<<12 + 1, Size: 99}); len(mem) != 99 || err != nil {
		t.Errorf("%d bytes, %v", len(mem), err)
	}
	closeFiles(f, plain)
	for _, c := range cs {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if after := inventory(t); after != before {
		t.Errorf("before: %s\nafter: %s", before, after)
	}
}

// TestFileLimit: a limit on the size of files is an error. Without the check the kernel would end the process.
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
	_, made := createMemory(0, 2<<20)
	if e := unix.Setrlimit(unix.RLIMIT_FSIZE, &old); e != nil {
		t.Fatal(e)
	}
	for _, err := range []error{err, made} {
		var g *conduit.GrantError
		if !errors.As(err, &g) || g.Asked != 2<<20 || g.Granted != 1<<20 || !strings.Contains(g.Error(), "ulimit -f") {
			t.Errorf("%v", err)
		}
	}
}
