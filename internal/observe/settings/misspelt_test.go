package settings

import (
	"regexp"
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
		"GOLCI_SECRT": "GOLCI_SECRET", "GOLCI_RANKS": "GOLCI_RANK",
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

// TestRemoved: a variable that was a setting names what has taken its place, which is there, and is no setting.
func TestRemoved(t *testing.T) {
	set, err := parse(t)
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	for _, i := range set.List() {
		known[i.Env] = true
	}
	for name, to := range removed {
		texts := Misspelt([]string{name + "=1"})
		if want := name + " is set, but no setting is called so any more; use " + to; !slices.Equal(texts, []string{want}) {
			t.Errorf("%q, want %q", texts, want)
		}
		if known[name] {
			t.Errorf("%s is a setting", name)
		}
		for _, other := range regexp.MustCompile(`GOLCI_[A-Z_]+`).FindAllString(to, -1) {
			if !known[other] {
				t.Errorf("%s: there is no %s", name, other)
			}
		}
		if texts := Misspelt([]string{name + "="}); texts != nil {
			t.Errorf("an empty variable: %q", texts)
		}
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
