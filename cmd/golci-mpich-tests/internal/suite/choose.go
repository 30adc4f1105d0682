package suite

import (
	"path"
	"strings"
)

// Choice says which lines are run.
type Choice struct {
	Only     []string // patterns of path.Match for program names such as pt2pt/*, or for whole keys; none: all
	Quick    int      // so many lines spread over the list; 0: all
	MaxProcs int      // lines with more processes are left out; 0: none are
	Memory   float64  // GB: lines that want more are left out
	Skipped  bool     // lines that the list skips are run, too
}

// Choose gives the lines of the suite that are to be run, in the order of the lists, each key once.
func (c *Choice) Choose(list *List, lines []Line) (chosen []Line) {
	done := make(map[string]bool)
	for _, l := range lines {
		key := l.Key()
		if !done[key] && c.takes(&l, key, list.Find(key)) {
			chosen = append(chosen, l)
		}
		done[key] = true
	}
	if c.Quick > 0 {
		chosen = spread(chosen, list, c.Quick)
	}
	return chosen
}

func (c *Choice) takes(l *Line, key string, e *Expected) bool {
	switch {
	case !c.named(l, key), c.MaxProcs > 0 && l.Procs > c.MaxProcs, c.Quick > 0 && (l.Limit > 0 || l.Procs > 4):
		return false
	case e == nil:
		return l.Memory <= c.Memory
	case e.Kind == Empty:
		return false
	case e.Kind == Skip && e.Reason == "memory":
		return l.Memory <= c.Memory
	case e.Kind == Skip:
		return c.Skipped && e.Reason != "abi"
	}
	return l.Memory <= c.Memory
}

// named tells that a pattern meets the line. One that ends in a slash and dots takes what lies below.
func (c *Choice) named(l *Line, key string) bool {
	for _, pattern := range c.Only {
		if below, ok := strings.CutSuffix(pattern, "/..."); ok && strings.HasPrefix(l.Dir+"/", below+"/") {
			return true
		}
		for _, name := range []string{l.Name(), key} {
			if ok, err := path.Match(pattern, name); ok && err == nil {
				return true
			}
		}
	}
	return len(c.Only) == 0
}

// spread takes n lines, those first that the list expects to pass, at equal distances, one for each program.
func spread(lines []Line, list *List, n int) (some []Line) {
	var pools [2][]Line
	seen := make(map[string]bool)
	for _, l := range lines {
		if seen[l.Name()] {
			continue
		}
		seen[l.Name()] = true
		i := 1
		if e := list.Find(l.Key()); e != nil && e.Kind == Pass {
			i = 0
		}
		pools[i] = append(pools[i], l)
	}
	for _, pool := range pools {
		want := min(n-len(some), len(pool))
		for i := range want {
			some = append(some, pool[i*len(pool)/want])
		}
	}
	return some
}
