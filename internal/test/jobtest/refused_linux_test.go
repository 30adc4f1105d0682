package jobtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/mpi"
)

// roleTalk passes messages of all protocols to and fro between two ranks, from the main goroutine and from a thread.
func roleTalk(c *mpi.Comm) error {
	if err := talk(c, 0); err != nil {
		return err
	}
	var err error
	h, started := c.Proc().Go(func() { err = talk(c, 1) })
	if started != nil {
		return started
	}
	if err := errors.Join(h.Join(), err, c.Barrier()); err != nil {
		return err
	}
	fmt.Printf("rank %d of %d done\n", c.Rank(), c.Size())
	return nil
}

func talk(c *mpi.Comm, tag int) error {
	peer := 1 - c.Rank()
	for _, size := range []int{8, 5000, 100_000, 1 << 20} {
		for round := range 3 {
			want := bytes.Repeat([]byte{byte(size>>3 + round)}, size)
			got := make([]byte, size)
			r, err := mpi.Irecv(c, got, peer, tag)
			if err != nil {
				return err
			}
			if err := mpi.Send(c, want, peer, tag); err != nil {
				return err
			}
			if _, err := r.Wait(); err != nil {
				return err
			}
			if !bytes.Equal(got, want) {
				return fmt.Errorf("%d bytes: %w", size, errWrong)
			}
		}
	}
	return nil
}

// refusal is something that a job may have to do without.
type refusal struct {
	conduit string
	confine string // as confineVar has it, with ERRNO for each error in turn
	ranks   bool   // the launcher is not confined
	want    string // in the message with which the job ends; "": it works
}

var refusals = []refusal{
	{conduit: "shm", confine: "refuse:process_vm_readv:ERRNO"},
	{conduit: "shm", confine: "refuse:process_vm_writev:ERRNO"},
	{conduit: "shm", confine: "rank:1 refuse:process_vm_readv:ERRNO", ranks: true},
	{conduit: "shm", confine: "rank:1 refuse:process_vm_writev:ERRNO", ranks: true},
	{conduit: "shm", confine: "refuse:pidfd_open:ERRNO"},
	{conduit: "shm", confine: "refuse:membarrier:ERRNO"},
	{conduit: "shm", confine: "rank:1 refuse:membarrier:ERRNO", ranks: true},
	{conduit: "shm", confine: "refuse:sysinfo:ERRNO refuse:prlimit64:ERRNO"},
	{conduit: "shm", confine: "refuse:memfd_create:ERRNO", want: "memfd_create"},
	{conduit: "shm", confine: "rank:1 refuse:memfd_create:ERRNO", ranks: true, want: "rank 1 of 2: memfd_create"},
	{conduit: "shm", confine: "refuse:ftruncate:ERRNO", want: "truncate"},
	{conduit: "shm", confine: "refuse:sendmsg:ERRNO", want: "sendmsg"},
	{conduit: "shm", confine: "refuse:recvmsg:ERRNO", want: "recvmsg"},
	{conduit: "shm", confine: "refuse:accept4:ERRNO", want: "accept4"},
	{conduit: "shm", confine: "refuse:getsockopt:ERRNO:2:17", want: "getsockopt(SO_PEERCRED)"},
	{conduit: "shm", confine: "rank:0 refuse:getsockopt:ERRNO:2:17", ranks: true, want: "getsockopt(SO_PEERCRED)"},
	{conduit: "shm", confine: "rank:1 refuse:getsockopt:ERRNO:2:17", ranks: true, want: "getsockopt(SO_PEERCRED)"},
	{conduit: "shm", confine: "refuse:sched_setaffinity:ERRNO"},
	{conduit: "shm", confine: "refuse:sched_setaffinity:ERRNO", ranks: true},
	{conduit: "shm", confine: "refuse:sched_getaffinity:ERRNO"},
	{conduit: "shm", confine: "refuse:waitid:ERRNO"},
	{conduit: "shm", confine: "refuse:pidfd_send_signal:ERRNO refuse:readlinkat:ERRNO"},
	{conduit: "shm", confine: "refuse:socketpair:ERRNO", want: "socketpair"},
	{conduit: "udp", confine: "refuse:sendmmsg:ERRNO"},
	{conduit: "udp", confine: "refuse:recvmmsg:ERRNO"},
	{conduit: "udp", confine: "rank:1 refuse:recvmmsg:ERRNO", ranks: true},
	{conduit: "udp", confine: "refuse:sendto:ERRNO:3:0x4040", want: "sendto"},
	{conduit: "udp", confine: "refuse:recvfrom:ERRNO:3:0x4040", want: "recvfrom"},
	{conduit: "udp", confine: "refuse:sendto:ERRNO", want: "netlink"},
	{conduit: "udp", confine: "refuse:setsockopt:ERRNO", want: "setsockopt"},
	{conduit: "udp", confine: "refuse:getsockopt:ERRNO:2:17"},
	{conduit: "udp", confine: "refuse:sched_setaffinity:ERRNO"},
	{conduit: "udp", confine: "refuse:memfd_create:ERRNO refuse:process_vm_writev:ERRNO refuse:membarrier:ERRNO"},
	{conduit: "shm", confine: "hide:/proc"},
	{conduit: "udp", confine: "hide:/proc"},
	{conduit: "shm", confine: "hide:/proc hide:/sys"},
}

// refusedBound is less than the time limits of a rank: for the start, and for the silence of a peer.
const refusedBound = 45 * time.Second

// TestRefusedCalls: the kernel refuses a system call, as in a container. A job of two ranks works without it, or ends
// with an error that names the call, before any time limit.
func TestRefusedCalls(t *testing.T) {
	t.Parallel()
	for _, r := range refusals {
		names := []string{"EPERM", "ENOSYS"}
		if testing.Short() || !strings.Contains(r.confine, "ERRNO") {
			names = names[:1]
		}
		for _, errno := range names {
			r := r
			r.confine = strings.ReplaceAll(r.confine, "ERRNO", errno)
			name := r.conduit + " " + r.confine
			if r.ranks {
				name += " in ranks"
			}
			t.Run(name, r.test)
		}
	}
}

// start runs the job to its end.
func (r *refusal) start(t *testing.T) (j *job, code int) {
	t.Helper()
	path, err := launcher()
	if err != nil {
		t.Fatal(err)
	}
	flags := []string{
		"-env", settings.Conduit.Env() + "=" + r.conduit, "-env", settings.InitTimeout.Env() + "=10m",
		"-env", settings.DeadAfter.Env() + "=10m",
	}
	if r.ranks {
		j = commandWithin(t, refusedBound, path, ranks(2, "talk", append(flags, "-env", confineVar+"="+r.confine)...)...)
	} else {
		j = commandWithin(t, refusedBound, os.Args[0], append([]string{path}, ranks(2, "talk", flags...)...)...)
		j.cmd.Env = append(j.cmd.Env, confineVar+"="+r.confine)
	}
	code = j.start().wait()
	if strings.Contains(j.err.String(), "error: confining:") {
		t.Skipf("this process may not do that: %s", &j.err)
	}
	return j, code
}

func (r *refusal) test(t *testing.T) {
	t.Parallel()
	j, code := r.start(t)
	if r.want == "" {
		if code != 0 {
			t.Fatalf("exit code %d\n%s", code, j.all())
		}
		j.wantDone(2)
		return
	}
	if code <= 0 || !strings.Contains(j.err.String(), r.want) || strings.Contains(j.err.String(), "panic") {
		t.Fatalf("exit code %d, and no word of %s\n%s", code, r.want, j.all())
	}
}

// TestFewDescriptors: with too few descriptors a job of two ranks ends with an error that says so, before any time
// limit. With enough it works.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	for _, conduit := range []string{"shm", "udp"} {
		for _, n := range []int{9, 10, 11, 12, 13, 14, 16, 32} {
			r := refusal{conduit: conduit, confine: fmt.Sprintf("files:%d", n), ranks: true}
			t.Run(conduit+" "+r.confine, func(t *testing.T) {
				t.Parallel()
				j, code := r.start(t)
				switch said := j.err.String(); {
				case code == 0:
					j.wantDone(2)
				case code < 0 || n == 32 || !strings.Contains(said, "too many open files") || strings.Contains(said, "panic"):
					t.Fatalf("exit code %d\n%s", code, j.all())
				}
			})
		}
	}
}
