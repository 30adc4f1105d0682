package lint

import (
	"go/ast"
	"strings"
	"testing"
)

// kernelWaits are the calls in which a thread may wait for the kernel, and the raw system calls, in which it keeps its
// processor meanwhile. The rule is: nobody who holds a lock of the message path waits so. A registration for membarrier
// under a lane's lock stopped each rank for 13 to 56 ms.
var kernelWaits = map[string]bool{
	"futex.Wait": true, "futex.RegisterMembarrier": true, "time.Sleep": true, "unix.Poll": true,
	"unix.RawSyscall": true, "unix.RawSyscall6": true, "unix.Syscall": true, "unix.Syscall6": true,
}

// messagePath are the directories whose locks a message takes.
var messagePath = []string{
	"am", "comm", "conduit", "fult", "internal/platform/futex", "internal/platform/spin", "internal/progress",
	"internal/request", "internal/schedule", "internal/transport", "mpi/internal/shmcoll", "mpi/internal/coll",
	"mpi/internal/core", "rank",
	"mpi/internal/arena", "mpi/internal/coll", "mpi/internal/contextid",
}

// mayWait are the functions of the message path that make such calls, and why each may.
var mayWait = map[string]string{
	"am/hsl acquireLater":                       "the naps of a goroutine that waits for a lock of HSL",
	"rank launcherLost":                         "at the end of the rank",
	"rank abortProcess":                         "at the end of the rank",
	"rank/internal/ending Settle":               "at the end of the rank",
	"am/rma mapShared":                          "the first use of a peer's memory, without a lock",
	"fult napFor":                               "an idle worker",
	"fult Sleep":                                "the caller sleeps, by its own wish",
	"internal/transport/local New":              "the start",
	"internal/transport/ofi windDown":           "the end, between two looks under the lock",
	"internal/transport/ring endCopies":         "the end, before it has the lock",
	"internal/transport/shm Lacks":              "the start",
	"internal/transport/shm New":                "the start",
	"internal/transport/shm answerCalls":        "the door's own goroutine",
	"internal/transport/shm Wait":               "a server that has left its locks to sleep",
	"internal/transport/shm dead":               "a poll with no timeout",
	"internal/transport/udp Report":             "the dump, before it has the locks",
	"internal/transport/udp waitFor":            "whoever waits for the lock does not hold it",
	"internal/transport/udp/mmsg bind":          "the start",
	"internal/transport/udp/mmsg connectSocket": "the start",
	"internal/transport/udp/mmsg callWith":      "a call with MSG_DONTWAIT",
	"internal/transport/udp/mmsg permitted":     "the start",
	"internal/transport/udp/mmsg reader":        "the pump's own goroutine",
	"internal/transport/udp/mmsg recvfrom":      "a call with MSG_DONTWAIT",
	"internal/transport/udp/mmsg sendmmsg":      "a call with MSG_DONTWAIT",
	"internal/transport/udp/mmsg readable":      "a poll with no timeout",
	"internal/platform/futex Wait":              "the wait itself",
	"internal/platform/futex Wake":              "a wake-up does not wait",
	"internal/platform/futex membarrier":        "an expedited barrier waits for no grace period",
	"internal/platform/futex registerFor":       "a goroutine of its own",
	"mpi/internal/coll makeShm":                 "the making of a communicator, without a lock",
}

// waitsOf are the functions of f that may wait for the kernel, by name.
func waitsOf(f goFile) (found []string) {
	for _, d := range f.ast.Decls {
		d, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		waits := false
		ast.Inspect(d, func(n ast.Node) bool {
			pkg, name, ok := selector(n)
			waits = waits || ok && kernelWaits[pkg+"."+name]
			return true
		})
		if waits {
			found = append(found, d.Name.Name)
		}
	}
	return found
}

// TestWaitsForTheKernel: each function of the message path that may wait for the kernel is listed with its reason.
func TestWaitsForTheKernel(t *testing.T) {
	there := make(map[string]bool)
	for _, f := range goFiles(t) {
		if f.isTest() || !anyUnder(f.dir(), messagePath) {
			continue
		}
		for _, name := range waitsOf(f) {
			where := f.dir() + " " + name
			there[where] = true
			if mayWait[where] == "" {
				t.Errorf("%s: %s may wait for the kernel: %q is not in mayWait", f.name, name, where)
			}
		}
	}
	for where := range mayWait {
		if !there[where] {
			t.Errorf("mayWait lists %q, which does not wait", where)
		}
	}
}

// TestWaitsOf: a call is found in a function, a closure and a method, and no other call is.
func TestWaitsOf(t *testing.T) {
	f, err := parse("a/b.go", []byte(`package b
func f() { go func() { time.Sleep(1) }() }
func (x y) g() bool { return futex.RegisterMembarrier() }
func h() { time.Now(); futex.Wake(w, 1) }`))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(waitsOf(f), " "); got != "f g" {
		t.Errorf("found %q, want %q", got, "f g")
	}
}
