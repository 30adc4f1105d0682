package boot

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golci/golci/internal/job/boot/pmi"
)

var here = netip.MustParseAddr("127.0.0.1")

// onNodes makes the jobs of ranks that live on pretend nodes: counts[i] consecutive ones on node i.
func onNodes(t *testing.T, counts ...int) []*Job {
	t.Helper()
	size := 0
	for _, n := range counts {
		size += n
	}
	jobs, err := Local(size)
	if err != nil {
		t.Fatal(err)
	}
	first := 0
	for _, n := range counts {
		for r := first; r < first+n; r++ {
			jobs[r].LocalRanks = jobs[r].LocalRanks[first : first+n]
		}
		first += n
	}
	return jobs
}

// openAll opens the planes of all ranks at once, all telling into one channel.
func openAll(t *testing.T, jobs []*Job, room int) ([]*Plane, chan planeNews) {
	t.Helper()
	news := make(chan planeNews, room)
	planes := make([]*Plane, len(jobs))
	all(t, jobs, func(_ context.Context, j *Job) (err error) {
		planes[j.Rank], err = j.OpenPlane(func(from int, b []byte) { news <- planeNews{j.Rank, from, string(b)} }, here)
		return err
	})
	t.Cleanup(func() {
		for _, p := range planes {
			if p != nil {
				p.Close()
			}
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	return planes, news
}

// everyPair has every rank send to every rank, and wants each message once.
func everyPair(t *testing.T, planes []*Plane, news chan planeNews) {
	t.Helper()
	n := len(planes)
	var wg sync.WaitGroup
	for from, p := range planes {
		for to := range n {
			wg.Go(func() {
				if err := p.Send(t.Context(), to, fmt.Appendf(nil, "%d to %d", from, to)); err != nil {
					t.Errorf("%d to %d: %v", from, to, err)
				}
			})
		}
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	got := map[planeNews]int{}
	for range n * n {
		x := <-news
		got[x]++
		if x.text != fmt.Sprintf("%d to %d", x.from, x.to) {
			t.Errorf("got %+v", x)
		}
	}
	if len(got) != n*n || len(news) != 0 {
		t.Errorf("%d different messages and %d more", len(got), len(news))
	}
}

// TestPlaneNodes: every rank reaches every other, on its node and beyond.
func TestPlaneNodes(t *testing.T) {
	for _, counts := range [][]int{{1, 1}, {2, 1}, {3, 2, 4}} {
		t.Run(fmt.Sprint(counts), func(t *testing.T) {
			jobs := onNodes(t, counts...)
			planes, news := openAll(t, jobs, len(jobs)*len(jobs))
			everyPair(t, planes, news)
		})
	}
}

// TestPlaneWire: the same over a launcher's store, and beside a fence that does not end.
func TestPlaneWire(t *testing.T) {
	const size = 4
	jobs := newBench(t, size, map[string]string{pmi.KeyMapping: "(vector,(0,2,2))"}).joinAll(t, size, false)
	planes, news := openAll(t, jobs, size*size)
	fences := make(chan error, size)
	for _, j := range jobs[1:] {
		go func() { fences <- j.Fence(t.Context()) }()
	}
	everyPair(t, planes, news)
	if err := jobs[0].Fence(t.Context()); err != nil {
		t.Error(err)
	}
	for range size - 1 {
		if err := <-fences; err != nil {
			t.Error(err)
		}
	}
	all(t, jobs, func(ctx context.Context, j *Job) error { return j.Finalize(ctx) })
}

// TestPlaneOneNode: nothing but the socket is opened when all ranks are on one node, and nobody is waited for.
func TestPlaneOneNode(t *testing.T) {
	planes, _ := openPlanes(t, 2, 1)
	for _, p := range planes {
		if p.mesh != nil {
			t.Error("there are no other nodes")
		}
	}
}

// TestPlaneFarGone: the end of a rank of another node is seen.
func TestPlaneFarGone(t *testing.T) {
	planes, _ := openAll(t, onNodes(t, 1, 1), 1)
	if planes[0].Gone(1) {
		t.Error("rank 1 is there")
	}
	planes[1].Close()
	for !planes[0].Gone(1) {
		time.Sleep(time.Millisecond)
	}
	if err := planes[0].Send(t.Context(), 1, nil); !errors.Is(err, errGone) || !strings.Contains(err.Error(), "gone: 1") {
		t.Errorf("got %v", err)
	}
	for _, err := range []error{planes[0].Send(t.Context(), 2, nil), planes[0].Send(t.Context(), 1, make([]byte, maxPlane+1))} {
		if !errors.Is(err, errArgument) {
			t.Errorf("got %v", err)
		}
	}
}

// TestPlaneAlone: a rank whose peers do not open their planes says who they are, and leaves nothing behind.
func TestPlaneAlone(t *testing.T) {
	jobs := onNodes(t, 1, 2)
	jobs[1].patience = 20 * time.Millisecond
	_, err := jobs[1].OpenPlane(func(int, []byte) { t.Error("a message was taken") })
	var missing *MissingError
	if !errors.As(err, &missing) || missing.Ranks != "0,2" {
		t.Errorf("got %v", err)
	}
	if c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: planeName(jobs[1].Key, 1), Net: "unixgram"}); err == nil {
		c.Close()
		t.Error("its socket is still there")
	}
}

// TestPlaneEarly: what comes while the plane is opened waits; when the opening fails it is lost, and holds nobody up.
func TestPlaneEarly(t *testing.T) {
	for _, fails := range []bool{true, false} {
		jobs := onNodes(t, 2, 1)
		jobs[1].patience = 20 * time.Millisecond
		if !fails {
			jobs[1].patience = time.Minute
		}
		came := make(chan string, 1)
		var mu sync.Mutex // as the caller's own, which take wants
		mu.Lock()
		sent := make(chan error, 1)
		go func() { // rank 0 does not wait for anybody
			p, err := openNear(jobs[0], func(int, []byte) {})
			if err != nil {
				sent <- err
				return
			}
			for err == nil || errors.Is(err, errGone) { // until rank 1 has its socket
				if err = p.sendTo(t.Context(), 1, []byte("early")); err == nil {
					break
				}
			}
			sent <- errors.Join(err, p.closePlane())
			if !fails {
				for _, r := range []int{0, 2} {
					_ = jobs[r].Put(keyPlane, []byte("[]"))
					go func() { _ = jobs[r].Fence(t.Context()) }()
				}
			}
		}()
		p, err := jobs[1].OpenPlane(func(_ int, b []byte) {
			mu.Lock()
			defer mu.Unlock()
			came <- string(b)
		}, here)
		if err := <-sent; err != nil {
			t.Error(err)
		}
		mu.Unlock()
		if fails {
			if !errors.Is(err, ErrMissing) || len(came) > 0 {
				t.Errorf("%v, and %d messages", err, len(came))
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := <-came; got != "early" {
			t.Errorf("got %q", got)
		}
		p.Close()
	}
}

// TestCircle: whoever package exit sends to, or waits for, is known beforehand.
func TestCircle(t *testing.T) {
	for _, c := range []struct {
		rank, size int
		want       []int
	}{
		{0, 1, nil},
		{1, 2, []int{0, 0}},
		{0, 5, []int{1, 4, 2, 3, 4, 1}},
		{7, 8, []int{0, 6, 1, 5, 3, 3}},
	} {
		if got := circleOf(c.rank, c.size); !slices.Equal(got, c.want) {
			t.Errorf("rank %d of %d: got %v, want %v", c.rank, c.size, got, c.want)
		}
	}
}
