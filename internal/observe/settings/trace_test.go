package settings

import (
	"strings"
	"testing"
)

// TestParseTrace: options follow the file, which may be missing and may have commas.
func TestParseTrace(t *testing.T) {
	const usual = 256 << 20
	for text, want := range map[string]TraceFiles{
		"":                                {"", usual, ""},
		"off":                             {"", usual, ""},
		"a.%r.json":                       {"a.%r.json", usual, ""},
		"a.json,limit=1G":                 {"a.json", 1 << 30, ""},
		"a.json,credits=c.json,limit=1G":  {"a.json", 1 << 30, "c.json"},
		"limit=4M,credits=/tmp/c=1.json":  {"", 4 << 20, "/tmp/c=1.json"},
		"off,credits=c":                   {"", usual, "c"},
		"a,b=.json":                       {},
		"a,b.json":                        {"a,b.json", usual, ""},
		"a=b.json":                        {"a=b.json", usual, ""},
		"dir,1/a,x/c=d.json,credits=off1": {"dir,1/a,x/c=d.json", usual, "off1"},
	} {
		got, err := ParseTrace(text)
		if want == (TraceFiles{}) {
			if err == nil {
				t.Errorf("%q is %+v", text, got)
			}
			continue
		}
		if got != want || err != nil {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
		if again, err := ParseTrace(got.String()); again != got || err != nil {
			t.Errorf("%q is written %q, which is %+v, %v", text, got.String(), again, err)
		}
	}
	for text, says := range map[string]string{
		"a.json,limt=4M": `no option "limt"`, "a,limit=": "has no value", "a,limit=soon": "want a number of bytes",
		"a,limit=1": "want from", "limit=2T": "want from", "credits=a,b": "has a comma",
	} {
		if _, err := ParseTrace(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
	_, err := parse(t, "GOLCI_TRACE", "a,limit=1")
	if err == nil || !strings.Contains(err.Error(), `GOLCI_TRACE="a,limit=1"`) {
		t.Errorf("a limit that is too small: %v", err)
	}
	s, err := parse(t, "GOLCI_TRACE", "x,limit=1M")
	if err != nil || TraceOf(s) != (TraceFiles{"x", 1 << 20, ""}) {
		t.Errorf("%+v, %v", TraceOf(s), err)
	}
}

func TestRankFile(t *testing.T) {
	for _, c := range []struct {
		path       string
		rank, size int
		want       string
	}{
		{"a.%r.json", 3, 4, "a.3.json"},
		{"%r/%r", 12, 64, "12/12"},
		{"a.json", 0, 1, "a.json"},
		{"a.json", 1, 2, "a.json.1"},
	} {
		if got := RankFile(c.path, c.rank, c.size); got != c.want {
			t.Errorf("%q, rank %d of %d: %q, want %q", c.path, c.rank, c.size, got, c.want)
		}
	}
}
