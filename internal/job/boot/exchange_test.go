package boot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

type endpoint struct {
	Addr string
	Port uint16
}

var errShort = errors.New("too short")

func sound(e endpoint) error {
	if e.Addr == "" {
		return errShort
	}
	return nil
}

func addressOf(rank int) endpoint {
	return endpoint{strings.Repeat(fmt.Sprint("10.0.0.", rank, " "), 100), uint16(rank)} // more than a line of PMI
}

// swap has one rank take part in an exchange, and look at all values twice.
func swap(ctx context.Context, j *Job) error {
	table, err := Exchange(ctx, j, "udp.addr", addressOf(j.Rank), sound)
	if err != nil {
		return err
	}
	for range 2 {
		all, err := table.All(ctx)
		if err != nil {
			return err
		}
		for r, got := range all {
			if got != addressOf(r) {
				return fmt.Errorf("rank %d has %v", r, got)
			}
		}
	}
	if _, err := table.entryOf(ctx, j.Size); !errors.Is(err, errArgument) {
		return fmt.Errorf("a rank too many: %w", err)
	}
	return nil
}

func TestExchange(t *testing.T) {
	local, err := Local(4)
	if err != nil {
		t.Fatal(err)
	}
	all(t, local, swap)
	wired := newBench(t, 4, ours(NewKey(), 4)).joinAll(t, 4, true)
	all(t, wired, swap)
	all(t, wired, func(ctx context.Context, j *Job) error { return j.Finalize(ctx) })
}

// TestExchangeMissing: the error names who has not come.
func TestExchangeMissing(t *testing.T) {
	for name, jobs := range map[string][]*Job{
		"local": must(Local(4)), "wire": newBench(t, 4, ours(NewKey(), 4)).joinAll(t, 4, true),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			_, err := Exchange(ctx, jobs[2], "addr", addressOf(2), sound)
			var missing *MissingError
			if !errors.As(err, &missing) || !errors.Is(err, ErrMissing) || missing.Ranks != "0-1,3" {
				t.Errorf("got %v", err)
			}
			if name == "wire" {
				all(t, jobs, func(_ context.Context, j *Job) error { return j.Abort(1, "the test is over") })
			}
		})
	}
}

func must(jobs []*Job, err error) []*Job {
	if err != nil {
		panic(err)
	}
	return jobs
}

// TestExchangeWrong: what a rank cannot make bytes of does not travel; what nobody can read is named with its rank.
func TestExchangeWrong(t *testing.T) {
	jobs, err := Local(2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Exchange(t.Context(), jobs[0], "a", endpoint{}, sound); !errors.Is(err, errShort) {
		t.Errorf("no address: %v", err)
	}
	if _, err := Exchange(t.Context(), jobs[0], "a b", addressOf(0), sound); !errors.Is(err, errArgument) {
		t.Errorf("a bad key: %v", err)
	}
	for _, c := range []struct{ value, says string }{
		{"{}", errShort.Error()},
		{"\x02", "do all ranks run the same program?"},
		{"", "do all ranks run the same program?"},
	} {
		key := fmt.Sprintf("b%d", len(c.value))
		all(t, jobs, func(ctx context.Context, j *Job) error {
			if err := errors.Join(j.Put(key, []byte(c.value)), j.Fence(ctx)); err != nil {
				return err
			}
			own, other := addressOf(j.Rank), 1-j.Rank
			table := &Table[endpoint]{job: j, key: key, check: sound, known: map[int]endpoint{j.Rank: own}}
			_, err := table.entryOf(ctx, other)
			text := fmt.Sprint(err)
			if err == nil || !strings.Contains(text, c.says) || !strings.Contains(text, fmt.Sprint("rank ", other)) {
				return fmt.Errorf("what cannot be read: %w", err)
			}
			if v, err := table.entryOf(ctx, j.Rank); err != nil || v != own {
				return fmt.Errorf("its own: %v, %w", v, err)
			}
			return nil
		})
	}
}

func TestNear(t *testing.T) {
	j := &Job{Size: 6, LocalRanks: []int{1, 2, 4}}
	for rank, want := range []bool{false, true, true, false, true, false} {
		if j.Near(rank) != want {
			t.Errorf("rank %d: %v", rank, !want)
		}
	}
	if j.Near(-1) || j.Near(6) {
		t.Error("ranks that are none are near")
	}
}
