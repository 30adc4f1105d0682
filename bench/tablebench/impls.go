package tablebench

import (
	"fmt"
	"sync"

	"github.com/puzpuzpuz/xsync/v4"

	"github.com/golci/golci/hashtable"
)

func newMatcher(impl string) (matcher, error) {
	switch impl {
	case "golci":
		t, err := hashtable.New[uint64](Entries)
		return &golci{t}, err
	case "mutexmap":
		return &mutexMap{m: make(map[uint64]*node, Entries)}, nil
	case "syncmap":
		return new(syncMap), nil
	case "xsync":
		return xsyncMap{xsync.NewMap[uint64, *node](xsync.WithPresize(Entries))}, nil
	}
	return nil, fmt.Errorf("%w: %q, have %v", ErrImpl, impl, Impls())
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
