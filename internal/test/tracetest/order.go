package tracetest

import (
	"cmp"
	"slices"
)

type thread struct{ pid, tid int64 }

// named checks that whatever has a track has a name, and only one. A mark of a whole process is on its track alone.
func (c *checker) named() {
	processes, threads := map[int64]int{}, map[thread]int{}
	for _, e := range c.events {
		switch e.phase + e.name {
		case "Mprocess_name":
			processes[e.pid]++
		case "Mthread_name":
			threads[thread{e.pid, e.tid}]++
		}
	}
	for _, e := range c.events {
		if e.phase == "M" {
			continue
		}
		if n := processes[e.pid]; n != 1 {
			c.add("%v: its process has %d names", e, n)
		}
		whole := e.phase == "i" && string(e.fields["s"]) == `"p"`
		if n := threads[thread{e.pid, e.tid}]; n != 1 && !whole {
			c.add("%v: its thread has %d names", e, n)
		}
	}
}

// slicesOf are the slices of each thread. Of two that begin together the longer comes first.
func (c *checker) slicesOf() map[thread][]*event {
	all := map[thread][]*event{}
	for _, e := range c.events {
		if e.phase == "X" {
			all[thread{e.pid, e.tid}] = append(all[thread{e.pid, e.tid}], e)
		}
	}
	for _, list := range all {
		slices.SortStableFunc(list, func(a, b *event) int {
			return cmp.Or(cmp.Compare(a.ts, b.ts), cmp.Compare(b.end, a.end))
		})
	}
	return all
}

// nested checks that slices of a thread are nested or apart: Perfetto drops one that ends after another in which it
// begins.
func (c *checker) nested() {
	for _, list := range c.slicesOf() {
		var in []*event
		for _, e := range list {
			in = until(in, e.ts)
			if n := len(in); n > 0 && e.end > in[n-1].end {
				c.add("%v ends at %d, after %v, which ends at %d", e, e.end, in[n-1], in[n-1].end)
				continue
			}
			in = append(in, e)
		}
	}
}

// until drops the innermost of slices while they are over at that time.
func until(in []*event, ts int64) []*event {
	for len(in) > 0 && in[len(in)-1].end <= ts {
		in = in[:len(in)-1]
	}
	return in
}

// paired checks that each begin of a span has an end, and each end a begin, by category and id. Events that have both
// in common make one tree, in which spans nest.
func (c *checker) paired() {
	type key struct{ category, id string }
	open := map[key][]*event{}
	for _, e := range c.events {
		k := key{e.category, e.id}
		in := open[k]
		switch e.phase {
		case "b":
			open[k] = append(in, e)
		case "e":
			if len(in) == 0 {
				c.add("%v has no begin", e)
				continue
			}
			if b := in[len(in)-1]; b.name != e.name || b.pid != e.pid {
				c.add("%v ends %v", e, b)
			}
			open[k] = in[:len(in)-1]
		}
	}
	for _, in := range open {
		for _, e := range in {
			c.add("%v has no end", e)
		}
	}
}

// arrow is what makes two events ends of one.
type arrow struct{ category, name, id string }

// arrows checks that arrows have one begin and at most one end, in this order, and that both are in slices. It counts
// those without an end.
func (c *checker) arrows(apart bool) (open map[string]int) {
	c.bound()
	begins, ends := map[arrow]*event{}, map[arrow]*event{}
	for _, e := range c.events { // in the order in which a viewer takes them
		k := arrow{e.category, e.name, e.id}
		switch e.phase {
		case "s":
			if begins[k] != nil {
				c.add("%v: its arrow %s has begun at %v", e, e.id, begins[k])
			}
			begins[k] = e
		case "f":
			if begins[k] == nil && !apart {
				c.add("%v: its arrow %s has not begun", e, e.id)
			}
			if ends[k] != nil {
				c.add("%v: its arrow %s has ended at %v", e, e.id, ends[k])
			}
			ends[k] = e
		}
	}
	for k, e := range ends {
		if begins[k] == nil && apart {
			c.add("%v: its arrow %s has no beginning", e, e.id)
		}
	}
	open = map[string]int{}
	for k := range begins {
		if ends[k] == nil {
			open[k.category]++
		}
	}
	return open
}

// bound checks that each end of an arrow is in a slice of its thread, which comes before it in the file if they begin
// together.
func (c *checker) bound() {
	all := c.slicesOf()
	for _, list := range all {
		slices.SortStableFunc(list, func(a, b *event) int { return cmp.Or(cmp.Compare(a.ts, b.ts), a.at-b.at) })
	}
	in := map[thread][]*event{}
	for _, e := range c.events {
		if e.phase != "s" && e.phase != "f" {
			continue
		}
		t := thread{e.pid, e.tid}
		list := all[t]
		for len(list) > 0 && (list[0].ts < e.ts || list[0].ts == e.ts && list[0].at < e.at) {
			in[t] = append(in[t], list[0])
			list = list[1:]
		}
		all[t] = list
		in[t] = slices.DeleteFunc(in[t], func(x *event) bool { return x.end <= e.ts })
		if len(in[t]) == 0 {
			c.add("%v: the arrow is at no slice", e)
		}
	}
}
