// Package tracetest checks timelines against the Trace Event Format as it is published, and against the rules by which
// Perfetto imports it. It knows nothing of how golci writes them.
package tracetest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// most is how many faults Valid tells.
const most = 20

// Valid fails the test for each fault of a timeline. It gives the number of arrows that have no end, by category: a
// viewer does not show them.
func Valid(t testing.TB, timeline []byte) (open map[string]int) {
	t.Helper()
	return check(t, timeline, false)
}

// ValidApart is Valid for a timeline of parts whose clocks were compared apart from each other. An arrow may end before
// its beginning there, by as much as a busy machine delays a look at a clock.
func ValidApart(t testing.TB, timeline []byte) (open map[string]int) {
	t.Helper()
	return check(t, timeline, true)
}

func check(t testing.TB, timeline []byte, apart bool) (open map[string]int) {
	t.Helper()
	faults, open := Check(timeline, apart)
	for i, f := range faults {
		if i == most {
			t.Errorf("and %d more faults of the timeline", len(faults)-most)
			break
		}
		t.Errorf("timeline: %s", f)
	}
	return open
}

// event is one of a timeline.
type event struct {
	fields   map[string]json.RawMessage
	at       int // in the file
	phase    string
	name     string
	category string
	id       string
	pid, tid int64
	ts, end  int64 // in ns
}

func (e *event) String() string {
	return fmt.Sprintf("event %d (%s %q of %d.%d at %d)", e.at, e.phase, e.name, e.pid, e.tid, e.ts)
}

// checker gathers what is wrong.
type checker struct {
	faults []string
	events []*event
}

func (c *checker) add(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// Check lists the faults of a timeline, and counts arrows that begin and do not end, by category. With apart, the order
// of an arrow's ends does not matter.
func Check(timeline []byte, apart bool) (faults []string, open map[string]int) {
	var c checker
	for i, fields := range c.parse(timeline) {
		if e := c.event(i, fields); e != nil {
			c.events = append(c.events, e)
		}
	}
	c.named()
	slices.SortStableFunc(c.events, func(a, b *event) int { return cmp.Compare(a.ts, b.ts) })
	c.nested()
	c.paired()
	open = c.arrows(apart)
	return c.faults, open
}

// parse gives the fields of each event.
func (c *checker) parse(timeline []byte) (events []map[string]json.RawMessage) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(timeline, &all); err != nil {
		c.add("%v", err)
		return nil
	}
	for key, value := range all {
		switch key {
		case "traceEvents":
			if err := json.Unmarshal(value, &events); err != nil {
				c.add("%s: %v", key, err)
			}
		case "displayTimeUnit":
			if s := string(value); s != `"ns"` && s != `"ms"` {
				c.add("%s is %s", key, s)
			}
		case "otherData":
			if !bytes.HasPrefix(value, []byte("{")) {
				c.add("%s is no object", key)
			}
		default:
			c.add("the format has no %q", key)
		}
	}
	if events == nil {
		c.add("there is no list of events")
	}
	return events
}

// required are the fields that an event of a phase must have; no event may have others, but for args.
var required = map[string]string{
	"M": "ph pid tid name args",
	"X": "ph pid tid ts name cat dur",
	"i": "ph pid tid ts name s",
	"C": "ph pid tid ts name args",
	"b": "ph pid tid ts name cat id",
	"e": "ph pid tid ts name cat id",
	"s": "ph pid tid ts name cat id",
	"f": "ph pid tid ts name cat id bp",
}

// event checks the fields of an event by itself. It is nil if they cannot be understood.
func (c *checker) event(at int, fields map[string]json.RawMessage) *event {
	e := &event{fields: fields, at: at}
	before := len(c.faults)
	c.text(e, "ph", &e.phase)
	keys, ok := required[e.phase]
	if !ok {
		c.add("%v: unknown phase", e)
		return nil
	}
	may := keys + " cat args"
	for key := range fields {
		if !slices.Contains(strings.Fields(may), key) {
			c.add("%v: unknown field %q", e, key)
		}
	}
	c.text(e, "name", &e.name)
	if fields["cat"] != nil {
		c.text(e, "cat", &e.category)
	}
	c.number(e, "pid", &e.pid)
	c.number(e, "tid", &e.tid)
	for key := range strings.FieldsSeq(keys) {
		if fields[key] == nil {
			c.add("%v: no field %q", e, key)
		} else {
			c.field(e, key)
		}
	}
	if args := fields["args"]; args != nil && !bytes.HasPrefix(args, []byte("{")) {
		c.add("%v: args are %s", e, args)
	}
	if len(c.faults) > before {
		return nil
	}
	return e
}

// field checks a field whose meaning depends on the phase.
func (c *checker) field(e *event, key string) {
	switch key {
	case "ts":
		c.time(e, key, &e.ts)
		e.end = max(e.end, e.ts)
	case "dur": // after ts
		var ns int64
		c.time(e, key, &ns)
		e.end = e.ts + ns
	case "id":
		c.text(e, key, &e.id)
		if _, err := strconv.ParseUint(e.id, 0, 64); err != nil {
			c.add("%v: id: %v", e, err)
		}
	case "s":
		c.oneOf(e, key, "g", "p", "t")
	case "bp": // without it an arrow ends at the next slice that begins
		c.oneOf(e, key, "e")
	case "args":
		if e.phase == "C" {
			c.numbers(e)
		} else {
			c.describes(e)
		}
	}
}

func (c *checker) oneOf(e *event, key string, allowed ...string) {
	var s string
	c.text(e, key, &s)
	if !slices.Contains(allowed, s) {
		c.add("%v: %s is %q", e, key, s)
	}
}
