package settings

import (
	"slices"
	"strings"
	"testing"
)

func TestMisspelt(t *testing.T) {
	for name, want := range map[string]string{
		"GOLCI_WORKRS": "GOLCI_WORKERS", "GOLCI_SPNI": "GOLCI_SPIN", "GOLCI_EXIT_TIMEOUT": "GOLCI_EXITTIMEOUT",
		"GOLCI_CONDUITS": "GOLCI_CONDUIT", "GOLCI_UDPSECURITY": "GOLCI_UDP_SECURITY", "GOLCI_worker": "",
		"GOLCI_JOB": "", "GOLCI_TEST_SEED": "", "GOLCI_LINT_CACHE": "", "GOLCI_": "", "GOLCI_X": "",
		"GOLCI_WORKERS": "", "OTHER_WORKRS": "", "GOLCI_RANK": "", "GOLCI_SIZE": "", "GOLCI_ROOT": "", "GOLCI_SECRET": "",
		"GOLCI_SECRT": "GOLCI_SECRET", "GOLCI_RANKS": "GOLCI_RANK", "GOLCI_BANKS": "GOLCI_BANK",
	} {
		texts := Misspelt([]string{"A=b", name + "=1", name + "=1"})
		if want == "" && len(texts) > 0 || want != "" && (len(texts) != 1 || !strings.HasSuffix(texts[0], "did you mean "+want+"?")) {
			t.Errorf("%s: %q, want %q", name, texts, want)
		}
	}
	if texts := Misspelt([]string{"GOLCI_SECRT=hush"}); strings.Contains(strings.Join(texts, ""), "hush") {
		t.Errorf("a value is shown: %q", texts)
	}
	if texts := Misspelt([]string{"GOLCI_WORKRS="}); texts != nil {
		t.Errorf("an empty variable: %q", texts)
	}
}

// TestUnknown: what is far from any setting is listed, too, but for what has another meaning.
func TestUnknown(t *testing.T) {
	got := Unknown([]string{"GOLCI_NOBODY=1", "GOLCI_JOB=2", "GOLCI_SPNI=3", "GOLCI_SPIN=1us"})
	want := []string{
		"GOLCI_NOBODY is set, but no setting is called so",
		"GOLCI_SPNI is set, but no setting is called so; did you mean GOLCI_SPIN?",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestSlips: exchanges count once.
func TestSlips(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"spni", "spin", 1}, {"workrs", "workers", 1}, {"abc", "cab", 2}, {"kitten", "sitting", 3}} {
		if got := countSlips(c.a, c.b); got != c.want || countSlips(c.b, c.a) != got {
			t.Errorf("%q, %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
