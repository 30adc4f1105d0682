package local

import (
	"errors"
	"time"

	"github.com/golci/golci/hashtable"
)

const (
	window  = 256 // keys that a goroutine has in the table at a time
	tagBits = 28  // of the tag, the low bits of a key
)

var errMismatch = errors.New("local: a match returned the wrong item")

// workload says which keys a goroutine uses: consecutive ones, window at a time in the table, keys in all before it
// begins again. keys is a multiple of window.
type workload struct{ window, keys int }

// contenders run w, each goroutine with keys of its own: different sources in the upper bits.
func (w workload) contenders() (all []contender) {
	for _, t := range tables {
		all = append(all, contender{t.impl, func(goroutines, n int) (time.Duration, error) {
			m, err := t.create()
			if err != nil {
				return 0, err
			}
			return together(goroutines, func(g int) error { return w.run(m, uint64(g)<<tagBits, n) })
		}})
	}
	return all
}

// run posts and matches, n operations in all, rounded up to whole windows, under keys from base on.
func (w workload) run(m matcher, base uint64, n int) error {
	posts, arrivals := nodes(base, w.window), nodes(base, w.window)
	for done, tag := 0, 0; done < n; done += 2 * w.window {
		key := base + uint64(tag)
		ok := false
		if t, golci := m.(*golci); golci {
			ok = tableWindow(t.Table, key, posts, arrivals)
		} else {
			ok = anyWindow(m, key, posts, arrivals)
		}
		if !ok {
			return errMismatch
		}
		if tag += w.window; tag == w.keys {
			tag = 0
		}
	}
	return nil
}

// anyWindow posts and matches one window of consecutive keys, and tells whether each post was matched.
func anyWindow(m matcher, key uint64, posts, arrivals []node) bool {
	for i := range posts {
		m.insertOrMatch(key+uint64(i), &posts[i], hashtable.Post)
	}
	ok := true
	for i := range arrivals {
		ok = ok && m.insertOrMatch(key+uint64(i), &arrivals[i], hashtable.Arrive) == &posts[i]
	}
	return ok
}

// tableWindow is anyWindow without the interface call, as the message path calls the table.
func tableWindow(t *hashtable.Table[uint64], key uint64, posts, arrivals []node) bool {
	for i := range posts {
		t.InsertOrMatch(key+uint64(i), &posts[i], hashtable.Post)
	}
	ok := true
	for i := range arrivals {
		m, _ := t.InsertOrMatch(key+uint64(i), &arrivals[i], hashtable.Arrive)
		ok = ok && m == &posts[i]
	}
	return ok
}

func nodes(base uint64, n int) []node {
	s := make([]node, n)
	for i := range s {
		s[i].Value = base + uint64(i)
	}
	return s
}
