package amrank

import (
	"errors"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/am"
	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/rma/twin"
	"github.com/golci/golci/rank"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRowsOfEverySize(t *testing.T) {
	var rows []bench.Row
	for i, err := range twin.Local("local", func(r *rank.Rank) error {
		e := &end{job: r.Job(), ep: r.Endpoint(), least: 100, out: func(r bench.Row) { rows = append(rows, r) }}
		return run(t.Context(), e, r, []int{0, 512}, time.Millisecond)
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", i, err)
		}
	}
	var got []string
	for _, r := range rows {
		got = append(got, r.Bench+" "+r.Unit)
		if r.Value <= 0 {
			t.Errorf("row %+v", r)
		}
	}
	if want := []string{"am us", "am us", "am-flood ns", "am-flood ns"}; !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
}

func TestTooLargeForMedium(t *testing.T) {
	for i, err := range twin.Local("local", func(r *rank.Rank) error {
		return Run(t.Context(), r, []int{1 << 30}, time.Millisecond, nil)
	}) {
		if !errors.Is(err, am.ErrSize) {
			t.Errorf("rank %d: error %v, want %v", i, err, am.ErrSize)
		}
	}
}

func TestHandlersSeeWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		what string
		do   func(r *end)
	}{
		{"answer out of turn", func(r *end) { r.answer(nil, []uint64{5}, nil) }},
		{"request lost", func(r *end) { r.take(nil, []uint64{1}, nil) }},
		{"payload damaged", func(r *end) { r.take(nil, []uint64{0}, []byte{0, 1, 3}) }},
	} {
		r := &end{}
		if c.do(r); !errors.Is(r.wrong, ErrPayload) {
			t.Errorf("%s: %v", c.what, r.wrong)
		}
	}
	r := &end{}
	r.take(nil, []uint64{0}, []byte{0, 1, 2})
	r.answer(nil, []uint64{0}, nil)
	if r.wrong != nil || r.seen != 1 || r.answers != 1 {
		t.Errorf("good messages: %+v", r)
	}
}
