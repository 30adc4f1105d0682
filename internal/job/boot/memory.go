package boot

import (
	"context"
	"fmt"
	"sync"

	"github.com/golci/golci/internal/job/boot/pmi"
)

// Local makes the n Jobs of a job whose ranks live in this process. An Abort by one of them ends the others' waits with
// ErrAborted. Error: errArgument for n below 1.
func Local(n int) ([]*Job, error) {
	if n < 1 {
		return nil, fmt.Errorf("%w: a job of %d ranks", errArgument, n)
	}
	return memoryJobs(n, LauncherLocal), nil
}

func memoryJobs(n int, launcher string) []*Job {
	m := &memory{size: n, at: make([]bool, n), kvs: map[memKey][]byte{}, staged: map[memKey][]byte{}}
	m.gate = make(chan struct{})
	m.dead = make(chan struct{})
	key := NewKey()
	all := make([]int, n)
	jobs := make([]*Job, n)
	for i := range all {
		all[i] = i
	}
	for i := range jobs {
		jobs[i] = &Job{
			Rank: i, Size: n, Mates: n, Late: n, LocalRanks: all, JobID: IDFromKey(key), Key: key, Launcher: launcher,
			store: &memoryRank{m: m, rank: i},
		}
	}
	return jobs
}

type memKey struct {
	rank int
	key  string
}

// memory is the store of a job inside one process.
type memory struct {
	size int
	dead chan struct{} // closed by the first abort

	mu     sync.Mutex // guards the rest
	at     []bool     // ranks in the fence
	count  int        // number of true in at
	gate   chan struct{}
	kvs    map[memKey][]byte
	staged map[memKey][]byte // visible after the fence
	reason error             // set with dead
	names  map[string]string // published services
}

// memoryRank is one rank's view of a memory.
type memoryRank struct {
	m    *memory
	rank int
	done bool // guarded by m.mu
}

func (r *memoryRank) putValue(_ context.Context, rank int, key string, value []byte) error {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	if err := r.checkUsable(); err != nil {
		return err
	}
	r.m.staged[memKey{rank, key}] = append([]byte{}, value...)
	return nil
}

func (r *memoryRank) getValue(_ context.Context, rank int, key string) ([]byte, error) {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	if err := r.checkUsable(); err != nil {
		return nil, err
	}
	v, ok := r.m.kvs[memKey{rank, key}]
	if !ok {
		return nil, fmt.Errorf("%w: %q of rank %d", ErrNoKey, key, rank)
	}
	return append([]byte{}, v...), nil
}

func (r *memoryRank) fence(ctx context.Context) error {
	gate, err := r.enterGate()
	if err != nil {
		return err
	}
	select {
	case <-gate:
		return nil
	case <-r.m.dead:
		return r.m.reason
	case <-ctx.Done():
	}
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	select {
	case <-gate:
		return nil
	default:
	}
	return &MissingError{Size: r.m.size, Ranks: r.m.missingRanks(), Err: ctx.Err()}
}

// enterGate counts this rank in and returns the gate to wait at; the last one opens it. A rank whose earlier fence
// ended by its context is still counted.
func (r *memoryRank) enterGate() (<-chan struct{}, error) {
	m := r.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := r.checkUsable(); err != nil {
		return nil, err
	}
	gate := m.gate
	if !m.at[r.rank] {
		m.at[r.rank] = true
		m.count++
	}
	if m.count == m.size {
		for k, v := range m.staged {
			m.kvs[k] = v
		}
		clear(m.staged)
		clear(m.at)
		m.count = 0
		m.gate = make(chan struct{})
		close(gate)
	}
	return gate, nil
}

func (r *memoryRank) abortJob(code int, msg string) error {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	if r.m.reason == nil {
		r.m.reason = fmt.Errorf("%w by rank %d with code %d: %s", ErrAborted, r.rank, code, msg)
		close(r.m.dead)
	}
	return nil
}

func (r *memoryRank) finalize(context.Context) error {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	r.done = true
	return nil
}

func (r *memoryRank) lostServer() <-chan struct{} { return r.m.dead }

// checkUsable is called with m.mu held.
func (r *memoryRank) checkUsable() error {
	switch {
	case r.done:
		return errDone
	case r.m.reason != nil:
		return r.m.reason
	}
	return nil
}

// missingRanks is called with mu held.
func (m *memory) missingRanks() string {
	var out []int
	for i, here := range m.at {
		if !here {
			out = append(out, i)
		}
	}
	return pmi.FormatRanks(out, pmi.SafeValue)
}
