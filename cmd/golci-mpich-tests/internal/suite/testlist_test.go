package suite

import (
	"errors"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

func tree(files ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		m[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return m
}

func load(t *testing.T, vars map[string]string, files ...string) (lines []Line, notes []string) {
	t.Helper()
	lines, notes, err := Load(tree(files...), vars)
	if err != nil {
		t.Fatal(err)
	}
	return lines, notes
}

// TestRow: each part of a row, alone.
func TestRow(t *testing.T) {
	for row, want := range map[string]Line{
		"a":                             {Procs: 2},
		"a 5":                           {Procs: 5},
		"  a\t3  ":                      {Procs: 3},
		"a 3\r":                         {Procs: 3},
		"a 3 # many":                    {Procs: 3},
		"a 3#many":                      {Procs: 3},
		"a 1 arg=-x arg=y=z arg=":       {Procs: 1, Args: []string{"-x", "y=z", ""}},
		"a 1 env=A=b env=C=":            {Procs: 1, Env: []string{"A=b", "C="}},
		"a 1 mpiexecarg=-q":             {Procs: 1, LauncherArgs: []string{"-q"}},
		"a 1 timeLimit=90":              {Procs: 1, Limit: 90 * time.Second},
		"a 1 mem=1.5":                   {Procs: 1, Memory: 1.5},
		"a 1 xfail=ticket1":             {Procs: 1, XFail: "ticket1"},
		"a 1 resultTest=TestErrFatal":   {Procs: 1, Rule: ErrFatal},
		"a 1 resultTest=TestBench":      {Procs: 1, Rule: Bench},
		"a 1 strict=FALSE":              {Procs: 1, NonStrict: true},
		"a 1 strict=false":              {Procs: 1, NonStrict: true},
		"a 1 strict=true":               {Procs: 1},
		"a 1 hasgpu=any":                {Procs: 1, GPU: true},
		"a 1 lock=x init=y":             {Procs: 1},
		"a 4 timeLimit=9 arg=1 xfail=t": {Procs: 4, Limit: 9 * time.Second, Args: []string{"1"}, XFail: "t"},
	} {
		lines, notes := load(t, nil, "testlist", row+"\n")
		want.Dir, want.Program = ".", "a"
		if len(lines) != 1 || !reflect.DeepEqual(lines[0], want) || len(notes) != 0 {
			t.Errorf("%q: %+v %q, want %+v", row, lines, notes, want)
		}
	}
}

// TestOddRow: what cannot be read is noted; the line stays if MPICH would run it.
func TestOddRow(t *testing.T) {
	for row, kept := range map[string]bool{
		"a 2 -large":            true,
		"a 2 -sync=all":         true,
		"a 2 =x":                true,
		"a 2 env=A":             true,
		"a 2 env==b":            true,
		"a 2 timeLimit=soon":    true,
		"a 2 timeLimit=-1":      true,
		"a two":                 false,
		"a 0":                   false,
		"a -1":                  false,
		"a 99999999999":         false,
		"a 2 mem=much":          false,
		"a 2 mem=-1":            false,
		"a 2 mem=NaN":           false,
		"a 2 resultTest=Nobody": false,
		"../a 2":                false,
		"!util:prog":            false,
		"@unknown@ a":           false,
	} {
		lines, notes := load(t, nil, "testlist", row)
		if len(lines) == 1 != kept || len(notes) == 0 {
			t.Errorf("%q: %d lines, notes %q", row, len(lines), notes)
		}
		if kept && lines[0].Key() != "./a 2" {
			t.Errorf("%q: %s", row, lines[0].Key())
		}
	}
}

// TestNested: directories in the order of the lists, names in directories, lists that configure fills in.
func TestNested(t *testing.T) {
	vars := map[string]string{"x": "x", "off": "#", "on": ""}
	lines, notes := load(t, vars,
		"testlist.in", "b\n@x@\n@off@\n@off@z 2\n@on@top 3\nempty\n", "testlist", "wrong 2\n",
		"b/testlist", "one 1\nsub\ntwo 2\n", "b/sub/testlist", "three 3\nfar/four 4\n", "x/testlist.in", "five 5 # @nobody@",
		"empty/readme", "")
	var got []string
	for i := range lines {
		got = append(got, lines[i].Key())
	}
	want := []string{"b/one 1", "b/sub/three 3", "b/sub/far/four 4", "b/two 2", "x/five 5", "./top 3"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "testlist.in:6") {
		t.Errorf("notes %q, want one of the directory without a list", notes)
	}
}

func TestNoList(t *testing.T) {
	if _, _, err := Load(tree("a/testlist", "b"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a list: %v", err)
	}
	if _, _, err := Load(tree("testlist", ".\n"), nil); err == nil {
		t.Error("a list that names its own directory is read")
	}
	deep := tree()
	dir := ""
	for range maxDepth + 2 {
		deep[dir+"testlist"] = &fstest.MapFile{Data: []byte("d\n")}
		dir += "d/"
	}
	deep[dir+"testlist"] = &fstest.MapFile{Data: []byte("a 1\n")}
	if _, _, err := Load(deep, nil); err == nil {
		t.Error("directories nest without end")
	}
}

func TestKey(t *testing.T) {
	lines, _ := load(t, nil, "testlist", "a 2 env=X=1 timeLimit=3 arg=b env=MPIR_CVAR_Y=2 mem=1 xfail=z mpiexecarg=-q\n")
	l := &lines[0]
	if got, want := l.Key(), "./a 2 arg=b mpiexecarg=-q env=X=1 env=MPIR_CVAR_Y=2"; got != want {
		t.Errorf("key %q, want %q", got, want)
	}
	if got, want := l.plainKey(), "./a 2 arg=b mpiexecarg=-q env=X=1"; got != want {
		t.Errorf("plain key %q, want %q", got, want)
	}
	if !l.isTuned() || (&Line{Env: []string{"X=1"}}).isTuned() {
		t.Error("variables of MPICH are not told from others")
	}
}

// FuzzLoad: no text is too odd, and what is read has a key that our list can hold.
func FuzzLoad(f *testing.F) {
	for _, s := range []string{
		"a 2 arg=b\nsub\n", "@x@ 2", "!a:b", "a 1 env=A=b timeLimit=1 mem=2", "\x00 2\n# \r", "sub/.. 1", "/ 1\n.. 1\n. 1",
	} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, root, sub string) {
		lines, _, err := Load(tree("testlist", root, "sub/testlist.in", sub), map[string]string{"x": "sub"})
		if err != nil {
			return
		}
		for i := range lines {
			l := &lines[i]
			if l.Procs < 1 || !fs.ValidPath(l.Dir) || l.Limit < 0 || l.Memory < 0 {
				t.Errorf("%+v", l)
			}
			row := (&List{Lines: []Expected{{Key: l.Key(), Kind: Todo, Reason: "rma"}}}).Format()
			back, err := ParseList(row)
			if strings.HasPrefix(l.Key(), "#") {
				t.Errorf("the key %q is a comment", l.Key())
			}
			if err != nil || len(back.Lines) != 1 || back.Lines[0].Key != l.Key() {
				t.Errorf("%q comes back as %v, %v", row, back, err)
			}
		}
	})
}
