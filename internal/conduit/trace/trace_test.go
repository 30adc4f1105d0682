package trace

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/comm/conduit/conformance"
	"github.com/golci/golci/internal/conduit/local"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func wrapped(t testing.TB, n int, cfg conduit.Config, w io.Writer) []conduit.Conduit {
	cs, err := local.New(n, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i := range cs {
		cs[i] = New(cs[i], w)
	}
	return cs
}

func TestConformance(t *testing.T) {
	conformance.Run(t, func(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
		return wrapped(t, n, cfg, io.Discard)
	})
}

type none struct{}

func (none) Record(int, []byte)              {}
func (none) Bulk(int, uint64, int64, []byte) {}

func TestLines(t *testing.T) {
	var out bytes.Buffer
	cs := wrapped(t, 2, conduit.Config{}, &out)
	if _, st := cs[0].Reserve(1, conduit.Reply, 64); st != conduit.OK {
		t.Fatal(st)
	}
	cs[0].Commit(1, 5<<32|48)
	cs[0].Reserve(7, conduit.Request, 64)
	cs[0].BulkSend(1, 3, 0, make([]byte, 9))
	cs[1].Poll(10, none{})
	cs[1].Sleep(0, nil)
	cs[1].Wake()
	_ = cs[1].Failed(2)
	_ = cs[0].Close()
	_ = cs[1].Close()
	want := `0 send 1 reply bytes=48 word=5
0 refused 7 dead request bytes=64
0 bulk 1 id=3 off=0 bytes=9 took=9
1 chunk 0 id=3 off=0 bytes=9
1 recv 0 bytes=48
1 sleep ns=0
1 awake
1 wake
1 failed 2 rank 2: rank is not reachable through this conduit: job of 2 ranks
0 close
1 close
`
	if got := regexp.MustCompile(`(?m)^\d+ `).ReplaceAllString(out.String(), ""); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

var errFull = errors.New("full")

type full struct{ n int }

func (f *full) Write(b []byte) (int, error) {
	f.n++
	return 0, errFull
}

func TestWriterError(t *testing.T) {
	w := &full{}
	cs := wrapped(t, 1, conduit.Config{}, w)
	cs[0].Wake()
	cs[0].Wake()
	if err := cs[0].Close(); !errors.Is(err, errFull) || !strings.Contains(err.Error(), "full") {
		t.Errorf("Close: %v", err)
	}
	if w.n != 1 {
		t.Errorf("%d writes after an error", w.n-1)
	}
}
