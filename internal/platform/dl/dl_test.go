//go:build (ofi || pmix) && linux && (amd64 || arm64)

package dl

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	if os.Getenv(childOf) != "" {
		child()
	}
	goleak.VerifyTestMain(m)
}

// childOf names the library that a child of the tests opens before it goes wrong. With childLoud it does so without the
// variables that keep providers quiet.
const (
	childOf   = "GOLCI_DL_TEST_CHILD"
	childLoud = "GOLCI_DL_TEST_LOUD"
)

const fabric = "libfabric.so.1"

// child opens the library and then dereferences nil, which Go must make a panic of, and sends itself SIGTERM.
func child() {
	if os.Getenv(childLoud) != "" {
		quiet = nil
	}
	if _, err := Open(os.Getenv(childOf)); err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(3)
	}
	defer func() {
		if e, ok := recover().(runtime.Error); !ok || !strings.Contains(e.Error(), "nil pointer") {
			os.Stderr.WriteString("no panic of Go")
			os.Exit(4)
		}
		term := make(chan os.Signal, 1)
		signal.Notify(term, unix.SIGTERM)
		if err := unix.Kill(os.Getpid(), unix.SIGTERM); err != nil {
			os.Exit(5)
		}
		<-term
		os.Stdout.WriteString("whole")
		os.Exit(0)
	}()
	var p *int
	*p = 1
}

// library opens one, or skips the test.
func library(t testing.TB, name string) *Library {
	t.Helper()
	l, err := Open(name)
	if errors.Is(err, ErrMissing) {
		t.Skipf("%v (Debian: libfabric1)", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestSignalsSurvive: in a process that has opened libfabric, a nil dereference is still a panic, and SIGTERM still
// comes through os/signal. A loud child lets the providers replace the handlers, so that these must be put back.
func TestSignalsSurvive(t *testing.T) {
	library(t, fabric)
	for _, loud := range []string{"", "loud"} {
		cmd := exec.Command(os.Args[0])
		for _, v := range os.Environ() {
			if name, _, _ := strings.Cut(v, "="); quiet[name] == "" {
				cmd.Env = append(cmd.Env, v)
			}
		}
		cmd.Env = append(cmd.Env, childOf+"="+fabric, childLoud+"="+loud)
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != "whole" {
			t.Errorf("child %q: %v, %s", loud, err, out)
		}
	}
}

// TestKeepHandlers: a handler that f has replaced is put back, and no other is touched.
func TestKeepHandlers(t *testing.T) {
	const victim = int(unix.SIGURG)
	var before, within, after sigaction
	handler(victim, nil, &before)
	KeepHandlers(func() {
		x := before
		x.mask ^= 1 << 20
		handler(victim, &x, nil)
		handler(victim, nil, &within)
	})
	handler(victim, nil, &after)
	if before == within || before != after {
		t.Errorf("before %+v, within %+v, after %+v", before, within, after)
	}
}

func TestMissing(t *testing.T) {
	_, err := Open("libnosuch.so.1", "libnosuch.so")
	if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "libnosuch.so.1") ||
		!strings.Contains(err.Error(), "libnosuch.so:") {
		t.Errorf("%v", err)
	}
	_, err = library(t, "libc.so.6").Symbol("no_such_function")
	if err == nil || !strings.Contains(err.Error(), "no_such_function") {
		t.Errorf("%v", err)
	}
}

// Not on a stack, which may move.
var buf, format = make([]byte, 100), []byte("%ld %ld %ld %ld %ld %ld\x00")

// TestArguments: all nine arguments come where C looks for them. snprintf prints six of its variable ones.
func TestArguments(t *testing.T) {
	at, err := library(t, "libc.so.6").Symbol("snprintf")
	if err != nil {
		t.Fatal(err)
	}
	f := Frame{Fn: at}
	f.Arg = [Args]uintptr{
		uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), uintptr(unsafe.Pointer(&format[0])),
		1, 22, 333, 4444, 55555, ^uintptr(5),
	}
	const want = "1 22 333 4444 55555 -6"
	if n := f.Int32(); n != len(want) || string(buf[:n]) != want {
		t.Errorf("%d: %q", n, buf)
	}
}

func version(t testing.TB) uintptr {
	at, err := library(t, fabric).Symbol("fi_version")
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestNoAllocation(t *testing.T) {
	at := version(t)
	if n := testing.AllocsPerRun(1000, func() {
		f := Frame{Fn: at}
		f.Do()
	}); n != 0 {
		t.Errorf("%v allocations a call", n)
	}
}

// BenchmarkCall is a call of a function that does nothing.
func BenchmarkCall(b *testing.B) {
	at := version(b)
	b.ReportAllocs()
	for b.Loop() {
		f := Frame{Fn: at}
		f.Do()
	}
}
