package portals

import (
	"runtime"
	"testing"
	"time"

	"github.com/golci/golci/comm/conduit"
)

// patience bounds a wait that is over at once unless a wake-up was lost.
const patience = time.Minute

// TestSleepAsksBehindAPad: a pad at the end of a buffer is passed over and the record in the next buffer is served before it.
// The pad makes Pending true, and ready is called all the same: its caller may have nothing else to go by.
func TestSleepAsksBehindAPad(t *testing.T) {
	cs := ranks(t, 2, Config{Conduit: conduit.Config{TinyQueues: true, MaxRecord: 600}})
	q := &cs[1].seg.queues[amQueue]
	for i := range q.last {
		must(t, cs[0], 1, conduit.Request, 64, uint64(i))
		pollAll(cs[1], &log{})
	}
	if _, st := cs[0].Reserve(1, conduit.Request, 64); st != conduit.OK {
		t.Fatal(st)
	}
	cs[0].drop(1) // the place that ends the buffer is not given back
	if q.padded.Load() != 1 || !cs[1].Pending() {
		t.Fatalf("%d units of pads, pending %v", q.padded.Load(), cs[1].Pending())
	}
	calls := 0
	if !cs[1].Sleep(time.Hour, func() bool { calls++; return false }) || calls != 1 {
		t.Errorf("Sleep called ready %d times", calls)
	}
	if n := cs[1].Poll(8, &log{}); n != 0 || cs[1].Pending() {
		t.Errorf("Poll of a pad: %d, pending after it: %v", n, cs[1].Pending())
	}
}

// TestPadsWake: two senders fill the whole space with places that they give up. The receiver sleeps, and nobody rings for a
// pad. A sender that is refused for them rings, so that the receiver passes them and makes room.
func TestPadsWake(t *testing.T) {
	cs := ranks(t, 3, small(4, 2))
	armed, awake := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(awake)
		cs[2].Sleep(time.Hour, func() bool { close(armed); return false })
	}()
	<-armed
	for i := 0; ; i++ {
		_, a := cs[0].Reserve(2, conduit.Request, 512)
		_, b := cs[1].Reserve(2, conduit.Request, 8)
		cs[0].drop(2)
		cs[1].drop(2)
		if a == conduit.Retry || b == conduit.Retry {
			break
		}
		if a != conduit.OK || b != conduit.OK || i > 1000 {
			t.Fatalf("round %d: %v, %v", i, a, b)
		}
	}
	late := time.After(patience)
	for st := conduit.Retry; st == conduit.Retry; {
		select {
		case <-awake:
			cs[2].Poll(8, &log{})
		case <-late:
			cs[2].Wake()
			<-awake
			t.Fatal("the receiver slept while its space was full of pads")
		default:
			runtime.Gosched()
		}
		if st = sendTo(cs[0], 2, conduit.Request, 512, 0); st == conduit.Dead {
			t.Fatal(cs[0].Failed(2))
		}
	}
}
