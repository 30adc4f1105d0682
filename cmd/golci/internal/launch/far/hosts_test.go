//go:build unix

package far

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestParseHosts(t *testing.T) {
	for in, want := range map[string]string{
		"a:4,b:4":                  "[{a 4 false} {b 4 false}]",
		"a":                        "[{a 0 false}]",
		"me@a.example, b:2":        "[{me@a.example 0 false} {b 2 false}]",
		"a:1,b:1,a:2":              "[{a 3 false} {b 1 false}]",
		"[fe80::1]:3,::1,[2001::]": "[{fe80::1 3 false} {::1 0 false} {2001:: 0 false}]",
		"fe80::1%eth0,A_b-9+x/y:2": "[{fe80::1%eth0 0 false} {A_b-9+x/y 2 false}]",
	} {
		if got, err := ParseHosts(in); fmt.Sprint(got) != want || err != nil {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{
		"", "a,,b", "a:0", "a:x", "a:-1", "a:", ":4", "-x", "a b:1", "[a:1", "[a]1", "a,a", "a:5000", "[]",
		"a;b", "a|b", "$(x):1", "`x`", "a&b", "a'b", "a\\b", "a\x1b", "ä", "a*", "a>b", "a!b",
	} {
		if got, err := ParseHosts(in); !errors.Is(err, errHosts) {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
}

func TestReadHosts(t *testing.T) {
	got, err := ReadHosts(strings.NewReader("# all\na:4\nb slots=2 # small\n\n  c\n"))
	if err != nil || fmt.Sprint(got) != "[{a 4 false} {b 2 false} {c 0 false}]" {
		t.Errorf("%v, %v", got, err)
	}
	for text, where := range map[string]string{"": "0 machines", "a\nb slots=x": "line 2", "a\n\nb max=2": "line 3", "a\na": "twice"} {
		if got, err := ReadHosts(strings.NewReader(text)); !errors.Is(err, errHosts) || !strings.Contains(err.Error(), where) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestDealRanks(t *testing.T) {
	for _, c := range []struct {
		slots []int
		n     int
		want  string
	}{
		{[]int{4, 2}, 0, "[4 2]"},
		{[]int{4, 2}, 5, "[4 1]"},
		{[]int{4, 2, 3}, 4, "[4 0 0]"},
		{[]int{1}, 2, "[]"},
		{[]int{4000, 4000}, 5000, "[]"},
	} {
		got, err := dealRanks(c.slots, c.n)
		if err != nil && strings.Contains(err.Error(), "at most") == (len(c.slots) == 1) { // one limit a message
			t.Errorf("%v ranks on %v: %v", c.n, c.slots, err)
		}
		if fmt.Sprint(got) != c.want || (err != nil) != (c.want == "[]") {
			t.Errorf("%v ranks on %v: %v, %v", c.n, c.slots, got, err)
		}
	}
	hosts := []Host{{Name: "a", Slots: 2}, {Name: "b", Slots: 2}, {Name: "c"}, {Name: "d", Slots: 2}}
	for n, want := range map[int]int{0: 4, 1: 1, 2: 1, 3: 2, 4: 2, 5: 4} {
		if got := neededHosts(hosts, n); len(got) != want {
			t.Errorf("%d ranks: %v", n, got)
		}
	}
}

func TestWords(t *testing.T) {
	for in, want := range map[string][]string{
		"":                               nil,
		"ssh -x":                         {"ssh", "-x"},
		"  ssh\t-o 'A b=\"c\"' ":         {"ssh", "-o", `A b="c"`},
		`ssh -o "ProxyCommand nc %h %p"`: {"ssh", "-o", "ProxyCommand nc %h %p"},
		`a\ b "c\"d\\e\f" 'g\h'`:         {"a b", `c"d\e\f`, `g\h`},
		`'' "" x''y`:                     {"", "", "xy"},
	} {
		if got, err := Words(in); !slices.Equal(got, want) || err != nil {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"'", `"a`, `a\`} {
		if got, err := Words(in); err == nil {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// TestQuote has a shell read what was quoted; so it does with Words.
func TestQuote(t *testing.T) {
	for _, s := range []string{"a", "", "a b", "it's", `"\$x` + "`y`", "a\nb", "*"} {
		out, err := exec.Command("sh", "-c", "printf %s "+quoteWord(s)).Output()
		if string(out) != s || err != nil {
			t.Errorf("%q: the shell has %q, %v", s, out, err)
		}
		if got, err := Words(quoteWord(s)); len(got) != 1 || got[0] != s || err != nil {
			t.Errorf("%q: %q, %v", s, got, err)
		}
	}
}

// FuzzWords: what Words reads, quoted, it reads again.
func FuzzWords(f *testing.F) {
	f.Add(`ssh -o "a b" 'c' \d`)
	f.Fuzz(func(t *testing.T, line string) {
		words, err := Words(line)
		if err != nil {
			return
		}
		var quoted []string
		for _, w := range words {
			quoted = append(quoted, quoteWord(w))
		}
		if again, err := Words(strings.Join(quoted, " ")); err != nil || !slices.Equal(again, words) {
			t.Errorf("%q, then %q, %v", words, again, err)
		}
	})
}
