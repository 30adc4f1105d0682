package tracetest

import (
	"strings"
	"testing"
)

// sound is a timeline without faults, an event a line. Its arrow 2 has no end.
const sound = `{"displayTimeUnit":"ns","otherData":{},"traceEvents":[
{"ph":"M","pid":1,"tid":1,"name":"process_name","args":{"name":"rank 1"}},
{"ph":"M","pid":1,"tid":1,"name":"process_sort_index","args":{"sort_index":0}},
{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"worker"}},
{"ph":"X","pid":1,"tid":2,"ts":4,"dur":1,"name":"inner","cat":"a"},
{"ph":"X","pid":1,"tid":2,"ts":4,"dur":2.5,"name":"outer","cat":"a","args":{"peer":1}},
{"ph":"X","pid":1,"tid":2,"ts":6.5,"dur":0.001,"name":"next","cat":"a"},
{"ph":"s","pid":1,"tid":2,"ts":4.5,"name":"way","cat":"a","id":"0x1"},
{"ph":"s","pid":1,"tid":2,"ts":5.5,"name":"way","cat":"a","id":"0x2"},
{"ph":"f","pid":1,"tid":2,"ts":6.5,"name":"way","cat":"a","id":"0x1","bp":"e"},
{"ph":"b","pid":1,"tid":2,"ts":2,"name":"span","cat":"a","id":"0x1"},
{"ph":"b","pid":1,"tid":2,"ts":3,"name":"within","cat":"a","id":"0x1"},
{"ph":"e","pid":1,"tid":2,"ts":7,"name":"within","cat":"a","id":"0x1"},
{"ph":"e","pid":1,"tid":2,"ts":8,"name":"span","cat":"a","id":"0x1"},
{"ph":"C","pid":1,"tid":2,"ts":8,"name":"number","cat":"a","args":{"value":3}},
{"ph":"i","pid":1,"tid":2,"ts":9,"name":"mark","s":"t"},
{"ph":"i","pid":1,"tid":7,"ts":9,"name":"remark","s":"p"}
]}`

// TestSound: a timeline without faults has none.
func TestSound(t *testing.T) {
	if open := Valid(t, []byte(sound)); len(open) != 1 || open["a"] != 1 {
		t.Errorf("arrows without an end: %v", open)
	}
}

// TestFaults: each change of a sound timeline is told, as it is meant.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ old, changed, fault string }{
		{`]}`, `]`, "unexpected end"},
		{`"traceEvents"`, `"events"`, "there is no list"},
		{`"otherData":{}`, `"otherData":1`, "no object"},
		{`"displayTimeUnit":"ns"`, `"displayTimeUnit":"us"`, "displayTimeUnit is"},
		{`"ph":"i","pid":1,"tid":2`, `"ph":"q","pid":1,"tid":2`, "unknown phase"},
		{`"ph":"i","pid":1,"tid":2`, `"pid":1,"tid":2`, "ph is"},
		{`"dur":1,`, ``, `no field "dur"`},
		{`"dur":1,`, `"dur":-1,`, "dur is"},
		{`"dur":1,`, `"dur":1,"length":1,`, `unknown field "length"`},
		{`"ts":9,"name":"mark"`, `"ts":-9,"name":"mark"`, "ts is"},
		{`"ts":9,"name":"mark"`, `"ts":1e300,"name":"mark"`, "ts is"},
		{`"ts":9,"name":"mark"`, `"ts":null,"name":"mark"`, "ts is"},
		{`"tid":2,"ts":9`, `"tid":-2,"ts":9`, "tid is"},
		{`"name":"mark"`, `"name":""`, "name is"},
		{`"name":"inner","cat":"a"`, `"name":"inner"`, `no field "cat"`},
		{`"s":"t"`, `"s":"x"`, "s is"},
		{`"bp":"e"`, `"bp":"x"`, "bp is"},
		{`,"bp":"e"`, ``, `no field "bp"`},
		{`"id":"0x2"`, `"id":"two"`, "id: "},
		{`{"value":3}`, `{"value":"3"}`, "values of a counter"},
		{`{"value":3}`, `{"value":null}`, "values of a counter"},
		{`{"value":3}`, `{}`, "values of a counter"},
		{`{"peer":1}`, `1`, "args are"},
		{`{"sort_index":0}`, `{}`, "metadata"},
		{`{"name":"worker"}`, `{"name":""}`, "metadata"},
		{`"thread_name"`, `"thread_title"`, "metadata"},
		{`"tid":2,"ts":9`, `"tid":3,"ts":9`, "its thread has 0 names"},
		{`"pid":1,"tid":7,"ts":9`, `"pid":2,"tid":7,"ts":9`, "its process has 0 names"},
		{`"process_sort_index","args":{"sort_index":0}`, `"process_name","args":{"name":"x"}`, "its process has 2 names"},
		{`"ts":4,"dur":1`, `"ts":5,"dur":2`, `ends at 7000, after event 4 (X "outer" of 1.2 at 4000)`},
		{`"ts":6.5,"dur":0.001`, `"ts":6,"dur":0.501`, "ends at 6501, after"},
		{`"ts":2,"name":"span"`, `"ts":3.5,"name":"span"`, "ends event"},
		{`"ts":2,"name":"span"`, `"ts":9,"name":"span"`, "has no end"},
		{`"ts":2,"name":"span","cat":"a"`, `"ts":2,"name":"span","cat":"b"`, "has no begin"},
		{`"ts":8,"name":"span","cat":"a","id":"0x1"`, `"ts":8,"name":"span","cat":"a","id":"0x2"`, "has no begin"},
		{`"ts":4.5,"name":"way"`, `"ts":3.9,"name":"way"`, "the arrow is at no slice"},
		{`"ts":6.5,"name":"way"`, `"ts":6.501,"name":"way"`, "the arrow is at no slice"},
		{`"ts":4.5,"name":"way","cat":"a"`, `"ts":4.5,"name":"way","cat":"b"`, "has not begun"},
		{`"ts":6.5,"name":"way"`, `"ts":4.4,"name":"way"`, "has not begun"},
		{`"id":"0x2"`, `"id":"0x1"`, "has begun at"},
		{
			`"ph":"s","pid":1,"tid":2,"ts":5.5,"name":"way","cat":"a","id":"0x2"`,
			`"ph":"f","pid":1,"tid":2,"ts":5.5,"name":"way","cat":"a","id":"0x1","bp":"e"`, "has ended at",
		},
	} {
		if strings.Count(sound, c.old) == 0 {
			t.Fatalf("%s is not there", c.old)
		}
		faults, _ := Check([]byte(strings.Replace(sound, c.old, c.changed, 1)), false)
		if !strings.Contains(strings.Join(faults, "\n"), c.fault) {
			t.Errorf("%s for %s: %q, want %q", c.changed, c.old, faults, c.fault)
		}
	}
}

// TestApart: where the clocks are apart, an arrow may end before its beginning. It must have one.
func TestApart(t *testing.T) {
	early := strings.Replace(sound, `"ts":6.5,"name":"way"`, `"ts":4.4,"name":"way"`, 1)
	if open := ValidApart(t, []byte(early)); len(open) != 1 || open["a"] != 1 {
		t.Errorf("arrows without an end: %v", open)
	}
	faults, _ := Check([]byte(strings.Replace(early, `"ph":"s"`, `"ph":"i"`, 1)), true)
	if !strings.Contains(strings.Join(faults, "\n"), "has no beginning") {
		t.Errorf("%q", faults)
	}
}

// TestOrderInFile: a viewer takes events of one time as they come: a slice that follows its arrow is too late.
func TestOrderInFile(t *testing.T) {
	lines := strings.Split(sound, "\n")
	lines[6], lines[9] = lines[9], lines[6] // the slice and the end of the arrow
	faults, _ := Check([]byte(strings.Join(lines, "\n")), false)
	if len(faults) != 1 || !strings.Contains(faults[0], "at no slice") {
		t.Errorf("%q", faults)
	}
}
