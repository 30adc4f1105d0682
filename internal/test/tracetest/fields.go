package tracetest

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
)

// text reads a string that is not empty.
func (c *checker) text(e *event, key string, s *string) {
	if !read(e.fields[key], s) || *s == "" {
		c.add("%v: %s is %q", e, key, e.fields[key])
	}
}

// number reads the number of a process or a thread.
func (c *checker) number(e *event, key string, n *int64) {
	if !read(e.fields[key], n) || *n < 0 || *n > math.MaxUint32 {
		c.add("%v: %s is %q", e, key, e.fields[key])
	}
}

// latest is the last time that a viewer reads to the nanosecond, since it reads a number as a float64.
const latest = 1 << 53

// time reads microseconds.
func (c *checker) time(e *event, key string, ns *int64) {
	var us float64
	if !read(e.fields[key], &us) || us < 0 || us*1000 > latest {
		c.add("%v: %s is %q", e, key, e.fields[key])
		return
	}
	*ns = int64(math.Round(us * 1000))
}

// numbers checks what a counter shows.
func (c *checker) numbers(e *event) {
	var series map[string]*float64
	if !read(e.fields["args"], &series) || len(series) == 0 || slices.Contains(slices.Collect(maps.Values(series)), nil) {
		c.add("%v: the values of a counter are %q", e, e.fields["args"])
	}
}

// describes checks what metadata say.
func (c *checker) describes(e *event) {
	var args struct {
		Name  string   `json:"name"`
		Place *float64 `json:"sort_index"`
	}
	ok := read(e.fields["args"], &args)
	switch e.name {
	case "process_name", "thread_name":
		ok = ok && args.Name != ""
	case "process_sort_index", "thread_sort_index":
		ok = ok && args.Place != nil
	default:
		ok = false
	}
	if !ok {
		c.add("%v: metadata %q", e, e.fields["args"])
	}
}

// read is false for null, too, and for what is not there.
func read(text json.RawMessage, v any) bool {
	return len(text) > 0 && string(text) != "null" && json.Unmarshal(text, v) == nil
}
