package mixed_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/test/mixedtest"
	"github.com/golci/golci/internal/transport/mixed"
)

// tally counts what comes, by source, and calls each for every record.
type tally struct {
	from   [4]int
	chunks int
	each   func()
}

// Record implements conduit.Sink.
func (y *tally) Record(src int, _ []byte) {
	y.from[src]++
	if y.each != nil {
		y.each()
	}
}

// Bulk implements conduit.Sink.
func (y *tally) Bulk(int, uint64, int64, []byte) { y.chunks++ }

// Gone implements conduit.Sink.
func (*tally) Gone(int, error) {}

func send(c conduit.Conduit, peer int) bool {
	_, st := c.Reserve(peer, conduit.Request, 16)
	if st == conduit.OK {
		c.Commit(peer, 16)
	}
	return st == conduit.OK
}

// TestTurns: with both sides flooded, each gets about half of any budget, also of the least.
func TestTurns(t *testing.T) {
	cs := mixedtest.Local(t, 3, conduit.Config{}, mixedtest.Parity, nil) // rank 2 is near to rank 0, rank 1 far
	defer closeAll(t, cs...)
	for _, budget := range []int{1, 2, 3, 7, 64} {
		y := &tally{}
		const polls = 100
		for range polls {
			for src := 1; src <= 2; src++ {
				for send(cs[src], 0) {
					continue
				}
			}
			if n := cs[0].Poll(budget, y); n != budget {
				t.Fatalf("Poll(%d) of full queues returned %d", budget, n)
			}
		}
		if all := budget * polls; y.from[1] < all*2/5 || y.from[2] < all*2/5 {
			t.Errorf("budget %d: %d from the far side, %d from the near one, of %d", budget, y.from[1], y.from[2], all)
		}
	}
}

// TestOneSideTakesTheWholeBudget: half of the budget is kept for nobody.
func TestOneSideTakesTheWholeBudget(t *testing.T) {
	cs := mixedtest.Local(t, 3, conduit.Config{}, mixedtest.Parity, nil)
	defer closeAll(t, cs...)
	for src := 1; src <= 2; src++ {
		for round := range 4 {
			for range 20 {
				if !send(cs[src], 0) {
					t.Fatal("no room")
				}
			}
			y := &tally{}
			if n := cs[0].Poll(20, y); n != 20 || y.from[src] != 20 {
				t.Errorf("round %d: of 20 from rank %d, Poll(20) delivered %d", round, src, n)
			}
		}
	}
}

// mute is a conduit whose bell never rings of itself.
type mute struct {
	conduit.Conduit
	ring        func()
	arms, armed int
	inside      func() // called while the conduit is armed, before Arm returns
}

// Bell implements conduit.Belled.
func (m *mute) Bell(f func()) { m.ring = f }
func (m *mute) Disarm()       { m.armed-- }

func (m *mute) Arm() {
	m.arms++
	m.armed++
	if m.inside != nil {
		m.inside()
	}
}

func muted(t *testing.T, n int) (conduit.Conduit, *mute, []conduit.Conduit) {
	near, far := locals(t, n, conduit.Config{}), locals(t, n, conduit.Config{})
	m := &mute{Conduit: far[0]}
	c, err := mixed.New(near[0], m, func(int) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAll(t, append(append(near[1:], far[1:]...), c)...) })
	return c, m, far
}

// TestRingBeforeTheSleeperIsThere: the sleeper has armed the far side, and not yet the near one. The far bell rings
// then, for a failure that Pending does not tell of. Nothing else would end the sleep.
func TestRingBeforeTheSleeperIsThere(t *testing.T) {
	c, m, _ := muted(t, 2)
	m.inside = func() { m.ring() }
	if !c.Sleep(time.Hour, nil) {
		t.Error("Sleep = false")
	}
	if m.arms != 1 || m.armed != 0 {
		t.Errorf("armed %d times, %d are left", m.arms, m.armed)
	}
	m.inside = nil
	looked := false
	if c.Sleep(time.Microsecond, func() bool { looked = true; return false }); !looked {
		t.Error("an old ring ends the next sleep before it has looked")
	}
}

// TestArrivalBeforeTheSleeperIsThere: the same for a record, of which the bell need not ring.
func TestArrivalBeforeTheSleeperIsThere(t *testing.T) {
	c, m, far := muted(t, 2)
	m.inside = func() { send(far[1], 0) }
	if !c.Sleep(time.Hour, nil) || !c.Pending() {
		t.Error("the record is not pending")
	}
}

// TestRingWakes: the far bell ends a sleep that is under way.
func TestRingWakes(t *testing.T) {
	c, m, _ := muted(t, 1)
	asleep := make(chan struct{})
	done := make(chan struct{})
	go func() {
		<-asleep
		m.ring()
		close(done)
	}()
	if !c.Sleep(time.Hour, func() bool { close(asleep); return false }) {
		t.Error("Sleep = false")
	}
	<-done
}

// TestSleepDoesNotAllocate neither with nor without a condition.
func TestSleepDoesNotAllocate(t *testing.T) {
	if invariants.Race {
		t.Skip("the race detector allocates")
	}
	c, _, _ := muted(t, 1)
	calls := 0
	ready := func() bool { calls++; return true }
	if n := testing.AllocsPerRun(500, func() {
		c.Sleep(time.Second, ready)
		c.Sleep(0, nil)
		c.Wake()
	}); n != 0 || calls < 500 {
		t.Errorf("%v allocations, the condition was called %d times", n, calls)
	}
}

// TestFarPeerGone: a sleeper learns of a far peer that closes, of which the near conduit knows nothing.
func TestFarPeerGone(t *testing.T) {
	far := locals(t, 3, conduit.Config{})
	cs := mixedtest.Join(t, locals(t, 3, conduit.Config{}), far, mixedtest.Parity)
	defer closeAll(t, cs...)
	closed := make(chan error)
	asleep := make(chan struct{})
	go func() {
		<-asleep
		closed <- far[1].Close()
	}()
	for first := true; cs[0].Failed(1) == nil; {
		cs[0].Sleep(time.Hour, func() bool {
			if first {
				close(asleep)
				first = false
			}
			return cs[0].Failed(1) != nil
		})
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := cs[0].Failed(1); !errors.Is(err, conduit.ErrPeerClosed) || cs[0].Failed(2) != nil || cs[0].Failed(0) != nil {
		t.Errorf("failed: %v, %v, %v", err, cs[0].Failed(2), cs[0].Failed(0))
	}
	if n, _ := cs[0].BulkSend(1, 1, 0, make([]byte, 8), nil); n != -1 {
		t.Errorf("bulk to a peer that has gone: %d", n)
	}
}

// network is a conduit without words whose looks are counted.
type network struct {
	conduit.Conduit
	looks int
}

func (*network) Mine(int) *atomic.Uint64   { return nil }
func (*network) Theirs(int) *atomic.Uint64 { return nil }

// Pending implements conduit.Conduit.
func (n *network) Pending() bool {
	n.looks++
	return n.Conduit.Pending()
}

// Poll implements conduit.Conduit.
func (n *network) Poll(budget int, sink conduit.Sink) int {
	n.looks++
	return n.Conduit.Poll(budget, sink)
}

// TestQuietNetwork: looks at a silent far side become rare. A record there is found all the same. After that record,
// and after a message to the far side, every look goes there again.
func TestQuietNetwork(t *testing.T) {
	near, far := locals(t, 3, conduit.Config{}), locals(t, 3, conduit.Config{})
	n := &network{Conduit: far[0]}
	cs := mixedtest.Join(t, near, []conduit.Conduit{n, far[1], far[2]}, mixedtest.Parity)
	defer closeAll(t, cs...)
	y := &tally{}
	look := func(times int) int {
		before := n.looks
		for range times {
			if cs[0].Pending() {
				cs[0].Poll(8, y)
			}
		}
		return n.looks - before
	}
	const many = 20_000
	if k := look(many); k < many/400 || k > many/20 {
		t.Errorf("%d looks of %d at a silent far side", k, many)
	}
	for range many {
		send(cs[2], 0)
		cs[0].Poll(8, y)
	}
	if y.from[2] != many {
		t.Errorf("%d messages of %d came from the near side", y.from[2], many)
	}
	if far[1].Mine(0) == nil || !send(cs[1], 0) {
		t.Fatal("no message from the far side")
	}
	for left := 300; y.from[1] == 0; left-- {
		if look(1); left == 0 {
			t.Fatal("a message from the far side was not found")
		}
	}
	if k := look(50); k != 50 {
		t.Errorf("%d looks of 50 after a message has come", k)
	}
	look(many)
	send(cs[0], 1)
	if k := look(50); k != 50 {
		t.Errorf("%d looks of 50 after a message has gone", k)
	}
}

// reaching is a conduit that reaches the memory of all peers.
type reaching struct {
	conduit.Conduit
	id    uint64
	bytes int // of memory
	calls atomic.Int32
}

func (*reaching) Reach(int) conduit.Reach { return conduit.Reach{Get: true, Put: true} }

func (r *reaching) Expose(int, []byte) (conduit.Key, conduit.Status) {
	r.calls.Add(1)
	return conduit.Key{ID: r.id}, conduit.OK
}

func (r *reaching) Release(_ int, k conduit.Key) error {
	if k.ID != r.id {
		return conduit.ErrKey
	}
	r.calls.Add(1)
	return nil
}

func (r *reaching) Get(_ int, b []byte, _ conduit.Key, _ int64, _ conduit.Completion) int {
	r.calls.Add(1)
	return len(b)
}

func (r *reaching) Put(_ int, b []byte, _ conduit.Key, _ int64, _ conduit.Completion) int {
	r.calls.Add(1)
	return len(b)
}

func (r *reaching) Allocate(int64) ([]byte, error) { return make([]byte, r.bytes), nil }

func (r *reaching) Map(int, conduit.Key) ([]byte, *atomic.Bool, error) {
	return make([]byte, r.bytes), nil, nil
}

// TestRemote: the memory of a peer is reached through its own conduit, if that reaches any.
func TestRemote(t *testing.T) {
	near, far := locals(t, 3, conduit.Config{}), locals(t, 3, conduit.Config{})
	r := [2]*reaching{{Conduit: near[0], id: 1, bytes: 5}, {Conduit: far[0], id: 2, bytes: 6}}
	c, err := mixed.New(r[0], mixedtest.WithBell(r[1]), func(peer int) bool { return peer < 2 })
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, c, near[1], far[1], near[2], far[2])
	d := c.(conduit.Remote)
	for peer, side := range []int{0, 0, 1} {
		if side == 1 {
			if d.Reach(peer) != (conduit.Reach{}) {
				t.Error("a wrapper around the far conduit hides what it reaches")
			}
			continue
		}
		before := r[side].calls.Load()
		k, st := d.Expose(peer, make([]byte, 8))
		if !d.Reach(peer).Get || st != conduit.OK || k.ID != r[side].id || d.Release(peer, k) != nil {
			t.Errorf("rank %d: key %+v, %v", peer, k, st)
		}
		if d.Get(peer, make([]byte, 3), k, 0, nil) != 3 || d.Put(peer, make([]byte, 4), k, 0, nil) != 4 || r[side].calls.Load() != before+4 {
			t.Errorf("rank %d: %d calls went through", peer, r[side].calls.Load()-before)
		}
	}
	for _, peer := range []int{-1, 2, 3} {
		if n := d.Get(peer, make([]byte, 1), conduit.Key{}, 0, nil); n != -1 {
			t.Errorf("get from rank %d: %d", peer, n)
		}
		if n := d.Put(peer, make([]byte, 1), conduit.Key{}, 0, nil); n != -1 {
			t.Errorf("put to rank %d: %d", peer, n)
		}
		if _, st := d.Expose(peer, nil); st != conduit.Dead || !errors.Is(d.Release(peer, conduit.Key{}), conduit.ErrUnreachable) {
			t.Errorf("memory exposed to rank %d: %v", peer, st)
		}
	}
	for peer, want := range []int{5, 5, 0} {
		if mem, _, err := d.Map(peer, conduit.Key{}); len(mem) != want || (err == nil) != (want > 0) {
			t.Errorf("rank %d: %d bytes are mapped, %v", peer, len(mem), err)
		}
	}
	if mem, err := d.Allocate(100); len(mem) != r[0].bytes || err != nil {
		t.Errorf("%d bytes are allocated, %v", len(mem), err)
	}
	without, err := mixed.New(mixedtest.WithBell(near[1]), mixedtest.WithBell(far[1]), func(int) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	if mem, err := without.(conduit.Remote).Allocate(100); len(mem) != 100 || err != nil {
		t.Errorf("without a side that reaches memory: %d bytes, %v", len(mem), err)
	}
}
