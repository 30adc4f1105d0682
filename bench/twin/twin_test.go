package twin

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/am"
	"github.com/golci/golci/bench"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/rank"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(udptest.Patiently(m)) }

// TestRowsOfEveryBenchmark: each has its rows, with the crossing and with what they are compared with.
func TestRowsOfEveryBenchmark(t *testing.T) {
	modes := []string{"golci-dynamic", "golci-static", "golci-none"}
	for _, c := range []struct {
		name  string
		sizes []int
		want  []string // bench, implementation, size, unit, comparisons in the note
	}{
		{Active, []int{0, 512}, []string{
			"am golci 0 us 0", "am golci 512 us 0", "am-flood golci 0 ns 0", "am-flood golci 512 ns 0",
		}},
		{Flow, []int{8, 1024}, []string{
			"flow golci-dynamic 8 ns 2", "flow golci-static 8 ns 1", "flow golci-none 8 ns 0",
			"flow golci-dynamic 1024 ns 2", "flow golci-static 1024 ns 1", "flow golci-none 1024 ns 0",
		}},
		{Put, []int{8, 4096}, []string{
			"put golci 8 ns 1", "put golci-value 8 ns 1", "put store 8 ns 0", "put golci 4096 ns 1", "put memcpy 4096 ns 0",
		}},
		{Get, []int{8, 4096}, []string{
			"get golci 8 ns 1", "get golci-value 8 ns 1", "get load 8 ns 0", "get golci 4096 ns 1", "get memcpy 4096 ns 0",
		}},
		{Notify, []int{8, 4096}, []string{"notify golci 8 us 0", "notify golci 4096 us 0"}},
	} {
		var got []string
		for i, err := range local("local", func(on *rank.Rank) error {
			return Run(t.Context(), on, Config{Bench: c.name, Sizes: c.sizes, Window: time.Millisecond, least: 100},
				func(r bench.Row) {
					compared := 0
					for _, plain := range append(modes, "times") {
						compared += strings.Count(r.Note, plain)
					}
					got = append(got, fmt.Sprint(r.Bench, " ", r.Impl, " ", r.Size, " ", r.Unit, " ", compared))
					if r.Value <= 0 || r.Crossing <= 0 || r.Threads != 1 {
						t.Errorf("row %+v", r)
					}
				})
		}) {
			if err != nil {
				t.Errorf("%s, rank %d: %v", c.name, i, err)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: rows %q, want %q", c.name, got, c.want)
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		over string
		cfg  Config
		want error
	}{
		{"local", Config{Bench: "swap", Sizes: []int{8}}, ErrName},
		{"local", Config{Bench: Put}, ErrSize},
		{"local", Config{Bench: Notify, Sizes: []int{64, 7}}, ErrSize},
		{"local", Config{Bench: Flow, Sizes: []int{8, mostSize + 1}}, ErrSize},
		{"local", Config{Bench: Active, Sizes: []int{1 << 30}}, am.ErrSize},
		{"udp", Config{Bench: Put, Sizes: []int{8}}, ErrShare},
	} {
		for i, err := range local(c.over, func(on *rank.Rank) error { return Run(t.Context(), on, c.cfg, nil) }) {
			if !errors.Is(err, c.want) {
				t.Errorf("%+v, rank %d: error %v, want %v", c.cfg, i, err, c.want)
			}
		}
	}
	if _, err := Start(t.Context()); !errors.Is(err, ErrRanks) {
		t.Errorf("a process without a launcher: %v", err)
	}
}

func TestHandlersSeeWhatIsWrong(t *testing.T) {
	for what, do := range map[string]func(e *end){
		"answer out of turn": func(e *end) { e.answer(nil, []uint64{5}, nil) },
		"request lost":       func(e *end) { e.take(1, nil) },
		"payload damaged":    func(e *end) { e.take(0, []byte{0, 1, 3}) },
	} {
		e := &end{}
		if do(e); !errors.Is(e.wrong, ErrData) {
			t.Errorf("%s: %v", what, e.wrong)
		}
	}
	e := &end{}
	e.take(0, []byte{0, 1, 2})
	e.answer(nil, []uint64{0}, nil)
	if e.wrong != nil || e.seen != 1 || e.answers != 1 {
		t.Errorf("good messages: %+v", e)
	}
}

// TestPutsOutOfTurnAreFound: rank 1 is put a number that is not due, rank 0 is answered with another than it has put.
func TestPutsOutOfTurnAreFound(t *testing.T) {
	for _, late := range []bool{false, true} {
		errs := local("local", func(on *rank.Rank) error {
			p, err := newPair(t.Context(), on, nil)
			if err != nil {
				return err
			}
			r, err := p.openMemory(8)
			if err != nil {
				return err
			}
			defer r.mem.Close()
			switch first := on.Rank() == 0; {
			case !first && !late:
				err = r.echo(8)
			case !first:
				err = r.put(0, 8, 7)
			case late:
				err = r.pingPong(8, 1)
			default:
				err = r.put(1, 8, 7)
			}
			return errors.Join(err, on.Job().Barrier(t.Context()))
		})
		finder := 1
		if late {
			finder = 0
		}
		if errs[1-finder] != nil || !errors.Is(errs[finder], ErrData) {
			t.Errorf("rank %d should find it: %v", finder, errs)
		}
	}
}

// TestBytesToMoveAreNotThereYet: otherwise an access that does nothing would pass.
func TestBytesToMoveAreNotThereYet(t *testing.T) {
	r := &memory{peer: make([]byte, 64), src: make([]byte, 64), dst: make([]byte, 64)}
	from, to := r.fill(Put, 64)
	if slices.Equal(from, to) || &from[0] != &r.src[0] || &to[0] != &r.peer[0] {
		t.Error("a put begins with the bytes in place, or somewhere else")
	}
	from, to = r.fill(Get, 64)
	if slices.Equal(from, to) || &from[0] != &r.peer[0] || &to[0] != &r.dst[0] {
		t.Error("a get begins with the bytes in place, or somewhere else")
	}
}

func TestRowsCompareWithThePlainSide(t *testing.T) {
	rows := rowsOf(Put, 8, []side{{impl: bench.Golci, ns: []float64{9, 6, 5}}, {impl: "store", ns: []float64{4, 2, 90}}})
	if len(rows) != 2 || rows[0].Value != 6 || rows[1].Value != 4 || rows[0].Note != "+2.0 ns, 1.50 times store" || rows[1].Note != "" {
		t.Errorf("rows %+v", rows)
	}
}
