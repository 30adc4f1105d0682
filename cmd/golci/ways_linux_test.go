package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestSchemes: two ranks tell the ways of large messages, with what the others take, if they reach each other's memory.
func TestSchemes(t *testing.T) {
	r := run(t, golci(t, "run", "-n", "2", os.Args[0], "ways"))
	r.want(t, 0, "")
	other := `, [a-z]+ (takes [\d.]+ times as long|not measured)`
	line := regexp.MustCompile(`^(up to|over) \d+ KiB(, sent)?: [a-z]+(` + other + `)+$`)
	for text := range strings.Lines(r.out) {
		if !line.MatchString(strings.TrimSuffix(text, "\n")) {
			t.Errorf("line %q", text)
		}
	}
	for _, f := range kernelFeatures() {
		if f.name == "process_vm_readv" && f.err == nil {
			for _, want := range []string{"up to 64 KiB, sent: ", "up to 1024 KiB: ", "over 2048 KiB: "} {
				if !strings.Contains(r.out, want) {
					t.Errorf("nothing of %q in\n%s", want, r.out)
				}
			}
		}
	}
	ranks := run(t, golci(t, "run", "-n", "2", os.Args[0], "info")).out
	if !strings.Contains(ranks, "this is one of 2 ranks") {
		t.Errorf("ranks that show the machine:\n%s", ranks)
	}
	if out := run(t, golci(t, "info")).out; !regexp.MustCompile(`(?m)^large messages +\S`).MatchString(out) {
		t.Errorf("nothing of large messages in\n%s", out)
	}
}
