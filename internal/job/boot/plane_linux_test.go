package boot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/golci/golci/internal/test/usertest"
)

type planeNews struct {
	to, from int
	text     string
}

// openPlanes opens the planes of n ranks of one job, all telling into one channel.
func openPlanes(t *testing.T, n, room int) ([]*Plane, chan planeNews) {
	t.Helper()
	jobs, err := Local(n)
	if err != nil {
		t.Fatal(err)
	}
	news := make(chan planeNews, room)
	var planes []*Plane
	for r, j := range jobs {
		p, err := j.OpenPlane(func(from int, b []byte) { news <- planeNews{r, from, string(b)} })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() }) // twice, in some tests
		planes = append(planes, p)
	}
	return planes, news
}

// TestPlane: every rank reaches every other, with the longest and the shortest message.
func TestPlane(t *testing.T) {
	const n = 3
	planes, news := openPlanes(t, n, n*n*2)
	long := string(make([]byte, maxPlane))
	for from, p := range planes {
		for to := range n {
			for _, text := range []string{"", long} {
				if err := p.Send(t.Context(), to, []byte(text)); err != nil {
					t.Fatalf("%d to %d: %v", from, to, err)
				}
			}
		}
	}
	got := map[planeNews]int{}
	for range n * n * 2 {
		got[<-news]++
	}
	if len(got) != n*n*2 {
		t.Errorf("%d different messages: %v", len(got), got)
	}
	for _, err := range []error{
		planes[0].Send(t.Context(), n, nil), planes[0].Send(t.Context(), -1, nil),
		planes[0].Send(t.Context(), 1, make([]byte, maxPlane+1)),
	} {
		if !errors.Is(err, errArgument) {
			t.Errorf("got %v", err)
		}
	}
}

// TestPlaneFull: a rank that takes nothing holds its senders up, until it does, or until they have waited enough.
func TestPlaneFull(t *testing.T) {
	planes, news := openPlanes(t, 2, 0) // nobody reads news yet
	sent := make(chan error)
	const messages = 2000 // more than any queue holds
	go func() {
		var err error
		for i := 0; i < messages && err == nil; i++ {
			err = planes[0].Send(context.Background(), 1, fmt.Append(nil, i))
		}
		sent <- err
	}()
	for i := range messages {
		if x := <-news; x.text != fmt.Sprint(i) {
			t.Fatalf("message %d is %q", i, x.text)
		}
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var err error
	taken := 0
	for ; taken < messages && err == nil; taken++ {
		err = planes[0].Send(ctx, 1, nil)
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after %d messages: %v", taken, err)
	}
	go func() {
		for range news { //nolint:revive // so that the reader can end
		}
	}()
	planes[1].Close()
	close(news)
}

// TestPlaneGone: the end of a rank is seen.
func TestPlaneGone(t *testing.T) {
	planes, _ := openPlanes(t, 2, 1)
	if planes[0].Gone(1) {
		t.Error("rank 1 is there")
	}
	planes[1].Close()
	if !planes[0].Gone(1) {
		t.Error("rank 1 is gone")
	}
	if err := planes[0].Send(t.Context(), 1, nil); !errors.Is(err, errGone) {
		t.Errorf("got %v", err)
	}
}

// TestPlaneStrangers: what was not sealed with the job's key, or for another rank, is not taken.
func TestPlaneStrangers(t *testing.T) {
	planes, news := openPlanes(t, 2, 10)
	j := planes[1].job
	c, err := net.Dial(packets, planeName(j.Key, 1))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	good := sealPacket(j.Key, 0, 1, []byte("x"))
	for _, bad := range [][]byte{
		good[:planeFront-1], sealPacket(NewKey(), 0, 1, []byte("x")), sealPacket(j.Key, 0, 0, []byte("x")),
		sealPacket(j.Key, 2, 1, []byte("x")), append(slices.Clone(good), 'y'),
		sealPacket(j.Key, 0, 1, make([]byte, maxPlane+1)),
	} {
		if _, err := c.Write(bad); err != nil {
			t.Fatal(err)
		}
	}
	if err := planes[0].Send(t.Context(), 1, []byte("good")); err != nil {
		t.Fatal(err)
	}
	if x := <-news; x != (planeNews{1, 0, "good"}) {
		t.Errorf("got %+v", x)
	}
}

// TestPlaneTaken: another user binds the name of a rank that has died. It is gone all the same.
func TestPlaneTaken(t *testing.T) {
	planes, _ := openPlanes(t, 2, 1)
	if err := planes[0].Send(t.Context(), 1, nil); err != nil {
		t.Fatal(err)
	}
	planes[1].Close()
	name := planeName(planes[1].job.Key, 1)
	usertest.AsStranger(t, func() {
		ln, err := net.Listen("unixpacket", name)
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { ln.Close() })
		d, err := net.ListenPacket("unixgram", name)
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { d.Close() })
	})
	if !planes[0].Gone(1) {
		t.Error("another user passes for rank 1")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := planes[0].Send(ctx, 1, nil); !errors.Is(err, errGone) {
		t.Errorf("a message to another user: %v", err)
	}
}

// TestPlaneTurnsAway: a call from another user ends at once, and holds nobody up.
func TestPlaneTurnsAway(t *testing.T) {
	planes, news := openPlanes(t, 2, 1)
	name := planeName(planes[1].job.Key, 1)
	var calls []net.Conn
	usertest.AsStranger(t, func() {
		for range 300 {
			c, err := net.Dial(packets, name)
			if err != nil {
				t.Error(err)
				return
			}
			calls = append(calls, c)
		}
	})
	for _, c := range calls {
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("a stranger heard: %v", err)
		}
		c.Close()
	}
	if err := planes[0].Send(t.Context(), 1, []byte("x")); err != nil || (<-news).text != "x" {
		t.Error(err)
	}
}

// TestPlaneCloseEndsSends: a send to a rank that takes nothing ends when the plane is closed.
func TestPlaneCloseEndsSends(t *testing.T) {
	planes, news := openPlanes(t, 2, 0)
	sent := make(chan error)
	go func() {
		var err error
		for err == nil {
			err = planes[0].Send(context.Background(), 1, nil)
		}
		sent <- err
	}()
	<-news // so much has come
	planes[0].Close()
	if err := <-sent; !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
	go func() {
		for range news { //nolint:revive // so that the reader can end
		}
	}()
	planes[1].Close()
	close(news)
}
