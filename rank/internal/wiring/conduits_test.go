package wiring

import (
	"slices"
	"strings"
	"testing"

	"github.com/golci/golci/internal/observe/settings"
)

// TestEveryConduitHasAnEntry: the words of the setting are those of the registry, and each entry joins something.
func TestEveryConduitHasAnEntry(t *testing.T) {
	var words, names []string
	for _, i := range mustOptions().Values.List() {
		if i.Env == settings.Conduit.Env() {
			words = strings.Split(i.Kind, "|")
		}
	}
	for _, c := range carriers {
		names = append(names, c.name)
		if c.inside == nil && c.between == nil || c.reach == "" {
			t.Errorf("%s joins nothing", c.name)
		}
	}
	names = append(names, "auto")
	slices.Sort(words)
	slices.Sort(names)
	if !slices.Equal(words, names) {
		t.Errorf("the setting has %q, the registry %q", words, names)
	}
	for i, c := range Conduits() {
		if c.Name != carriers[i].name || c.Reach != carriers[i].reach {
			t.Errorf("%+v", c)
		}
	}
}
