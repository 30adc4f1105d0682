package pmi

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for line, want := range map[string]Msg{
		"cmd=init pmi_version=1 pmi_subversion=1\n":    M("init", "pmi_version", "1", "pmi_subversion", "1"),
		"  rc=0   cmd=get_result value=a=b=c  ":        M("get_result", "rc", "0", "value", "a=b=c"),
		"cmd=x msg=some text here value=":              M("x", "msg", "some", "value", ""),
		"mcmd=spawn":                                   M("spawn"),
		"cmd=a cmd=b":                                  M("a", "cmd", "b"),
		"cmd=put key=\xff\xfe value=\u00e4\r\n":        M("put", "key", "\xff\xfe", "value", "\u00e4"),
		"cmd=barrier_out rc=0 =nothing tag=0 trailing": M("barrier_out", "rc", "0", "tag", "0"),
	} {
		if got, err := Parse([]byte(line)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v; want %+v", line, got, err, want)
		}
	}
	for _, line := range []string{"", "\n", "value=1", "cmd=", "cmd", "cmd=a\ncmd=b"} {
		if m, err := Parse([]byte(line)); !errors.Is(err, ErrSyntax) {
			t.Errorf("%q: %+v, %v", line, m, err)
		}
	}
	if _, err := Parse(bytes.Repeat([]byte("x"), MaxRead+1)); !errors.Is(err, ErrLineTooLong) {
		t.Errorf("long line: %v", err)
	}
}

func TestAppendRefuses(t *testing.T) {
	for _, m := range []Msg{
		{},
		M("a b"),
		M("a", "", "v"),
		M("a", "k=", "v"),
		M("a", "k k", "v"),
		M("a", "k", "v v"),
		M("a", "k", "v\n"),
		M("a", "k\x00", "v"),
	} {
		if b, err := m.Append([]byte("keep")); !errors.Is(err, ErrSyntax) || string(b) != "keep" {
			t.Errorf("%+v: %q, %v", m, b, err)
		}
	}
	if _, err := M("a", "k", strings.Repeat("v", MaxRead)).Append(nil); !errors.Is(err, ErrLineTooLong) {
		t.Errorf("long: %v", err)
	}
}

func TestFields(t *testing.T) {
	m := M("maxes", "n", "12", "x", "1x", "rc", "-3")
	if n, err := m.Int("n"); n != 12 || err != nil {
		t.Errorf("n = %d, %v", n, err)
	}
	for _, k := range []string{"x", "none"} {
		if _, err := m.Int(k); !errors.Is(err, ErrSyntax) {
			t.Errorf("%s: %v", k, err)
		}
	}
	for _, c := range []struct {
		m    Msg
		want int
	}{{m, -3}, {M("a"), 0}, {M("a", "rc", "0"), 0}, {M("a", "rc", "what"), -1}} {
		if got := c.m.returnCode(); got != c.want {
			t.Errorf("%s: rc %d, want %d", c.m, got, c.want)
		}
	}
}

// FuzzMsg: what can be parsed can be written, and is the same when parsed again.
func FuzzMsg(f *testing.F) {
	for _, s := range []string{"cmd=init pmi_version=1\n", "mcmd=spawn x=", "a cmd=b =c d=e=f", "cmd=a cmd=b"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := Parse(line)
		if err != nil {
			return
		}
		out, err := m.Append(nil)
		if err != nil {
			if len(line) >= MaxRead-2 && errors.Is(err, ErrLineTooLong) {
				return
			}
			t.Fatalf("%q parsed as %+v cannot be written: %v", line, m, err)
		}
		again, err := Parse(out)
		if err != nil || !reflect.DeepEqual(m, again) {
			t.Fatalf("%q: %+v became %+v, %v", line, m, again, err)
		}
	})
}

// FuzzServer: no sequence of lines makes the server panic, answer a rank that does not exist, or send a line that
// cannot travel. Lines are separated by line feeds; the first byte of each chooses the rank.
func FuzzServer(f *testing.F) {
	f.Add([]byte("0cmd=init pmi_version=1\n1cmd=init pmi_version=1\n0cmd=barrier_in\n1cmd=golci_who\n1cmd=finalize\n2"))
	f.Add([]byte("0cmd=init pmi_version=1\n0mcmd=spawn\n0endcmd\n0cmd=put kvsname=k key=a value=b\n\xff"))
	f.Fuzz(func(t *testing.T, script []byte) {
		const size = 3
		s, err := NewServer(Config{Size: size, KVSName: "k"})
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.SplitSeq(script, []byte("\n")) {
			if len(line) == 0 {
				continue
			}
			rank := int(line[0]) % size
			acts := s.Handle(rank, line[1:])
			if line[0] == 0xff {
				acts = s.Gone(rank)
			}
			for _, a := range acts {
				if a.Rank < 0 || a.Rank >= size {
					t.Fatalf("%q: action for rank %d", line, a.Rank)
				}
				if _, err := a.Msg.Append(nil); a.Kind == Send && err != nil {
					t.Fatalf("%q: answer %+v: %v", line, a.Msg, err)
				}
			}
			checkServer(t, s)
		}
	})
}

func checkServer(t *testing.T, s *Server) {
	t.Helper()
	var in, ended, left int
	for _, st := range s.states.byRank {
		switch {
		case st == rankBarrier:
			in++
		case st == rankLeft:
			left++
			fallthrough
		case st >= rankFinal:
			ended++
		}
	}
	got := *s.states
	if in != got.waiting || ended != len(got.ended) || left != got.left {
		t.Fatalf("%d wait, %d have ended, %d left; counted %+v", in, ended, left, got)
	}
	if len(s.missingRanks()) != s.cfg.Size-in || in == s.cfg.Size {
		t.Fatalf("%d in the barrier, missing %v", in, s.missingRanks())
	}
}

func TestFormatRanks(t *testing.T) {
	for want, ranks := range map[string][]int{"": nil, "0": {0}, "1,3-5,9": {1, 3, 4, 5, 9}, "0-1": {0, 1}} {
		if got := FormatRanks(ranks, 100); got != want {
			t.Errorf("%v: %q, want %q", ranks, got, want)
		}
	}
	var odd []int
	for i := range 1000 {
		odd = append(odd, 2*i+1)
	}
	if got := FormatRanks(odd, 20); got != "1,3,5,7,9,11,13,15,17,+991" {
		t.Errorf("shortened: %q", got)
	}
}

func TestParseMapping(t *testing.T) {
	for _, c := range []struct {
		text string
		size int
		want []int
		bad  bool
	}{
		{"(vector,(0,1,1))", 3, []int{0, 0, 0}, false},
		{"(vector,(0,2,4))", 8, []int{0, 0, 0, 0, 1, 1, 1, 1}, false},
		{"(vector,(0,2,1))", 5, []int{0, 1, 0, 1, 0}, false},
		{"(vector,(0,1,2),(1,1,1))", 3, []int{0, 0, 1}, false},
		{"(vector,(3,1,2))", 2, []int{3, 3}, false},
		{"", 2, nil, false},
		{"(vector,)", 2, nil, false},
		{"(vector,(0,0,5))", 2, nil, false},
		{"(matrix,(0,1,1))", 2, nil, true},
		{"(vector,(0,1))", 2, nil, true},
		{"(vector,(0,x,1))", 2, nil, true},
		{"(vector,(0,1,-1))", 2, nil, true},
		{"(vector,(0,1,1)", 1, nil, true},
	} {
		got, err := nodesOf(c.text, c.size)
		if (err != nil) != c.bad || !slices.Equal(got, c.want) {
			t.Errorf("%q for %d: %v, %v; want %v", c.text, c.size, got, err, c.want)
		}
	}
}

func FuzzMapping(f *testing.F) {
	f.Add("(vector,(0,2,4))", 8)
	f.Add("(vector,(0,1,1),(1,2,3))", 20)
	f.Fuzz(func(t *testing.T, s string, size int) {
		size %= 10000
		nodes, err := nodesOf(s, size)
		if err == nil && nodes != nil && len(nodes) != size {
			t.Fatalf("%d nodes for %d ranks", len(nodes), size)
		}
		checkMates(t, s, size%50)
	})
}
