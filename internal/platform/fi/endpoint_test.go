//go:build ofi && linux && (amd64 || arm64)

package fi

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/golci/golci/internal/platform/dl"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func library(t testing.TB) *Library {
	t.Helper()
	l, err := Load()
	if errors.Is(err, dl.ErrMissing) {
		t.Skipf("%v (Debian: libfabric1)", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// providers are those of the tests.
var providers = []Want{
	{Provider: "shm"},
	{Provider: "tcp;ofi_rxm", Domain: "lo"},
	{Provider: "net", Domain: "lo"},
	{Provider: "tcp", Domain: "lo"},
}

func find(t testing.TB, w Want) *Info {
	t.Helper()
	i, err := library(t).Find(w)
	if errors.Is(err, ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// memory gives n bytes outside of the Go heap.
func memory(t testing.TB, n int) []byte {
	t.Helper()
	m, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(m) })
	return m
}

func addr(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

const longest = 4096

func open(t testing.TB, w Want) *Endpoint {
	t.Helper()
	e, err := find(t, w).Open(1024, 2, longest)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// next polls both until an operation at e is over.
func next(t testing.TB, e, other *Endpoint) Completion {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		other.Read(0)
		got, code := e.Read(1)
		if code == 0 && len(got) == 1 {
			return got[0]
		}
		if code == -Available {
			_, err, _ := e.Failure()
			t.Fatal(err)
		}
	}
	t.Fatal("nothing has come")
	return Completion{}
}

// again repeats what has no room.
func again(t testing.TB, f func() int, es ...*Endpoint) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		switch code := f(); code {
		case 0:
			return
		case -Again:
			for _, e := range es {
				e.Read(0)
			}
		default:
			t.Fatalf("code %d", code)
		}
	}
	t.Fatal("no room")
}

// TestEndpoint sends a message, injects one, and reads and writes memory of the other, over each provider.
func TestEndpoint(t *testing.T) {
	for _, w := range providers {
		t.Run(w.Provider, func(t *testing.T) { exchange(t, w) })
	}
}

func exchange(t *testing.T, w Want) {
	a, b := open(t, w), open(t, w)
	defer func() {
		if err := errors.Join(a.Close(), b.Close()); err != nil {
			t.Error(err)
		}
	}()
	name, err := b.Name()
	if err != nil {
		t.Fatal(err)
	}
	to, err := a.Insert(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v at %s, wait descriptor %d", *b.Info, b.Address(name), b.WaitFD)
	// In each: 64 bytes of context, 64 to send, and the rest to receive.
	ma, mb := memory(t, 1<<16), memory(t, 1<<16)
	ra, err := a.Register(addr(ma), len(ma), 1, false)
	if err != nil {
		t.Fatal(err)
	}
	rb, err := b.Register(addr(mb), len(mb), 1, true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(a.Forget(ra), b.Forget(rb)); err != nil {
			t.Error(err)
		}
	}()
	if code := b.Post(addr(mb)+128, 1<<15, rb.Desc, addr(mb)); code != 0 {
		t.Fatal(code)
	}
	copy(ma[64:], "sent and injected")
	again(t, func() int { return a.Send(addr(ma)+64, 8, ra.Desc, to, addr(ma)) }, a, b)
	if c := next(t, b, a); c.Len != 8 || c.Flags&Recv == 0 || c.Context != addr(mb) || string(mb[128:136]) != "sent and" {
		t.Errorf("%+v, %q", c, mb[128:136])
	}
	if c := next(t, a, b); c.Context != addr(ma) {
		t.Errorf("%+v", c)
	}
	if !b.Info.MultiRecv {
		return
	}
	again(t, func() int { return a.Inject(addr(ma)+72, 9, to) }, a, b)
	if c := next(t, b, a); c.Len != 9 || c.Buf == 0 || !strings.HasPrefix(string(mb[c.Buf-addr(mb):]), " injected") {
		t.Errorf("%+v", c)
	}
	there := uint64(0)
	if b.Info.VirtAddr {
		there = uint64(addr(mb))
	}
	again(t, func() int { return a.WriteTo(addr(ma)+64, 4, ra.Desc, to, there+60000, rb.Key, addr(ma)) }, a, b)
	if c := next(t, a, b); c.Context != addr(ma) || string(mb[60000:60005]) != "sent\x00" {
		t.Errorf("%+v, %q", c, mb[60000:60005])
	}
	again(t, func() int { return a.ReadFrom(addr(ma)+200, 17, ra.Desc, to, there+60000-5, rb.Key, addr(ma)) }, a, b)
	want := "\x00\x00\x00\x00\x00sent" + strings.Repeat("\x00", 8)
	if c := next(t, a, b); c.Context != addr(ma) || string(ma[200:217]) != want {
		t.Errorf("%+v, %q", c, ma[200:217])
	}
}

func TestNoSuchProvider(t *testing.T) {
	_, err := library(t).Find(Want{Provider: "nosuch", Domain: "none0"})
	if !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "nosuch") || !strings.Contains(err.Error(), "none0") {
		t.Errorf("%v", err)
	}
}

// TestTables: an entry beyond the length that a table tells, or that is empty, is an error and not called.
func TestTables(t *testing.T) {
	table := memory(t, 4096)
	*memoryAt[uintptr](addr(table)) = 24
	*memoryAt[uintptr](addr(table) + 16) = 5
	for place, ok := range map[uintptr]bool{8: false, 16: true, 24: false, 4000: false} {
		if fn, err := operationAt(addr(table), place); (err == nil) != ok || ok && fn != 5 {
			t.Errorf("at %d: %d, %v", place, fn, err)
		}
	}
	if _, err := operationAt(0, 8); !errors.Is(err, errTable) {
		t.Error(err)
	}
}

// TestRefusesToCrash: ofi_rxd dies of buffers for several messages, so it is never given one.
func TestRefusesToCrash(t *testing.T) {
	if i := find(t, Want{Provider: "udp;ofi_rxd", Domain: "lo"}); i.MultiRecv {
		t.Errorf("%+v", i)
	} else {
		i.Free()
	}
}

// TestReadNoAllocation: a read allocates nothing.
func TestReadNoAllocation(t *testing.T) {
	e := open(t, Want{Provider: "shm"})
	if n := testing.AllocsPerRun(100, func() { e.Read(16) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// BenchmarkEmptyRead is a look at a queue in which there is nothing.
func BenchmarkEmptyRead(b *testing.B) {
	for _, w := range providers {
		b.Run(fmt.Sprint("provider=", w.Provider), func(b *testing.B) {
			e := open(b, w)
			for b.Loop() {
				e.Read(16)
			}
			if err := e.Close(); err != nil {
				b.Error(err)
			}
		})
	}
}
