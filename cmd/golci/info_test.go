package main

import (
	"strings"
	"testing"

	"github.com/golci/golci/internal/platform/topology"
)

// TestInfoProcessor: a processor with longer cache lines than layouts assume is told of.
func TestInfoProcessor(t *testing.T) {
	for _, c := range []struct {
		p    topology.Processor
		want []string
		note bool
	}{
		{
			topology.Processor{Name: "Some CPU", Level: 3, Line: 64},
			[]string{"Some CPU, x86-64-v3\n", "64 bytes; layouts assume 64\n"},
			false,
		},
		{topology.Processor{Name: "Another", Line: 128}, []string{"Another\n", "128 bytes; layouts assume 64"}, true},
		{topology.Processor{}, []string{"unknown\n"}, false},
	} {
		var out strings.Builder
		infoProcessor(&out, c.p)
		for _, text := range c.want {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%+v: no %q in\n%s", c.p, text, out.String())
			}
		}
		if got := strings.Contains(out.String(), "neighbours share a line"); got != c.note {
			t.Errorf("%+v: told of shared lines: %v", c.p, got)
		}
	}
}

// TestInfoCounters: each counter of a rank has a line, and a description of the same words in the JSON object.
func TestInfoCounters(t *testing.T) {
	var out strings.Builder
	infoCounters(&out)
	all := counterReports()
	if lines := strings.Count(out.String(), "\n"); len(all) == 0 || lines != len(all)+2 {
		t.Errorf("%d lines for %d counters", lines, len(all))
	}
	for _, c := range all {
		line := strings.Join([]string{c.Name, c.Class, c.Category, c.Doc}, "\t") + "\n"
		if !strings.Contains(out.String(), line) {
			t.Errorf("no line %q in\n%s", line, out.String())
		}
	}
}
