package jobtest

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/transport/udp"
	"github.com/golci/golci/mpi"
)

// The order of matching, in random traffic. Ranks send streams of messages of a few tags to rank 0. Its goroutines and
// threads receive them under random patterns, probe for them, and take receives back. Then each receiver checks MPI's
// rule (3.5). Of two of its receives that accept a message, the one posted first gets it. Of two messages of one source
// that a receive accepts, it gets the one sent first. Every message comes once and whole.

const (
	orderSeedVar = "GOLCI_TEST_SEED"  // replays from this seed
	orderForVar  = "GOLCI_TEST_ORDER" // how long each job runs, such as 30m; else it runs a few rounds

	orderTags   = 3
	orderHeader = 12 // bytes: source, tag, number
)

// orderRounds is how many rounds a job runs when no time is given.
func orderRounds() int {
	switch {
	case !flag.Parsed(): // a rank of a job of processes
		return 60
	case testing.Short() || invariants.Race:
		return 20
	}
	return 150
}

// orderSeed is the seed of the first round; the next ones count up.
func orderSeed() uint64 {
	if s, err := strconv.ParseUint(os.Getenv(orderSeedVar), 10, 64); err == nil {
		return s
	}
	return rand.Uint64() >> 1
}

// roleOrder runs rounds, whose seeds rank 0 chooses.
func roleOrder(c *mpi.Comm) error {
	d, _ := time.ParseDuration(os.Getenv(orderForVar))
	end := time.Now().Add(d)
	plan := []uint64{orderSeed(), 0}
	rounds := orderRounds()
	for i := 0; ; i++ {
		if c.Rank() == 0 && (d == 0 && i == rounds || d > 0 && time.Now().After(end)) {
			plan[1] = 1
		}
		if err := mpi.Bcast(c, plan, 0); err != nil {
			return err
		}
		if plan[1] != 0 {
			if c.Rank() == 0 {
				fmt.Printf("%d rounds, the last before seed %d\n", i, plan[0])
			}
			return nil
		}
		if err := orderRound(c, plan[0]); err != nil {
			return fmt.Errorf("%s=%d: %w", orderSeedVar, plan[0], err)
		}
		plan[0]++
	}
}

// orderRound sends some messages of each rank through a communicator of its own.
func orderRound(world *mpi.Comm, seed uint64) error {
	c, err := world.Dup()
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(seed, 0)) // the same on all ranks
	each := 1 + r.IntN(40)
	if c.Rank() == 0 {
		err = receiveAll(c, seed, 1+r.IntN(3), each*(c.Size()-1))
	} else {
		err = sendAll(c, rand.New(rand.NewPCG(seed, uint64(c.Rank()))), each)
	}
	if err != nil {
		return err
	}
	return c.Free()
}

// sendAll sends messages 0, 1, … with random tags, lengths and modes.
func sendAll(c *mpi.Comm, r *rand.Rand, each int) error {
	requests := make([]mpi.Request, 0, each)
	for i := range each {
		n := orderHeader + r.IntN(100)
		if r.IntN(8) == 0 {
			n += r.IntN(30_000) // some by rendezvous
		}
		b := make([]byte, n)
		tag := r.IntN(orderTags)
		fillMessage(b, c.Rank(), tag, i)
		if r.IntN(3) == 0 {
			if err := mpi.Send(c, b, 0, tag); err != nil {
				return err
			}
			continue
		}
		q, err := mpi.Isend(c, b, 0, tag)
		if err != nil {
			return err
		}
		requests = append(requests, q)
	}
	var errs []error
	for i := range requests {
		_, err := requests[i].Wait()
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func fillMessage(b []byte, source, tag, number int) {
	for i, v := range []int{source, tag, number} {
		binary.LittleEndian.PutUint32(b[4*i:], uint32(v))
	}
	for i := orderHeader; i < len(b); i++ {
		b[i] = byte(i*5 + source + tag*3 + number*7)
	}
}

// taken is a receive of one receiver and the message that it got.
type taken struct {
	source, tag  int // asked for
	from, marked int // of the message
	number       int
}

func (t taken) accepts(u taken) bool {
	return (t.source == mpi.AnySource || t.source == u.from) && (t.tag == mpi.AnyTag || t.tag == u.marked)
}

func (t taken) String() string {
	return fmt.Sprintf("receive(source %d, tag %d) got message %d of rank %d, tag %d", t.source, t.tag, t.number, t.from, t.marked)
}

// inOrder compares all pairs of receives, which are in the order of posting.
func inOrder(got []taken) error {
	for i, b := range got {
		for _, a := range got[:i] {
			if a.from == b.from && b.number < a.number && a.accepts(b) {
				return fmt.Errorf("out of order: %v; later %v", a, b)
			}
		}
	}
	return nil
}

// receiver is one goroutine or thread of rank 0.
type receiver struct {
	c       *mpi.Comm
	r       *rand.Rand
	left    *atomic.Int64 // messages that nobody has received
	alone   bool          // no other receiver takes what a probe has told of
	pending []*pendingReceive
	posted  []*pendingReceive // in the order of posting, also what is done
	idle    int               // rounds without news
}

type pendingReceive struct {
	taken
	request   mpi.Request
	buf       []byte
	cancelled bool
}

func receiveAll(c *mpi.Comm, seed uint64, receivers, messages int) error {
	var left atomic.Int64
	left.Store(int64(messages))
	var wg sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	seen := make(map[[2]int]int)
	for i := range receivers {
		x := &receiver{c: c, r: rand.New(rand.NewPCG(seed, uint64(1000+i))), left: &left, alone: receivers == 1}
		run := func() {
			err := x.run()
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
			for _, p := range x.posted {
				if !p.cancelled {
					seen[[2]int{p.from, p.number}]++
				}
			}
		}
		if x.r.IntN(2) == 0 {
			wg.Go(run)
			continue
		}
		h, err := c.Proc().Go(run)
		if err != nil {
			return err
		}
		wg.Go(func() { _ = h.Join() })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for m, n := range seen {
		if n != 1 {
			return fmt.Errorf("message %d of rank %d came %d times", m[1], m[0], n)
		}
	}
	if len(seen) != messages {
		return fmt.Errorf("%d messages came, want %d", len(seen), messages)
	}
	return nil
}

// run posts, probes and takes back until no message is left.
func (x *receiver) run() error {
	for x.left.Load() > 0 {
		var err error
		switch k := x.r.IntN(12); {
		case k < 5 && len(x.pending) < 8:
			err = x.post(x.pattern())
		case k < 6:
			err = x.improbe()
		case k < 7:
			err = x.iprobe()
		case k < 8 && x.idle > 50 && len(x.pending) > 0:
			err = x.pending[x.r.IntN(len(x.pending))].request.Cancel()
		default:
			err = x.poll()
		}
		if err != nil {
			return err
		}
	}
	for _, p := range x.pending {
		if err := p.request.Cancel(); err != nil {
			return err
		}
	}
	for len(x.pending) > 0 {
		if err := x.poll(); err != nil {
			return err
		}
	}
	got := make([]taken, 0, len(x.posted))
	for _, p := range x.posted {
		if !p.cancelled {
			got = append(got, p.taken)
		}
	}
	return inOrder(got)
}

func (x *receiver) pattern() (source, tag int) {
	source, tag = 1+x.r.IntN(x.c.Size()-1), x.r.IntN(orderTags)
	if x.r.IntN(3) == 0 {
		source = mpi.AnySource
	}
	if x.r.IntN(3) == 0 {
		tag = mpi.AnyTag
	}
	return source, tag
}

func (x *receiver) post(source, tag int) error {
	p := &pendingReceive{taken: taken{source: source, tag: tag}, buf: make([]byte, orderHeader+30_100)}
	var err error
	if p.request, err = mpi.Irecv(x.c, p.buf, source, tag); err != nil {
		return err
	}
	x.posted, x.pending = append(x.posted, p), append(x.pending, p)
	return nil
}

// improbe takes a message as a receive that is posted now would.
func (x *receiver) improbe() error {
	source, tag := x.pattern()
	m, err := x.c.Improbe(source, tag)
	if m == nil || err != nil {
		return err
	}
	p := &pendingReceive{taken: taken{source: source, tag: tag}, buf: make([]byte, m.Status().Bytes())}
	x.posted = append(x.posted, p)
	st, err := mpi.Mrecv(m, p.buf)
	return errors.Join(err, x.got(p, st))
}

// iprobe tells of a message; if nobody else receives, the next receive of its source and tag gets just that.
func (x *receiver) iprobe() error {
	source, tag := x.pattern()
	told, ok, err := x.c.Iprobe(source, tag)
	if !ok || err != nil || !x.alone {
		return err
	}
	if err := x.post(told.Source, told.Tag); err != nil {
		return err
	}
	p := x.pending[len(x.pending)-1]
	x.pending = x.pending[:len(x.pending)-1]
	st, err := p.request.Wait()
	if err == nil && st.Bytes() != told.Bytes() {
		return fmt.Errorf("a probe told of %d bytes from rank %d with tag %d, the receive got %d", told.Bytes(), told.Source, told.Tag, st.Bytes())
	}
	return errors.Join(err, x.got(p, st))
}

// poll tests all that is pending.
func (x *receiver) poll() error {
	x.idle++
	rest := x.pending[:0]
	for _, p := range x.pending {
		st, done, err := p.request.Test()
		switch {
		case !done && err == nil:
			rest = append(rest, p)
		case errors.Is(err, mpi.ErrCancelled):
			p.cancelled = true
		case err != nil:
			return err
		default:
			if err := x.got(p, st); err != nil {
				return err
			}
		}
	}
	x.pending = rest
	if t := x.c.Proc().Threads().Current(); t != nil {
		t.Yield()
	}
	return nil
}

// got notes and checks the message that p got.
func (x *receiver) got(p *pendingReceive, st mpi.Status) error {
	x.left.Add(-1)
	x.idle = 0
	b := p.buf[:st.Bytes()]
	if len(b) < orderHeader {
		return fmt.Errorf("a message of %d bytes", len(b))
	}
	p.from, p.marked = int(binary.LittleEndian.Uint32(b)), int(binary.LittleEndian.Uint32(b[4:]))
	p.number = int(binary.LittleEndian.Uint32(b[8:]))
	want := make([]byte, len(b))
	fillMessage(want, p.from, p.marked, p.number)
	if string(want) != string(b) || st.Source != p.from || st.Tag != p.marked || !p.accepts(p.taken) {
		return fmt.Errorf("%v, or damaged; status %+v", p.taken, st)
	}
	return nil
}

// TestOrderInProcess runs over every conduit that joins ranks in one process, with each way of polling.
func TestOrderInProcess(t *testing.T) {
	for _, conduit := range []string{"local", udp.Name} {
		for _, server := range []string{"dedicated", "waiter", "worker"} {
			t.Run(conduit+"/"+server, func(t *testing.T) {
				if conduit == udp.Name && invariants.Race {
					t.Skip("the other conduits race the same code")
				}
				err := mpi.Run(3, roleOrder, mpi.With(settings.Conduit.Env(), conduit), mpi.WithServer(server), mpi.WithWorkers(1),
					mpi.WithUnexpected(64<<10))
				if err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// TestOrderOfProcesses runs between processes, over shared memory and over datagrams.
func TestOrderOfProcesses(t *testing.T) {
	t.Parallel()
	for _, conduit := range []string{"shm", udp.Name} {
		t.Run(conduit, func(t *testing.T) {
			t.Parallel()
			bound := patience
			if d, err := time.ParseDuration(os.Getenv(orderForVar)); err == nil {
				bound += d
			}
			j := within(t, bound, ranks(3, "order", "-env", settings.Conduit.Env()+"="+conduit)...)
			if err := j.cmd.Run(); err != nil {
				t.Fatalf("%v\n%s%s", err, &j.out, &j.err)
			}
			t.Logf("%s", &j.out)
		})
	}
}
