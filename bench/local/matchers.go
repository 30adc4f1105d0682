package local

import (
	"sync"

	"github.com/puzpuzpuz/xsync/v4"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/hashtable"
)

type node = hashtable.Node[uint64]

// matcher is what the measured structures have in common: add n, or take out what is there.
type matcher interface {
	insertOrMatch(key uint64, n *node, side hashtable.Side) *node
}

// entries is the size of the tables: 2^16 buckets.
const entries = 1 << 16

var tables = []struct {
	impl   string
	create func() (matcher, error)
}{
	{bench.Golci, func() (matcher, error) { t, err := hashtable.New[uint64](entries); return &golci{t}, err }},
	{"mutexmap", func() (matcher, error) { return &mutexMap{m: make(map[uint64]*node, entries)}, nil }},
	{"syncmap", func() (matcher, error) { return new(syncMap), nil }},
	{"xsync", func() (matcher, error) { return xsyncMap{xsync.NewMap[uint64, *node](xsync.WithPresize(entries))}, nil }},
}

type golci struct{ *hashtable.Table[uint64] }

func (t *golci) insertOrMatch(key uint64, n *node, side hashtable.Side) *node {
	m, _ := t.InsertOrMatch(key, n, side)
	return m
}

// The rivals hold one node a key and need no side: whatever is there is the match. That is less than the table does.

type mutexMap struct {
	mu sync.Mutex
	m  map[uint64]*node
}

func (t *mutexMap) insertOrMatch(key uint64, n *node, _ hashtable.Side) *node {
	t.mu.Lock()
	defer t.mu.Unlock()
	if old, ok := t.m[key]; ok {
		delete(t.m, key)
		return old
	}
	t.m[key] = n
	return nil
}

type syncMap struct{ m sync.Map }

func (t *syncMap) insertOrMatch(key uint64, n *node, _ hashtable.Side) *node {
	old, loaded := t.m.LoadOrStore(key, n)
	if !loaded {
		return nil
	}
	t.m.Delete(key)
	return old.(*node)
}

type xsyncMap struct{ m *xsync.Map[uint64, *node] }

func (t xsyncMap) insertOrMatch(key uint64, n *node, _ hashtable.Side) *node {
	old, loaded := t.m.LoadOrStore(key, n)
	if !loaded {
		return nil
	}
	t.m.Delete(key)
	return old
}
