package stat

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/comm/conduit/conformance"
	"github.com/golci/golci/internal/conduit/local"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func wrapped(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
	cs, err := local.New(n, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i := range cs {
		cs[i] = New(cs[i])
	}
	return cs
}

func TestConformance(t *testing.T) { conformance.Run(t, wrapped) }

type none struct{}

func (none) Record(int, []byte)              {}
func (none) Bulk(int, uint64, int64, []byte) {}

func TestCounts(t *testing.T) {
	cs := wrapped(t, 2, conduit.Config{TinyQueues: true, BulkChunk: 100})
	a, b := cs[0].(*Conduit), cs[1].(*Conduit)
	for range 5 {
		if _, st := a.Reserve(1, conduit.Request, 48); st == conduit.OK {
			a.Commit(1, 40)
		}
	}
	if _, st := a.Reserve(1, conduit.Reply, 16); st != conduit.OK {
		t.Fatal(st)
	}
	a.Commit(1, 16)
	if _, st := a.Reserve(0, conduit.System, 16); st != conduit.OK {
		t.Fatal(st)
	}
	if n := a.BulkSend(1, 1, 0, make([]byte, 250)); n != 200 {
		t.Fatalf("bulk took %d", n)
	}
	a.BulkSend(1, 1, 200, make([]byte, 50))
	for b.Pending() {
		b.Poll(10, none{})
	}
	b.Poll(1, none{})
	b.Sleep(time.Microsecond, nil)
	b.Wake()
	want := Peer{
		Sent: [3]uint64{2, 1, 0}, SentBytes: [3]uint64{80, 16, 0}, Refused: [3]uint64{3, 0, 0}, BulkSent: 200, BulkFull: 1,
	}
	if got := a.Snapshot().Peers[1]; got != want {
		t.Errorf("sender has %+v, want %+v", got, want)
	}
	if got := a.Snapshot().Peers[0]; got != (Peer{}) {
		t.Errorf("a record that was never committed was counted: %+v", got)
	}
	s := b.Snapshot()
	if want := (Peer{Received: 3, ReceivedBytes: 96, BulkChunks: 2, BulkReceived: 200}); s.Peers[0] != want {
		t.Errorf("receiver has %+v, want %+v", s.Peers[0], want)
	}
	if s.Polls < 2 || s.Empty != 1 || s.Busy != 0 || s.Sleeps != 1 || s.Slept <= 0 || s.Wakes != 1 {
		t.Errorf("receiver has %+v", s)
	}
	for _, c := range cs {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
