package tool

import (
	"slices"
	"strings"
	"testing"

	"github.com/golci/golci/internal/observe/settings"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestCategories: each variable is in one category, which knows it, and no category names what does not exist.
func TestCategories(t *testing.T) {
	controls, counters := Controls(), Counters()
	seenControls, seenCounters := make([]int, len(controls)), make([]int, len(counters))
	for i := range Categories() {
		c := &Categories()[i]
		if c.Name == "" || !strings.HasSuffix(c.Doc, ".") || len(c.Controls())+len(c.Counters()) == 0 {
			t.Errorf("category %d: %+v", i, c)
		}
		for k, place := range c.Controls() {
			if place < 0 {
				t.Errorf("%s: there is no setting %s", c.Name, c.controls[k])
				continue
			}
			if seenControls[place]++; controls[place].Category != i {
				t.Errorf("%s is in category %d, not %d", controls[place].Name, controls[place].Category, i)
			}
		}
		for _, id := range c.Counters() {
			if seenCounters[id]++; counters[id].Category != i {
				t.Errorf("%s is in category %d, not %d", counters[id].Name, counters[id].Category, i)
			}
		}
	}
	for i, n := range seenControls {
		if n != 1 {
			t.Errorf("%s is in %d categories", controls[i].Name, n)
		}
	}
	for i, n := range seenCounters {
		if n != 1 {
			t.Errorf("%s is in %d categories", counters[i].Name, n)
		}
	}
}

// TestControls: a control variable is its setting, with the type of its values.
func TestControls(t *testing.T) {
	set, err := settings.Parse(func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	list := set.List()
	if len(Controls()) != len(list) {
		t.Fatalf("%d control variables, %d settings", len(Controls()), len(list))
	}
	for i, c := range Controls() {
		if c.Name != list[i].Env || c.Doc != list[i].Doc || c.Scope() != Constant {
			t.Errorf("%+v is not %+v", c, list[i])
		}
		var fits bool
		switch v := set.At(i).(type) {
		case string:
			fits = c.Type == Text && c.Words == nil || c.Type == Word && slices.Contains(c.Words, v)
		case bool:
			fits = c.Type == Word && slices.Equal(c.Words, []string{"off", "on"})
		case int:
			fits = c.Type == Int && int(int32(v)) == v
		case int64:
			fits = c.Type == Bytes
		default:
			fits = c.Type == Seconds && list[i].Kind == "duration"
		}
		if !fits {
			t.Errorf("%s of type %d has %v, words %q", c.Name, c.Type, set.At(i), c.Words)
		}
	}
	for _, name := range basics {
		if !slices.ContainsFunc(Controls(), func(c Control) bool { return c.Name == name }) {
			t.Errorf("there is no setting %s", name)
		}
	}
}

// TestCounters: IDs are places, and names are words of one form.
func TestCounters(t *testing.T) {
	seen := make(map[string]bool)
	if len(Counters()) != int(NumCounters) {
		t.Fatalf("%d are described, %d have a value", len(Counters()), NumCounters)
	}
	for i, c := range Counters() {
		if c.ID != ID(i) || seen[c.Name] || strings.Trim(c.Name, "abcdefghijklmnopqrstuvwxyz_") != "" ||
			!strings.HasSuffix(c.Doc, ".") || c.Class.String() == "unknown" {
			t.Errorf("%d: %+v", i, c)
		}
		seen[c.Name] = true
	}
	if Class(0).String() != "unknown" {
		t.Errorf("a class that does not exist is %q", Class(0))
	}
}
