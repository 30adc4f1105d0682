package mesh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	testKey  = bytes.Repeat([]byte{7}, 32)
	loopback = netip.MustParseAddr("127.0.0.1")
)

type news struct {
	to, from int
	text     string
}

// world has the nodes of a job in one process. Their addresses can be changed before the first message to a rank.
type world struct {
	nodes []*Node
	addrs [][]netip.AddrPort
	news  chan news
}

func newWorld(t *testing.T, size, room int, cfg Config) *world {
	t.Helper()
	w := &world{addrs: make([][]netip.AddrPort, size), news: make(chan news, room)}
	for rank := range size {
		cfg.Rank, cfg.Size, cfg.Key = rank, size, testKey
		cfg.Take = func(from int, b []byte) { w.news <- news{rank, from, string(b)} }
		cfg.Where = func(_ context.Context, rank int) ([]netip.AddrPort, error) { return w.addrs[rank], nil }
		n, err := Listen(cfg, loopback)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.Close() }) // twice, in some tests
		w.nodes, w.addrs[rank] = append(w.nodes, n), n.Addrs()
	}
	return w
}

// TestSend: every rank reaches every other one, with messages of all lengths; each arrives once.
func TestSend(t *testing.T) {
	const size, texts = 3, 3
	w := newWorld(t, size, size*size*texts, Config{})
	var wg sync.WaitGroup
	for from, n := range w.nodes {
		for to := range size {
			if to == from {
				continue
			}
			for _, text := range []string{"", "x", strings.Repeat("y", maxMessage)} {
				wg.Go(func() {
					if err := n.Send(t.Context(), to, []byte(text)); err != nil {
						t.Errorf("%d to %d: %v", from, to, err)
					}
				})
			}
		}
	}
	wg.Wait()
	got := map[news]int{}
	for range size * (size - 1) * texts {
		got[<-w.news]++ // it is there already: Send waits for that
	}
	if len(got) != size*(size-1)*texts || len(w.news) != 0 {
		t.Errorf("%d different messages and %d more: %v", len(got), len(w.news), got)
	}
	n := w.nodes[0]
	for _, err := range []error{
		n.Send(t.Context(), -1, nil), n.Send(t.Context(), size, nil), n.Send(t.Context(), 0, nil),
		n.Send(t.Context(), 1, make([]byte, maxMessage+1)),
	} {
		if !errors.Is(err, errArgument) {
			t.Errorf("got %v", err)
		}
	}
	if n.Gone(-1) || n.Gone(size) || n.Gone(0) {
		t.Error("ranks that are none are gone")
	}
}

// TestFew: messages of one rank to another share a connection.
func TestFew(t *testing.T) {
	const messages = 100
	w := newWorld(t, 2, messages, Config{})
	for range messages {
		if err := w.nodes[0].Send(t.Context(), 1, nil); err != nil {
			t.Fatal(err)
		}
	}
	for r, n := range w.nodes {
		n.mu.Lock()
		if len(n.live) != 1 || n.door.Early() != 0 {
			t.Errorf("rank %d has %d connections, and %d early ones", r, len(n.live), n.door.Early())
		}
		n.mu.Unlock()
	}
}

// TestBusy: a rank that takes nothing holds its senders up until they have waited enough, and is not gone; what comes
// later arrives.
func TestBusy(t *testing.T) {
	w := newWorld(t, 2, 0, Config{Silence: 100 * time.Millisecond})
	for i := range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
		defer cancel()
		if err := w.nodes[0].Send(ctx, 1, fmt.Append(nil, i)); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "rank 1 has not answered rank 0") {
			t.Errorf("message %d: %v", i, err)
		}
		if w.nodes[0].Gone(1) { // which asks it, and takes longer than the silence of a machine
			t.Error("rank 1 is there")
		}
	}
	sent := make(chan error, 1)
	go func() { sent <- w.nodes[0].Send(t.Context(), 1, []byte("last")) }()
	for x := range w.news {
		if x == (news{1, 0, "last"}) {
			break
		}
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
}

// TestGone: the end of a rank is seen, with a connection to it and without.
func TestGone(t *testing.T) {
	for _, connected := range []bool{true, false} {
		w := newWorld(t, 2, 1, Config{})
		if connected {
			if err := w.nodes[0].Send(t.Context(), 1, nil); err != nil {
				t.Fatal(err)
			}
		}
		if w.nodes[0].Gone(1) {
			t.Error("rank 1 is there")
		}
		w.nodes[1].Close()
		for !w.nodes[0].Gone(1) {
			time.Sleep(time.Millisecond)
		}
		if err := w.nodes[0].Send(t.Context(), 1, nil); !errors.Is(err, ErrGone) {
			t.Errorf("got %v", err)
		}
	}
}

// TestGoneSend: who sends to a rank that has ended since hears of it.
func TestGoneSend(t *testing.T) {
	for _, connected := range []bool{true, false} {
		w := newWorld(t, 2, 1, Config{})
		if connected {
			if err := w.nodes[0].Send(t.Context(), 1, nil); err != nil {
				t.Fatal(err)
			}
		}
		w.nodes[1].Close()
		if err := w.nodes[0].Send(t.Context(), 1, nil); !errors.Is(err, ErrGone) {
			t.Errorf("got %v", err)
		}
	}
}

// TestClose: a send that waits ends with its own side.
func TestClose(t *testing.T) {
	w := newWorld(t, 2, 0, Config{})
	sent := make(chan error, 2)
	for range 2 { // one waits for the answer, one for its turn
		go func() { sent <- w.nodes[0].Send(t.Context(), 1, nil) }()
	}
	<-w.news
	if err := <-sent; err != nil {
		t.Error(err)
	}
	w.nodes[0].Close()
	if err := <-sent; !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
	if err := w.nodes[0].Send(t.Context(), 1, nil); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if w.nodes[0].Gone(1) {
		t.Error("a closed node knows nothing")
	}
	for len(w.news) > 0 {
		<-w.news
	}
	go func() { // so that the second one can be taken
		for range w.news { //nolint:revive // nobody wants it
		}
	}()
	w.nodes[1].Close()
	close(w.news)
}

// TestWhere: no address is an error, and the next send asks again.
func TestWhere(t *testing.T) {
	w := newWorld(t, 2, 1, Config{})
	good := w.addrs[1]
	w.addrs[1] = nil
	if err := w.nodes[0].Send(t.Context(), 1, nil); !errors.Is(err, errWhere) || !strings.Contains(err.Error(), "rank 1") {
		t.Errorf("got %v", err)
	}
	w.addrs[1] = good
	if err := w.nodes[0].Send(t.Context(), 1, nil); err != nil {
		t.Error(err)
	}
}

// TestLargeMessages: where Config.Most allows them, messages of many packets arrive whole, and longer ones are refused.
func TestLargeMessages(t *testing.T) {
	const most = 300_000
	w := newWorld(t, 2, 3, Config{Most: most})
	for _, size := range []int{maxMessage + 1, most, 0} {
		text := strings.Repeat("z", size)
		if err := w.nodes[0].Send(t.Context(), 1, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := <-w.news; got != (news{1, 0, text}) {
			t.Errorf("%d bytes from %d to %d, want %d", len(got.text), got.from, got.to, size)
		}
	}
	if err := w.nodes[0].Send(t.Context(), 1, make([]byte, most+1)); !errors.Is(err, errArgument) {
		t.Errorf("a message that is too long: %v", err)
	}
}
