package shm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/conduit"
)

// TestLackOfDescriptors: the exchange ends when descriptors are lacking for long without a pause, not when they are
// lacking now and then. It ends at once when the system refuses a call.
func TestLackOfDescriptors(t *testing.T) {
	x := &exchange{}
	now := time.Unix(1000, 0)
	for i := range 10 { // now and then
		if now = now.Add(2 * scarcePause); x.lacksFiles(now) {
			t.Errorf("given up after %d lacks with pauses", i)
		}
	}
	now = now.Add(time.Hour)
	for end := now.Add(scarce); !now.After(end); now = now.Add(lastPause) {
		if x.lacksFiles(now) {
			t.Fatalf("given up %v early", end.Sub(now))
		}
	}
	if !x.lacksFiles(now) {
		t.Errorf("not given up after %v", scarce+lastPause)
	}
	for _, c := range []struct {
		errno unix.Errno
		ends  bool
	}{{unix.EPERM, true}, {unix.ENOSYS, true}, {unix.EMFILE, false}, {unix.ECONNRESET, false}} {
		x := &exchange{cfg: &Config{Rank: 3}, done: func() {}}
		x.judge(fmt.Errorf("wrapped: %w", os.NewSyscallError("accept4", c.errno)))
		if ends := x.fatal != nil; ends != c.ends || ends && !strings.Contains(x.fatal.Error(), "accept4") {
			t.Errorf("%v: %v", c.errno, x.fatal)
		}
	}
}

// TestMemoryThatCannotBeTaken: a peer's descriptor is lost on the way, because this process has none free. The rank
// does not wait for that peer.
func TestMemoryThatCannotBeTaken(t *testing.T) {
	cs := inProcess(t, 2, conduit.Config{})
	defer func() {
		for _, c := range cs {
			c.Close()
		}
	}()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	many := slices.Repeat([]int{int(null.Fd())}, 20) // more than there is room for: the kernel marks both losses the same
	packet := append([]byte(memoryWord), bytes.Repeat([]byte{1}, 16)...)
	if _, _, err := endOf(cs[1]).conns[0].WriteMsgUnix(packet, unix.UnixRights(many...), nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for err == nil && ctx.Err() == nil {
		time.Sleep(100 * time.Microsecond)
		_, _, err = cs[0].(conduit.Remote).Map(1, conduit.Key{Size: 1})
	}
	if !errors.Is(err, conduit.ErrUnreachable) || !strings.Contains(err.Error(), "recvmsg") {
		t.Errorf("its memory: %v", err)
	}
	if err := cs[0].Failed(1); err != nil {
		t.Errorf("the peer counts as %v", err)
	}
}
