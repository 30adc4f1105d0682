package boot

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// Table has one value of each rank, such as the address of its endpoint. A value is fetched when it is first asked for,
// so a rank that talks to few others asks the launcher for few. It is safe for concurrent use.
type Table[T any] struct {
	job   *Job
	key   string
	check func(T) error

	mu    sync.Mutex
	known map[int]T // guarded by mu
}

// Exchange publishes mine as this rank's value under key, waits until every rank has done the same, and returns the
// table of all. Job.Put describes keys and the greatest size of a value, which travels as JSON. check tells what is
// wrong with a value: others come from other processes. Exchange blocks the calling goroutine, until ctx ends at the
// latest. The error then wraps ErrMissing and names the missing ranks, as far as the launcher reports them. Other
// errors: those of check and of Job.Put.
func Exchange[T any](ctx context.Context, j *Job, key string, mine T, check func(T) error) (*Table[T], error) {
	b, err := json.Marshal(mine)
	if err == nil {
		err = check(mine)
	}
	if err != nil {
		return nil, fmt.Errorf("golci: rank %d: value for %q: %w", j.Rank, key, err)
	}
	if err := j.Put(key, b); err != nil {
		return nil, err
	}
	if err := j.Fence(ctx); err != nil {
		return nil, fmt.Errorf("golci: exchange of %q: %w", key, err)
	}
	return &Table[T]{job: j, key: key, check: check, known: map[int]T{j.Rank: mine}}, nil
}

// entryOf returns the value of rank. It blocks the calling goroutine while the launcher is asked, once for each rank.
// Errors: errArgument for a rank that is none, those of Job.Get, and those of the check, with the rank named.
func (t *Table[T]) entryOf(ctx context.Context, rank int) (T, error) {
	t.mu.Lock()
	v, ok := t.known[rank]
	t.mu.Unlock()
	if ok {
		return v, nil
	}
	b, err := t.job.Get(ctx, rank, t.key)
	if err != nil {
		return v, err
	}
	if err = decodeValue(b, &v, t.check); err != nil {
		return v, fmt.Errorf("golci: value of rank %d for %q: %w", rank, t.key, err)
	}
	t.mu.Lock()
	t.known[rank] = v // another goroutine may have been quicker, with the same value
	t.mu.Unlock()
	return v, nil
}

// All returns the values of all ranks, by rank. It blocks and fails as entryOf does.
func (t *Table[T]) All(ctx context.Context) ([]T, error) {
	out := make([]T, t.job.Size)
	for rank := range out {
		v, err := t.entryOf(ctx, rank)
		if err != nil {
			return nil, err
		}
		out[rank] = v
	}
	return out, nil
}

// Near says whether rank is on this rank's node.
func (j *Job) Near(rank int) bool {
	_, found := slices.BinarySearch(j.LocalRanks, rank)
	return found
}
