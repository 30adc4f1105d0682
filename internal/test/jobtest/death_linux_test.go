package jobtest

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/golci/golci/am/barrier"
	"github.com/golci/golci/am/rma"
	"github.com/golci/golci/comm"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/test/ofitest"
	"github.com/golci/golci/internal/transport/shm"
	"github.com/golci/golci/internal/transport/udp"
	"github.com/golci/golci/mpi"
)

const (
	floodVar = "GOLCI_TEST_DEATH_FLOOD" // set: rank 2 floods rank 0
	floodTag = 9
	mournFor = 30 * time.Second // at most
)

// roleMourn has rank 0 wait for rank 1, which is killed, in each way; rank 2 may flood rank 0. The launcher asks all to
// end 50 ms after the death. They do not, so that it is seen what they find out by themselves.
func roleMourn(c *mpi.Comm) error {
	signal.Ignore(syscall.SIGTERM)
	flood := os.Getenv(floodVar) != ""
	switch c.Rank() {
	case 0:
		return mourn(c, flood)
	case 2:
		if err := mourning.barrier.Notify(1, barrier.Named); err != nil {
			return err
		}
		for flood {
			if err := mpi.Send(c, []int{1}, 0, floodTag); err != nil {
				return err
			}
		}
	}
	time.Sleep(mournFor)
	return nil
}

func mourn(c *mpi.Comm, flood bool) error {
	var flooded atomic.Int64
	if flood {
		go func() {
			for b := make([]int, 1); ; flooded.Add(1) {
				if _, err := mpi.Recv(c, b, 2, floodTag); err != nil {
					return
				}
			}
		}()
	}
	recv := func(tag int) error { _, err := mpi.Recv(c, make([]int, 1), 1, tag); return err }
	for what, wait := range map[string]func() error{
		"receive": func() error { return recv(1) },
		"probe":   func() error { _, err := c.Probe(1, 2); return err },
		"send":    func() error { return mpi.Ssend(c, []int{1}, 1, 3) },
		"later": func() error {
			_ = recv(4) // the one that counts begins when the death is known
			return recv(5)
		},
		"counter": func() error { return mourning.counters.WaitCounter(0, 1, 1) },
		"barrier": func() error { return mourning.barrier.Enter(1, barrier.Named) },
	} {
		go func() {
			if err := wait(); errors.Is(err, mpi.ErrPeer) {
				fmt.Printf("known: %s at %d: %v\n", what, time.Now().UnixNano(), err)
			} else {
				fmt.Printf("not known: %s: %v\n", what, err)
			}
		}()
	}
	for start := time.Now(); time.Since(start) < 100*time.Millisecond || flood && flooded.Load() < 1000; {
		time.Sleep(time.Millisecond)
	}
	fmt.Println("waits")
	time.Sleep(mournFor)
	return nil
}

// mourning is what a rank has below MPI, made before any message can arrive.
var mourning struct {
	barrier  *barrier.Barrier
	counters *rma.Memory
}

func makeMourning(srv *comm.Server) (err error) {
	e := srv.Endpoint()
	if mourning.barrier, err = barrier.New(e); err == nil {
		mourning.counters, err = rma.New(e, rma.Config{SegmentSize: 64, Counters: 1})
	}
	return err
}

var knownLine = regexp.MustCompile(`(?m)^known: (\w+) at (\d+): (.*)\n`)

// known waits until rank 0 has told of all ways, and returns when, and one of the errors.
func (j *job) known(ways int) (at map[string]time.Time, why string) {
	j.t.Helper()
	for end := time.Now().Add(withinLimit); ; time.Sleep(time.Millisecond) {
		all := knownLine.FindAllStringSubmatch(j.out.String(), -1)
		if len(all) == ways {
			at = map[string]time.Time{}
			for _, m := range all {
				ns, _ := strconv.ParseInt(m[2], 10, 64)
				at[m[1]], why = time.Unix(0, ns), m[3]
			}
			return at, why
		}
		if time.Now().After(end) {
			j.t.Fatalf("after %v only %d of %d know\n%s", withinLimit, len(all), ways, j.all())
		}
	}
}

// networks are those that only some builds have. A job that spans nodes has shm beside them.
var networks = ofitest.Networks()

// TestDeathOfAProcess kills the process of a rank. What waits for that rank ends soon, over any conduit, at any
// spinning time and under any other traffic. The times are logged; 100 ms are promised.
func TestDeathOfAProcess(t *testing.T) {
	path, err := launcher()
	if err != nil {
		t.Fatal(err)
	}
	// Two machines that are one: the remote shell only drops the machine's name.
	hosts := []string{"-rsh", "sh -c 'exec sh' sh", "-golci", path, "-env", settings.UDPInterfaces.Env() + "=127.0.0.1"}
	auto := settings.Conduit.Env() + "=auto"
	type carried struct {
		name  string
		flags []string
	}
	all := []carried{
		{"shm", []string{"-n", "3", "-env", settings.Conduit.Env() + "=" + shm.Name}},
		{"udp", []string{"-n", "3", "-env", settings.Conduit.Env() + "=" + udp.Name}},
		{"mixed, on the same node", slices.Concat([]string{"-hosts", "a:2,b:1", "-env", auto}, hosts)},
		{"mixed, on another node", slices.Concat([]string{"-hosts", "a:1,b:2", "-env", auto}, hosts)},
	}
	for _, n := range networks {
		named := settings.Conduit.Env() + "=" + n
		all = append(all, carried{n, []string{"-n", "3", "-env", named}},
			carried{n + " and shm", slices.Concat([]string{"-hosts", "a:1,b:2", "-env", named}, hosts)})
	}
	for _, c := range all {
		for _, spin := range []string{"0s", "50us", "30s"} {
			for _, flood := range []string{"", "1"} {
				t.Run(fmt.Sprintf("%s/spin=%s/flood=%v", c.name, spin, flood != ""), func(t *testing.T) {
					args := slices.Concat([]string{"run"}, c.flags, []string{
						"-grace", "30s", "-env", roleVar + "=mourn", "-env", floodVar + "=" + flood,
						"-env", settings.Spin.Env() + "=" + spin, os.Args[0],
					})
					j := golci(t, args...).start()
					j.await(1, "waits")
					start := time.Now()
					if err := syscall.Kill(j.pids(3)[1], syscall.SIGKILL); err != nil {
						t.Fatal(err)
					}
					var took []string
					known, why := j.known(6)
					for what, at := range known {
						took = append(took, fmt.Sprintf("%s %v", what, at.Sub(start).Round(100*time.Microsecond)))
					}
					slices.Sort(took)
					t.Logf("%s: %s", strings.Join(took, ", "), why)
					if err := j.cmd.Process.Kill(); err != nil { // which ends the others
						t.Fatal(err)
					}
					j.wait()
				})
			}
		}
	}
}
