package boot

import (
	"context"
	"encoding/json"
	"fmt"
)

// mostAsked is up to how many ranks each asks the launcher for the value of each other. That takes a round trip for
// each. Larger jobs gather the values among the ranks, in a logarithm of rounds.
const mostAsked = 256

// ExchangeNear publishes mine as this rank's value under key, waits until every rank has done the same, and returns
// the values of some ranks, in their order. It asks for no others. Job.Put describes keys and values. It blocks the
// calling goroutine, until ctx ends at the latest. Errors: those of Job.Put, Job.Fence and Job.Get.
func ExchangeNear(ctx context.Context, j *Job, key string, mine []byte, ranks []int) ([][]byte, error) {
	if err := j.Put(key, mine); err != nil {
		return nil, err
	}
	if err := j.Fence(ctx); err != nil {
		return nil, err
	}
	out := make([][]byte, len(ranks))
	for i, r := range ranks {
		var err error
		if out[i], err = j.Get(ctx, r, key); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ExchangeAll is Exchange whose values are all fetched, and returned by rank. In a job of more than 256
// ranks they travel among the ranks, over TCP, in ceil(log2 N) rounds, and the launcher is asked for as many addresses.
// The key may then have three letters less than elsewhere. It blocks and fails as Exchange does. The error also names
// the rank that was waited for.
func ExchangeAll[T any](ctx context.Context, j *Job, key string, mine T, check func(T) error) ([]T, error) {
	_, inside := j.store.(*memoryRank) // where an answer costs nothing
	return exchangeAll(ctx, j, key, mine, check, inside || j.Size <= mostAsked)
}

func exchangeAll[T any](ctx context.Context, j *Job, key string, mine T, check func(T) error, ask bool) ([]T, error) {
	if ask {
		table, err := Exchange(ctx, j, key, mine, check)
		if err != nil {
			return nil, err
		}
		return table.All(ctx)
	}
	b, err := json.Marshal(mine)
	if err == nil {
		err = check(mine)
	}
	if err != nil {
		return nil, fmt.Errorf("golci: rank %d: value for %q: %w", j.Rank, key, err)
	}
	values, err := gatherValues(ctx, j, key, b)
	if err != nil {
		return nil, fmt.Errorf("golci: exchange of %q: %w", key, err)
	}
	out := make([]T, j.Size)
	for rank, b := range values {
		if err := decodeValue(b, &out[rank], check); err != nil {
			return nil, fmt.Errorf("golci: value of rank %d for %q: %w", rank, key, err)
		}
		values[rank] = nil // the collector may have it
	}
	return out, nil
}

// decodeValue reads a value of another rank.
func decodeValue[T any](b []byte, v *T, check func(T) error) error {
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%w; do all ranks run the same program?", err)
	}
	return check(*v)
}

// exchangeCircle is Exchange whose values of some ranks are fetched at once: those at the distances 1, 2, 4, ... round
// the circle, both ways, for which want is true. They are those that the end of a job needs.
func exchangeCircle[T any](
	ctx context.Context, j *Job, key string, mine T, check func(T) error, want func(rank int) bool,
) (*Table[T], error) {
	table, err := Exchange(ctx, j, key, mine, check)
	if err != nil {
		return nil, err
	}
	for _, rank := range circleOf(j.Rank, j.Size) {
		if !want(rank) {
			continue
		}
		if _, err := table.entryOf(ctx, rank); err != nil {
			return nil, err
		}
	}
	return table, nil
}

// circleOf lists the ranks at the distances 1, 2, 4, ... round the circle, both ways: those that package exit talks to.
// Their addresses are fetched beforehand. At the end of the job the launcher's answers may have to wait for a Fence
// that never ends.
func circleOf(rank, size int) (out []int) {
	for d := 1; d < size; d *= 2 {
		out = append(out, (rank+d)%size, (rank+size-d)%size)
	}
	return out
}
