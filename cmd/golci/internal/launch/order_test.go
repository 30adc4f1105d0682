//go:build unix

package launch

import (
	"bufio"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

// nobody is a team without processes.
type nobody struct{}

func (nobody) Gather(*Job) (Places, error) { return Places{}, nil }
func (nobody) Start() error                { return nil }
func (nobody) Kill(syscall.Signal)         {}
func (nobody) Pause()                      {}
func (nobody) End()                        {}

// TestReasonBeforeRefusal: a barrier cannot end. The launcher learns why before a rank in it does. So it names the
// reason first, and not the end of that rank.
func TestReasonBeforeRefusal(t *testing.T) {
	t.Run("gone", func(t *testing.T) {
		w := newWaiting(t)
		w.job.exits <- ended{1, Status{}} // it has not joined, so its end alone is no failure
		w.wantFirst("rank 1 has gone, while other ranks wait for it")
		w.end(2)
	})
	t.Run("abort", func(t *testing.T) {
		w := newWaiting(t)
		w.attach(1)
		w.say(1, "cmd=abort exitcode=9")
		w.wantFirst("rank 1 aborted the job with code 9")
		w.end(1, 2)
	})
}

// waiting is a job of three ranks, of which 0 and 2 wait in a barrier. Their connections have no buffers: a write
// returns when it has been read.
type waiting struct {
	t     *testing.T
	job   *Job
	said  chan string
	over  chan struct{} // closed when watch has returned
	wires [3]net.Conn
	lines [3]*bufio.Reader
}

func newWaiting(t *testing.T) *waiting {
	t.Helper()
	w := &waiting{t: t, said: make(chan string, 10), over: make(chan struct{})}
	w.job = &Job{
		spec: &Spec{Say: func(text string) { w.said <- text }, Limit: func(int) time.Duration { return time.Hour }},
		team: nobody{}, alarm: time.NewTimer(time.Hour), fails: newFailureLog(), over: make(chan struct{}),
		places: Places{Nodes: []int{3}, Name: rankName},
	}
	if err := w.job.makeServer(); err != nil {
		t.Fatal(err)
	}
	for _, r := range []int{0, 2} {
		w.attach(r)
		w.say(r, "cmd=barrier_in")
		w.say(r, "cmd=golci_who") // the answer tells that the barrier has been entered
		w.hear(r, "cmd=golci_missing rc=0 ")
	}
	go func() {
		w.job.watchRanks()
		close(w.over)
	}()
	return w
}

func (w *waiting) attach(rank int) {
	w.t.Helper()
	near, far := net.Pipe()
	w.wires[rank], w.lines[rank] = near, bufio.NewReader(near)
	if !w.job.worldOf(rank).srv.Attach(rank, far) {
		w.t.Fatalf("rank %d was not taken", rank)
	}
	w.say(rank, "cmd=init pmi_version=1 pmi_subversion=1")
	w.hear(rank, "cmd=response_to_init rc=0 ")
}

func (w *waiting) say(rank int, line string) {
	w.t.Helper()
	if _, err := io.WriteString(w.wires[rank], line+"\n"); err != nil {
		w.t.Error(err)
	}
}

func (w *waiting) hear(rank int, want string) {
	w.t.Helper()
	if text, err := w.lines[rank].ReadString('\n'); err != nil || !strings.HasPrefix(text, want) {
		w.t.Errorf("rank %d heard %q, %v; want %q", rank, text, err, want)
	}
}

// wantFirst has rank 0 end at once when it has been told, while the server is still telling rank 2.
func (w *waiting) wantFirst(reason string) {
	w.t.Helper()
	w.hear(0, "cmd=barrier_out rc=-1 ")
	w.job.exits <- ended{0, Status{Code: 3}}
	if text := <-w.said; text != reason {
		w.t.Errorf("said first: %q, want %q", text, reason)
	}
	w.hear(2, "cmd=barrier_out rc=-1 ")
}

func (w *waiting) end(ranks ...int) {
	for _, r := range ranks {
		w.job.exits <- ended{r, Status{Code: 3}}
	}
	<-w.over
	w.job.endJob()
	for _, c := range w.wires {
		if c != nil {
			_ = c.Close()
		}
	}
}
