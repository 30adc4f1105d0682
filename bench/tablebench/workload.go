package tablebench

import "github.com/golci/golci/hashtable"

// tagBits is the width of the tag, the low bits of a key.
const tagBits = 28

// workload says which keys a goroutine uses: consecutive ones, window at a time in the table, keys in all before it
// begins again. keys is a multiple of window.
type workload struct{ window, keys int }

// run posts and matches, n operations in all, rounded up to whole windows, under keys from base on.
func (w workload) run(m matcher, base uint64, n int) error {
	posts, arrivals := nodes(base, w.window), nodes(base, w.window)
	for done, tag := 0, 0; done < n; done += 2 * w.window {
		key := base + uint64(tag)
		ok := false
		if t, golci := m.(*golci); golci {
			ok = tableWindow(t.Table, key, posts, arrivals)
		} else {
			ok = window(m, key, posts, arrivals)
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

// window posts and matches one window of consecutive keys, and tells whether each post was matched.
func window(m matcher, key uint64, posts, arrivals []node) bool {
	for i := range posts {
		m.insertOrMatch(key+uint64(i), &posts[i], hashtable.Post)
	}
	ok := true
	for i := range arrivals {
		ok = ok && m.insertOrMatch(key+uint64(i), &arrivals[i], hashtable.Arrive) == &posts[i]
	}
	return ok
}

// tableWindow is window without the interface call, as the message path calls the table.
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
