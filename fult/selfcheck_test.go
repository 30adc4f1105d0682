package fult

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/internal/platform/arch"
)

type seq = iter.Seq[struct{}]

// maker is what iter.Pull is.
type maker func(seq) (next func() (struct{}, bool), stop func())

// replaceCoroutines makes coroutines by f until the test's end. No scheduler of coroutines may run meanwhile.
func replaceCoroutines(t *testing.T, f maker) {
	t.Helper()
	was := newCoroutine
	newCoroutine = f
	t.Cleanup(func() { newCoroutine = was })
}

// wrapped is iter.Pull with both functions replaced. made is who has made the coroutine, own is its goroutine.
func wrapped(
	next func(made uintptr, f func() (struct{}, bool)) (struct{}, bool), yield func(own uintptr, f func() bool) bool,
) maker {
	return func(s seq) (func() (struct{}, bool), func()) {
		made := arch.G()
		n, stop := iter.Pull(func(y func(struct{}) bool) {
			own := arch.G()
			s(func(v struct{}) bool { return yield(own, func() bool { return y(v) }) })
		})
		return func() (struct{}, bool) { return next(made, n) }, stop
	}
}

func plainNext(_ uintptr, f func() (struct{}, bool)) (struct{}, bool) { return f() }

func plainYield(_ uintptr, f func() bool) bool { return f() }

func TestSelfCheckPasses(t *testing.T) {
	for range 100 {
		if err := tryCoroutines(); err != nil {
			t.Fatal(err)
		}
	}
	if err := selfCheck(); err != nil {
		t.Errorf("%v; if all tests pass with this release, it is the newest tested", err)
	}
}

// TestScriptCoversEveryRest: goroutines rest in all the ways that the script promises.
func TestScriptCoversEveryRest(t *testing.T) {
	seen := map[string]int{}
	replaceCoroutines(t, func(s seq) (func() (struct{}, bool), func()) {
		var own uintptr
		loop := arch.G()
		caller := func() string {
			switch arch.G() {
			case own:
				return "own"
			case loop:
				return "loop"
			}
			return "other"
		}
		n, stop := iter.Pull(func(y func(struct{}) bool) {
			own = arch.G()
			s(func(v struct{}) bool {
				c := caller()
				seen["yield "+c]++
				alive := y(v)
				if !alive {
					seen["ended below yield "+c]++
				}
				return alive
			})
		})
		return func() (struct{}, bool) {
			c := caller()
			seen["next "+c]++
			v, alive := n()
			if !alive {
				seen["ended below next "+c]++
			}
			return v, alive
		}, stop
	})
	if err := tryCoroutines(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"next loop", "next other", "next own", "yield loop", "yield other", "yield own",
		"ended below next other", "ended below yield other", "ended below yield loop",
	} {
		if seen[want] == 0 {
			t.Errorf("nobody rests as %q: %v", want, seen)
		}
	}
}

const faultEnv = "FULT_TEST_FAULT"

// faults are coroutines of releases that do less than threads need, and what the check says of them.
func faults() map[string]struct {
	want string
	make maker
} {
	var block atomic.Bool
	return map[string]struct {
		want string
		make maker
	}{
		"next": {"next by a stranger", wrapped(
			func(made uintptr, f func() (struct{}, bool)) (struct{}, bool) {
				if arch.G() != made {
					panic("next by a stranger")
				}
				return f()
			}, plainYield)},
		"yield": {"yield by a stranger", wrapped(plainNext,
			func(own uintptr, f func() bool) bool {
				if arch.G() != own {
					panic("yield by a stranger")
				}
				return f()
			})},
		"switch blocks": {"has not come back", wrapped(
			func(_ uintptr, f func() (struct{}, bool)) (struct{}, bool) {
				if block.Swap(true) {
					select {}
				}
				return f()
			}, plainYield)},
		"Goexit spreads": {"ended by Goexit of a coroutine", wrapped(plainNext,
			func(_ uintptr, f func() bool) bool {
				alive := f()
				if !alive && strings.Contains(string(debug.Stack()), ".beginTrial(") {
					runtime.Goexit()
				}
				return alive
			})},
	}
}

// TestSelfCheckFinds: a release that does less than threads need is found, and the process goes on. It is a process of
// its own, because the goroutines of a failed trial stay.
func TestSelfCheckFinds(t *testing.T) {
	if name := os.Getenv(faultEnv); name != "" {
		trialLimit = 100 * time.Millisecond
		newCoroutine = faults()[name].make
		fmt.Println("found:", tryCoroutines())
		os.Exit(0)
	}
	for name, c := range faults() {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSelfCheckFinds$", "-test.timeout=60s")
		cmd.Env = append(os.Environ(), faultEnv+"="+name)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "found: ") || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %v: %s, want %q", name, err, out, c.want)
		}
	}
}

// TestSelfCheckKnowsWhoRuns: another goroutine than the one that the script names is found.
func TestSelfCheckKnowsWhoRuns(t *testing.T) {
	for letter := byte('a'); letter <= 'c'; letter++ {
		tr := &trial{at: 2 * (1 + strings.Index(script, "-b")/2)}
		me := tr.findNamed(letter)
		me.g = arch.G()
		tr.w.cur, tr.w.curG = me, me.g
		func() {
			defer func() {
				if wrong := recover() != nil; wrong != (letter != 'b') {
					t.Errorf("%c runs where b should: found %v", letter, wrong)
				}
			}()
			tr.expectTurn(me)
		}()
	}
}

func TestCheckRelease(t *testing.T) {
	for release, allowed := range map[string]bool{
		"go1.26": true, "go1.26.8": true, "go1.27.4": true, "go1.27rc1": true, "go1.27.4 X:nocoverageredesign": true,
		"go1.26.8-vendor": true,
		"go1.28":          false, "go1.28rc1": false, "go1.28-devel_0123456 Mon": false, "go2.0": false, "devel +0123456": false,
		"gccgo": false, "": false,
	} {
		if err := checkRelease(release); (err == nil) != allowed {
			t.Errorf("%q: %v, want allowed: %v", release, err, allowed)
		}
	}
}

// TestNewestTestedIsInTheGate: the newest release that is taken for tested is one that the gate runs tests with.
func TestNewestTestedIsInTheGate(t *testing.T) {
	script, err := os.ReadFile("../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^releases=\(.*\b(go1\.\d+)\.\d+\)`).FindSubmatch(script)
	if found == nil || string(found[1]) != newestTested {
		t.Errorf("the gate runs %q, and the newest tested is %s", found, newestTested)
	}
}

// TestRefusedRelease: where the check refuses the release, threads are goroutines and work, unless the program insists.
func TestRefusedRelease(t *testing.T) {
	was := selfCheck
	selfCheck = func() error { return errors.New("refused by a test") }
	t.Cleanup(func() { selfCheck = was })
	told := captureWarning(t, func() {
		s := open(t, Config{Workers: 2})
		if s.Kind() != Goroutines {
			t.Errorf("threads are of kind %v", s.Kind())
		}
		runRing(t, s, rand.New(rand.NewPCG(seed(t), 3)), 2000)
		checkAsThread(t, s)
		open(t, Config{})
	})
	if want := "golci: threads are goroutines, not coroutines: refused by a test\n"; told != want && !raceEnabled {
		t.Errorf("the user is told %q, want %q", told, want)
	}
	if kind, err := (Config{Unchecked: true}).Effective(); !raceEnabled && (kind != Fult || err != nil) {
		t.Errorf("unchecked: %v, %v", kind, err)
	}
}

// checkAsThread runs what threads can do on one thread of s.
func checkAsThread(t *testing.T, s *Scheduler) {
	var mu Mutex
	join(t, spawn(t, s, func(th *Thread) {
		if Current() != th {
			t.Error("a thread does not know itself")
		}
		mu.Lock(th)
		th.Yield()
		th.Sleep(time.Microsecond)
		Blocking(th, runtime.Gosched)
		th.Signal()
		th.Wait()
		if err := mu.Unlock(th); err != nil {
			t.Error(err)
		}
	}))
	var failed *PanicError
	if err := spawn(t, s, func(*Thread) { panic("boom") }).Join(); !errors.As(err, &failed) {
		t.Errorf("a panic became %v", err)
	}
}

// captureWarning returns what f writes to standard error, with the warning not yet told.
func captureWarning(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	was := os.Stderr
	os.Stderr, warnOnce = w, sync.Once{}
	f()
	os.Stderr = was
	w.Close()
	defer r.Close()
	text := make([]byte, 4096)
	n, _ := r.Read(text)
	return string(text[:n])
}

// TestProgramOfANewerRelease builds a program that takes its release for a new one: it says so once, and works.
func TestProgramOfANewerRelease(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("builds a program; the race detector has goroutines only")
	}
	bin := t.TempDir() + "/newer"
	flags := "-X github.com/golci/golci/fult.newestTested=go1.20"
	build := exec.Command("go", "build", "-ldflags", flags, "-o", bin, "./testdata/planted")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, bin, "mended").CombinedOutput()
	want := "golci: threads are goroutines, not coroutines: " + runtime.Version() +
		" is newer than go1.20, the newest tested\n"
	if err != nil || string(out) != want {
		t.Errorf("%v: %q, want %q", err, out, want)
	}
}
