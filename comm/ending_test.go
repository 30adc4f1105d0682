package comm

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/comm/internal/match"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/test/fault"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/internal/transport/local"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// networks are the conduits over which operations must end, whatever happens.
var networks = map[string]func(t testing.TB, n int) []conduit.Conduit{
	"local": func(t testing.TB, n int) []conduit.Conduit { return made(t)(local.New(n, conduit.Config{})) },
	"udp":   func(t testing.TB, n int) []conduit.Conduit { return udptest.Job{}.Open(t, n, conduit.Config{}) },
	"udp lending": func(t testing.TB, n int) []conduit.Conduit {
		return udptest.Job{Mode: seal.Trust, Payload: 1400}.Open(t, n, conduit.Config{})
	},
}

func made(t testing.TB) func([]conduit.Conduit, error) []conduit.Conduit {
	return func(cs []conduit.Conduit, err error) []conduit.Conduit {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return cs
	}
}

const (
	vast    = 16 << 20 // more than any conduit has room for
	endings = 7        // the tag of all messages here
)

// stages bring operations of rank 0 with rank 1 to a stage of their protocol and leave them there: rank 1 stops
// polling. They return the operations to be waited for, which must all fail, or nil where the conduit has no such
// stage.
var stages = []struct {
	name  string
	bring func(t *testing.T, j job) []Req
}{
	{"queued for credits", bringQueued},
	{"envelope sent", func(t *testing.T, j job) []Req {
		return []Req{isend(t, j[0], vast, Standard)}
	}},
	{"acknowledgement awaited", func(t *testing.T, j job) []Req {
		return []Req{isend(t, j[0], 8, Synchronous)}
	}},
	{"bulk under way", func(t *testing.T, j job) []Req { return bringBulk(t, j, 1) }},
	{"clear to send, other bulk before it", func(t *testing.T, j job) []Req { return bringBulk(t, j, 3) }},
	{"direct copy under way", bringDirect},
	{"being packed", bringPacked},
	{"being unpacked", bringUnpacked},
	{"receive posted", func(t *testing.T, j job) []Req { return []Req{irecv(t, j[0], 8)} }},
	{"bulk being received", bringReceiving},
	{"direct copy being received", bringReceivingDirect},
}

// events end the communication of rank 0 with rank 1; want is what the operations then fail with, one or the other.
var events = []struct {
	name string
	want []error
	wrap bool // rank 0's conduit is to be one that can be cut
	do   func(t *testing.T, j job, cs []conduit.Conduit)
}{
	{"peer closes", []error{ErrPeer}, false, func(t *testing.T, _ job, cs []conduit.Conduit) {
		if err := cs[1].Close(); err != nil {
			t.Error(err)
		}
	}},
	{"peer dies", []error{ErrPeer}, true, func(_ *testing.T, _ job, cs []conduit.Conduit) { cs[0].(*fault.Conduit).Cut(1) }},
	{"abort here", []error{ErrClosed}, false, func(_ *testing.T, j job, _ []conduit.Conduit) { j[0].Close() }},
	// As mpi does it: every rank is told, in turn, more than once. Rank 1 may tell of a copy that it has given up
	// before rank 0 is told.
	{"abort there", []error{ErrClosed, ErrPeer}, false, func(_ *testing.T, j job, _ []conduit.Conduit) {
		for range 3 {
			j[1].Close()
			j[0].Close()
		}
	}},
}

// TestOperationsEnd: an operation ends with an error when its peer ends or the communication does, at whatever stage of
// its protocol it is. Its waiter comes back, whether the wait began before or after, and whoever else polls.
func TestOperationsEnd(t *testing.T) {
	cases, stride := 0, 1
	switch { // of strides without a common factor with the events and waiters, each of these meets some of the stages
	case invariants.Race:
		stride = 19
	case testing.Short():
		stride = 7
	}
	for network, open := range networks {
		for _, stage := range stages {
			// A group of its own, because package testing keeps what cleanups refer to until the group ends: two ranks
			// of each test, some megabytes.
			t.Run(network+"/"+stage.name, func(t *testing.T) {
				for _, event := range events {
					for _, who := range []string{"waits before", "waits after", "dedicated server"} {
						if cases++; cases%stride != 0 {
							continue
						}
						t.Run(event.name+"/"+who, func(t *testing.T) {
							t.Parallel() // much of it is waiting
							cs := open(t, 2)
							if event.wrap {
								cs[0] = fault.New(cs[0], fault.Config{})
							}
							j := jobOver(t, cs, Config{})
							if who == "dedicated server" {
								j[0] = dedicatedServer(t, cs[0])
							}
							rs := stage.bring(t, j)
							if rs == nil {
								t.Skip("this conduit has no such stage")
							}
							ends(t, j, rs, event.want, who == "waits after", func() { event.do(t, j, cs) })
						})
					}
				}
			})
		}
	}
}

// ends checks that what rank 0 of j waits for ends with the wanted errors when event happens, before the wait or in it.
func ends(t *testing.T, j job, rs []Req, want []error, after bool, event func()) {
	ended := make(chan []error, 1)
	wait := func() {
		errs := make([]error, len(rs))
		for i, r := range rs {
			_, errs[i] = j[0].Wait(r)
		}
		ended <- errs
	}
	if after {
		event()
		go wait()
	} else {
		go wait()
		for range 100 {
			runtime.Gosched()
		}
		event()
	}
	checkEnded(t, j[0], ended, want...)
}

func checkEnded(t *testing.T, s *Server, ended chan []error, want ...error) {
	t.Helper()
	select {
	case errs := <-ended:
		for i, err := range errs {
			if !slices.ContainsFunc(want, func(w error) bool { return errors.Is(err, w) }) {
				t.Errorf("operation %d of %d: %v, want one of %v", i, len(errs), err, want)
			}
		}
	case <-time.After(hangLimit):
		logPending(t, s)
		t.Fatal("the wait does not end")
	}
	if n := s.ids.Used(); n != 0 {
		t.Errorf("%d numbers are left", n)
	}
}

// dedicatedServer replaces the server of c by one that nobody else has to poll.
func dedicatedServer(t *testing.T, c conduit.Conduit) *Server {
	s, stop := newServer(t, c, Config{}, dedicated)
	t.Cleanup(stop)
	return s
}

func isend(t *testing.T, s *Server, n int, mode Mode) Req {
	t.Helper()
	r, err := s.Isend(1, 1-s.rank, endings, make([]byte, n), &Options{Form: Nonblocking, Mode: mode})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func irecv(t *testing.T, s *Server, n int) Req {
	t.Helper()
	r, err := s.Irecv(1, 1-s.rank, endings, make([]byte, n), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// until polls the given ranks until cond holds.
func until(t *testing.T, what string, cond func() bool, ranks ...*Server) {
	t.Helper()
	for end := time.Now().Add(hangLimit); !cond(); {
		for _, s := range ranks {
			s.Poll()
		}
		if runtime.Gosched(); time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// stuck polls s until nothing moves any more.
func stuck(s *Server) {
	for idle := 0; idle < 2000; idle++ {
		if s.Poll() > 0 {
			idle = 0
		}
		runtime.Gosched()
	}
}

// number is the number of an operation that waits for its peer, 0 if it is not in use.
func number(s *Server, r Req) (id uint64) {
	s.ids.Each(func(n uint64, o *op) {
		if o == r.o {
			id = n
		}
	})
	return id
}

func bringQueued(t *testing.T, j job) (rs []Req) {
	for range 100_000 {
		if r := isend(t, j[0], 1000, Standard); r.o != nil {
			if rs = append(rs, r); len(rs) == 3 {
				return rs
			}
		}
	}
	t.Fatal("nothing is queued")
	return nil
}

// bringBulk has n sends whose receivers want the bytes; those of the first have begun to move.
func bringBulk(t *testing.T, j job, n int) (rs []Req) {
	for range n {
		// Where bytes can be copied directly, those of an endable send are not.
		r, err := j[0].Isend(1, 1, endings, make([]byte, vast), &Options{Endable: canCopy(j[0])})
		if err != nil {
			t.Fatal(err)
		}
		rs = append(rs, r)
		w := irecv(t, j[1], vast)
		until(t, "the receiver asks for the bytes", func() bool { return number(j[1], w) != 0 }, j[1])
	}
	for _, r := range rs {
		until(t, "the sender is asked", func() bool { return number(j[0], r) == 0 }, j[0])
	}
	stuck(j[0])
	for _, r := range rs {
		if r.Ready() {
			t.Fatal("all bytes are gone already")
		}
	}
	return rs
}

// bringReceiving tries again when all bytes have come already: a dedicated server may take them as they leave.
func bringReceiving(t *testing.T, j job) []Req {
	for range 100 {
		if _, err := j[1].Isend(1, 0, endings, make([]byte, vast), &Options{Endable: true}); err != nil {
			t.Fatal(err)
		}
		r := irecv(t, j[0], vast)
		until(t, "the bytes are asked for", func() bool { return number(j[0], r) != 0 || r.Ready() }, j[0])
		until(t, "the sender is asked", func() bool { return j[1].ids.Used() == 0 }, j[1])
		if !r.Ready() {
			return []Req{r}
		}
		if _, err := j[0].Wait(r); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("all bytes have come already")
	return nil
}

func canCopy(s *Server) bool {
	r := s.e.Reach(1 - s.rank)
	return r.Get || r.Put
}

func bringDirect(t *testing.T, j job) []Req {
	if !j[0].e.Reach(1).Get { // else the sender copies all, and needs nobody
		return nil
	}
	r := isend(t, j[0], vast, Standard)
	w := irecv(t, j[1], vast)
	until(t, "the receiver answers", func() bool { return w.o.word.State() != match.RecvPosted }, j[1])
	j[0].Poll() // takes the answer and begins with its half
	return []Req{r}
}

func bringReceivingDirect(t *testing.T, j job) []Req {
	if r := j[0].e.Reach(1); !r.Put || r.Get && !r.Near { // the receiver copies all, and waits for no answer
		return nil
	}
	isend(t, j[1], vast, Standard)
	r := irecv(t, j[0], vast)
	until(t, "the copy begins", func() bool { return number(j[0], r) != 0 }, j[0])
	return []Req{r}
}

// TestCloseBesideSend: Close takes the number of a send that is not queued yet. The send then waits in its pair's queue
// for credits that never come, and nobody finds it by its number any more. It must end all the same.
func TestCloseBesideSend(t *testing.T) {
	for network, open := range networks {
		for _, who := range []string{"waiter polls", "dedicated server"} {
			t.Run(network+"/"+who, func(t *testing.T) {
				cs := open(t, 2)
				j := jobOver(t, cs, Config{})
				if who == "dedicated server" {
					j[0] = dedicatedServer(t, cs[0])
				}
				rs := bringQueued(t, j)
				hookNumbered = j[0].Close
				defer func() { hookNumbered = nil }()
				late := isend(t, j[0], vast, Standard)
				j[0].Close() // as mpi does it
				ended := make(chan []error, 1)
				go func() {
					var errs []error
					for _, r := range append(rs, late) {
						_, err := j[0].Wait(r)
						errs = append(errs, err)
					}
					ended <- errs
				}()
				checkEnded(t, j[0], ended, ErrClosed)
			})
		}
	}
}

// TestSendWithoutACause: the conduit refuses a record, and gives no cause. A send to that rank fails, and says as much.
func TestSendWithoutACause(t *testing.T) {
	j := newJob(t, 2, conduit.Config{MaxRecord: 320}, Config{})
	j[0].e.Post(1, handlerNotice, make([]byte, 1000)) // larger than a record may be
	_, err := j[0].Wait(isend(t, j[0], 100, Synchronous))
	if !errors.Is(err, ErrPeer) || strings.Contains(err.Error(), "nil") || !strings.Contains(err.Error(), "rank 1") {
		t.Errorf("it fails with %v", err)
	}
}
