package jobtest

import (
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/golci/golci/mpi"
)

// roleStuck has each rank wait for what does not come: in a thread, in a goroutine, and in a send that nobody receives.
func roleStuck(c *mpi.Comm) error {
	peer := 1 - c.Rank()
	if _, err := c.Proc().Go(func() { _, _ = mpi.Recv(c, make([]byte, 16), peer, 11) }); err != nil {
		return err
	}
	go func() { _, _ = mpi.Recv(c, make([]byte, 24), mpi.AnySource, 12) }()
	r, err := mpi.Issend(c, make([]byte, 40), peer, 13)
	if err != nil {
		return err
	}
	for !waiting(c) {
		if _, _, err := c.Iprobe(peer, 99); err != nil { // makes progress
			return err
		}
		time.Sleep(time.Millisecond)
	}
	fmt.Println("stuck")
	_, err = r.Wait()
	return err
}

// waiting says whether everything that the rank will have to tell is so.
func waiting(c *mpi.Comm) bool {
	var dump strings.Builder
	c.Proc().Dump(&dump)
	for _, line := range dumpLines(c.Rank()) {
		if !regexp.MustCompile(`(?m)^ *` + line).MatchString(dump.String()) {
			return false
		}
	}
	return true
}

// wantTold checks that the job has written words to standard error.
func (j *job) wantTold(words ...string) {
	j.t.Helper()
	for _, w := range words {
		if !strings.Contains(j.err.String(), w) {
			j.t.Errorf("no %q on standard error:\n%s", w, &j.err)
		}
	}
}

// dumpLines are what a rank of roleStuck has to tell: its operations with peer, tag and size, and its threads.
func dumpLines(rank int) []string {
	peer := 1 - rank
	return []string{
		fmt.Sprintf(`golci: rank %d of 2: 3 calls wait, 1 thread, 1 message is not received`, rank),
		fmt.Sprintf(`(thread \d+\.\d+: )?Recv on world from rank %d, tag 11, 16 bytes`, peer),
		`Recv on world from any rank, tag 12, 24 bytes`,
		fmt.Sprintf(`Issend on world to rank %d, tag 13, 40 bytes`, peer),
		fmt.Sprintf(`not received: envelope on world from rank %d, tag 13, 40 bytes`, peer),
	}
}

// missing lists the lines that a rank has not told.
func (j *job) missing(rank int) (lines []string) {
	told := j.err.String()
	for _, line := range dumpLines(rank) {
		if !regexp.MustCompile(fmt.Sprintf(`(?m)^\[%d\] +%s`, rank, line)).MatchString(told) {
			lines = append(lines, line)
		}
	}
	return lines
}

// wantDump checks that both ranks have told all. A rank dies after its dump. That may end the operations of the other
// before it has told them. In that case one complete dump is enough.
func (j *job) wantDump() {
	j.t.Helper()
	told := j.err.String()
	missing := [2][]string{j.missing(0), j.missing(1)}
	incomplete := len(missing[0]) > 0 || len(missing[1]) > 0
	half := len(missing[0]) == 0 || len(missing[1]) == 0
	switch {
	case incomplete && half:
		j.t.Logf("NOT MET: operations ended with the other rank before they were told: %q", missing)
	case incomplete:
		j.t.Errorf("not told: %q in\n%s", missing, told)
		return
	}
	for line := range strings.Lines(told) {
		if strings.Contains(line, " bytes") || strings.Contains(line, "pending") || strings.Contains(line, "] thread") {
			j.t.Log(strings.TrimSuffix(line, "\n"))
		}
	}
}

// TestTimeoutDumps: when the time of a job is over every rank tells what it waits for.
func TestTimeoutDumps(t *testing.T) {
	t.Parallel()
	j := golci(t, ranks(2, "stuck", "-prefix", "-timeout", "4s")...).start()
	if code := j.wait(); code != 124 {
		t.Errorf("exit code %d", code)
	}
	j.wantTold("golci: the job's time of 4s is over")
	j.wantDump()
}

// TestQuitDumps: so it does on SIGQUIT to the launcher.
func TestQuitDumps(t *testing.T) {
	j := golci(t, ranks(2, "stuck", "-prefix")...).start()
	j.await(2, "stuck")
	if err := j.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	if code := j.wait(); code == 0 {
		t.Error("exit code 0")
	}
	j.wantDump()
}
