package suite

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/datagram"
)

// TestConduitAndSecurityAreInTheRows: each mode is run in turn, next to the raw limit, and named by what its ranks
// were told.
func TestConduitAndSecurityAreInTheRows(t *testing.T) {
	for _, c := range []struct {
		name, conduit string
		security      []string
		want          []string
	}{
		{"rate", "", nil, []string{"golci"}},
		{"rate", "shm", nil, []string{"golci-shm"}},
		{"rate", "udp", nil, []string{"golci-udp-encrypt"}},
		{"latency", "udp", []string{"trust", "encrypt"}, []string{"golci-udp-trust", "golci-udp-encrypt", "raw"}},
		{"bandwidth", "udp", []string{"authenticate"}, []string{"golci-udp-authenticate", "raw"}},
	} {
		t.Run(c.name+"/"+c.conduit, func(t *testing.T) {
			t.Setenv(fakeEnv, "good")
			conf, out := config(t, c.name)
			conf.Conduit, conf.Security, conf.Sizes, conf.JSON = c.conduit, c.security, []int{64}, true
			conf.Duration = time.Millisecond
			if err := Run(t.Context(), conf); err != nil {
				t.Fatal(err)
			}
			var got []string
			err := bench.ReadJSON(bytes.NewReader(out.Bytes()), func(r bench.Row) {
				got = append(got, r.Impl)
				if limited := slices.Contains(c.want, bench.Raw); limited && bench.Ours(r.Impl) != (r.VsRaw > 0) {
					t.Errorf("ratio to the raw limit in %+v", r)
				}
			})
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("rows %q, want %q, error %v", got, c.want, err)
			}
		})
	}
}

func TestWhatStaysOffTheNetworkIsTold(t *testing.T) {
	for _, c := range []struct {
		what  string
		moved uint64
		known bool
		told  bool
	}{{"nothing moved", 0, true, true}, {"a little", leastTraffic - 1, true, true}, {"enough", leastTraffic, true, false}, {"not known", 0, false, false}} {
		counted := uint64(1000)
		var got bench.Row
		err := watch(func() (uint64, bool) { return counted, c.known }, func(r bench.Row) { got = r }, func(out func(bench.Row)) error {
			counted += c.moved
			out(bench.Row{Value: 1})
			return ErrName
		})
		if told := strings.HasPrefix(got.Note, "NOT over the network"); told != c.told || !errors.Is(err, ErrName) || got.Value != 1 {
			t.Errorf("%s: row %+v, error %v", c.what, got, err)
		}
	}
}

func TestTheLoopbackInterfaceIsCounted(t *testing.T) {
	before, ok := loopbackBytes()
	if !ok {
		t.Skip("the system does not tell what its loopback interface moves")
	}
	if _, err := datagram.PingPong(t.Context(), 8, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if after, _ := loopbackBytes(); after <= before {
		t.Errorf("%d bytes before datagrams were sent, %d after", before, after)
	}
}

func TestAllOverAConduit(t *testing.T) {
	chosen, err := choose(Config{Names: []string{"all"}, N: 2, Conduit: udpConduit})
	var names []string
	for _, s := range chosen {
		names = append(names, s.name)
	}
	want := "[latency bandwidth bibw rate threads barrier bcast allreduce reduce reduce_scatter allgather alltoall " +
		"alltoallv vector packed winput winget accumulate fetch_and_op]"
	if err != nil || fmt.Sprint(names) != want {
		t.Errorf("all over a conduit is %v, want %s; error %v", names, want, err)
	}
}

// TestRanksOfAJobHaveTheirConduit: inside a job it is too late to choose one, and its name comes from the environment.
func TestRanksOfAJobHaveTheirConduit(t *testing.T) {
	c := Config{Conduit: udpConduit}
	if err := c.checkConduit(true); !errors.Is(err, ErrUsage) {
		t.Errorf("in a job: %v", err)
	}
	if err := c.checkConduit(false); err != nil {
		t.Error(err)
	}
}
