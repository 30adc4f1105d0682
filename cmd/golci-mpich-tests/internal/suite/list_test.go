package suite

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var sample = List{Commit: "abc", Lines: []Expected{
	{Key: "a/a 1", Kind: Pass},
	{Key: "a/b 2 arg=x", Kind: Pass, Remark: "xfail of MPICH"},
	{Key: "a/c 2", Kind: Todo, Reason: "rma"},
	{Key: "b/d 2", Kind: Skip, Reason: "memory", Remark: "80 GB"},
	{Key: "io/e 4", Kind: Empty, Reason: "ifdef"},
	{Key: "io/f 4", Kind: Todo, Reason: "io"},
}}

func TestFormat(t *testing.T) {
	text := sample.Format()
	back, err := ParseList(text)
	if err != nil || !reflect.DeepEqual(*back, sample) {
		t.Errorf("%s\ncomes back as %+v, %v", text, back, err)
	}
	if strings.Contains(text, " \n") {
		t.Error("a line ends with a blank")
	}
}

func TestParseListRefuses(t *testing.T) {
	for _, text := range []string{
		"a/a 1", "a/a 1 pass", "a/a 1  maybe", "  pass", "a/a 1  todo", "a/a 1  skip", "a/a 1  empty", "a/a 1  skip laziness",
		"a/b 1  pass\na/a 1  pass", "a/a 1  pass\na/a 1  todo rma", "a/a 1  ",
	} {
		if l, err := ParseList(text); err == nil || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%q: %+v, %v", text, l, err)
		}
	}
	if _, err := ParseList("# x\n\na/a 1  pass\nno"); err == nil || !strings.Contains(err.Error(), "line 4") {
		t.Errorf("%v, want line 4", err)
	}
}

func FuzzParseList(f *testing.F) {
	f.Add(sample.Format())
	f.Add("a 1  pass  x\n#\n# commit \n")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ParseList(text)
		if err != nil {
			return
		}
		back, err := ParseList(l.Format())
		if err != nil || !slices.Equal(back.Lines, l.Lines) {
			t.Errorf("%q: %v, then %v, %v", text, l, back, err)
		}
	})
}

func TestFind(t *testing.T) {
	for i := range sample.Lines {
		if e := sample.Find(sample.Lines[i].Key); e != &sample.Lines[i] {
			t.Errorf("%s: %v", sample.Lines[i].Key, e)
		}
	}
	if sample.Find("a/a 2") != nil {
		t.Error("a line that is not there is found")
	}
}

// suiteOf makes lines with these names and two processes, or as many as come behind a blank.
func suiteOf(t *testing.T, rows ...string) []Line {
	t.Helper()
	lines, notes := load(t, nil, "testlist", strings.Join(rows, "\n"))
	if len(notes) != 0 || len(lines) != len(rows) {
		t.Fatal(notes)
	}
	return lines
}

// there are the lines of sample in a suite.
func there(t *testing.T, more ...string) []Line {
	t.Helper()
	return suiteOf(t, append([]string{"a/a 1", "a/b 2 arg=x", "a/c 2", "b/d 2 mem=80", "io/e 4", "io/f 4"}, more...)...)
}

func TestCompare(t *testing.T) {
	if got := Compare(&sample, there(t), []Result{{"a/a 1", Passed, ""}, {"a/c 2", Failed, "x"}}); len(got) != 0 {
		t.Errorf("all is as expected, and %v is found", got)
	}
	results := []Result{
		{"io/f 4", Passed, ""},
		{"b/d 2", Passed, ""},
		{"a/b 2 arg=x", Skipped, "s"},
		{"a/a 1", Failed, "boom"},
		{"io/e 4", Passed, ""},
		{"new/x 2", Failed, ""},
	}
	lines := slices.DeleteFunc(there(t, "new/x 2", "new/x 2"), func(l Line) bool { return l.Program == "c" })
	want := []Difference{
		{"a/a 1", Broken, "boom"},
		{"a/c 2", Gone, ""},
		{"b/d 2", Fixed, "skip memory"},
		{"io/f 4", Fixed, "todo io"},
		{"new/x 2", Missing, ""},
	}
	found := Compare(&sample, lines, results)
	if !slices.Equal(found, want) {
		t.Fatalf("%v, want %v", found, want)
	}
	next := Update(&sample, found, func(key string) Expected { return Expected{Key: key, Kind: Todo, Reason: "env"} })
	after := Compare(next, lines, results)
	if len(after) != 1 || after[0].What != Broken {
		t.Errorf("after the update: %v, want the broken line only", after)
	}
	if got := *next.Find("b/d 2"); got != (Expected{Key: "b/d 2", Kind: Pass, Remark: "80 GB"}) {
		t.Errorf("%+v", got)
	}
	if got := promoted(Expected{Key: "k", Kind: Skip, Reason: "xfail"}); got.Kind != Pass || got.Remark != "xfail" {
		t.Errorf("%+v, want what it was skipped for as remark", got)
	}
	if _, err := ParseList(next.Format()); err != nil || next.Commit != "abc" {
		t.Errorf("%v, commit %s", err, next.Commit)
	}
}

func TestClassify(t *testing.T) {
	pt2pt := &Program{Calls: []string{"Send"}, Families: []string{"init", "pt2pt"}}
	for row, want := range map[string]Expected{
		"impls/mpich/a 2 mem=3":                    {Kind: Skip, Reason: "impls"},
		"ft/a 2 xfail=x":                           {Kind: Skip, Reason: "ft"},
		"a/a 2 strict=FALSE mem=2":                 {Kind: Skip, Reason: "nonstrict"},
		"a/a 2 hasgpu=any mem=2":                   {Kind: Skip, Reason: "gpu"},
		"a/a 2 mpiexecarg=x mem=2":                 {Kind: Skip, Reason: "mpiexec"},
		"init/timeout 2 resultTest=TestErrFatal":   {Kind: Skip, Reason: "mpiexec"},
		"a/a 2 mem=2 xfail=x":                      {Kind: Skip, Reason: "memory"},
		"a/a 2 xfail=x":                            {Kind: Skip, Reason: "xfail"},
		"a/a 2":                                    {Kind: Todo, Reason: "pt2pt"},
		"a/a 2 env=MPIR_CVAR_A=b":                  {Kind: Todo, Reason: "pt2pt"},
		"errors/impls/a 2":                         {Kind: Todo, Reason: "pt2pt"},
		"a/a 2 env=MPIR_CVAR_A=b arg=twin xfail=x": {Kind: Skip, Reason: "cvar"},
	} {
		l := suiteOf(t, row)[0]
		want.Key = l.Key()
		if got := Classify(&l, strings.Contains(row, "twin"), pt2pt); got != want {
			t.Errorf("%s: %+v, want %+v", row, got, want)
		}
	}
	l := suiteOf(t, "a/a 2 mem=2")[0]
	for reason, p := range map[string]*Program{"abi": {Broken: true}, "ifdef": {Calls: []string{"Init", "Finalize"}}} {
		if got := Classify(&l, true, p); got.Reason != reason {
			t.Errorf("%+v: %+v", p, got)
		}
	}
	if got := Classify(&Line{Dir: "a"}, false, nil); got.Kind != Todo || got.Reason != "unknown" {
		t.Errorf("an unknown program: %+v", got)
	}
}

func TestProgram(t *testing.T) {
	family := func(name string) string {
		return map[string]string{
			"Send": "pt2pt", "Win_create": "rma", "Init": "init", "File_open": "file", "Odd": "odd", "Comm_rank": "comm",
			"Finalize": "init", "Abort": "init",
		}[name]
	}
	for _, c := range []struct {
		undefined string
		nothing   bool
		waits     string
	}{
		{"MTest_Init MTest_Finalize printf", true, "init"},
		{"MPI_Init MPI_Comm_rank MPI_Finalize MPI_Abort", true, "comm"},
		{"MPI_Init PMPI_Send MPI_Send", false, "pt2pt"},
		{"MPI_Win_create MPI_Send", false, "rma"},
		{"MPI_Send MPI_File_open MPI_Win_create", false, "file"},
		{"MPI_Odd MPI_File_open", false, "odd"},
		{"MTestGetIntercomm", false, "comm"},
		{"DTP_pool_create MPI_Send", false, "datatype"},
	} {
		p := NewProgram(strings.Fields(c.undefined), family)
		if p.nothing() != c.nothing || p.waitsFor() != c.waits {
			t.Errorf("%s: nothing %t, waits for %s", c.undefined, p.nothing(), p.waitsFor())
		}
	}
}

// TestNotOfTheABI: a program that calls what the ABI lacks is no test for it; one that tests the start is not empty.
func TestNotOfTheABI(t *testing.T) {
	p := NewProgram([]string{"MPI_Errhandler_set", "MPI_Send"}, func(name string) string {
		return map[string]string{"Send": "pt2pt"}[name]
	})
	l := suiteOf(t, "a/a 2 strict=FALSE")[0]
	if got := Classify(&l, false, &p); got.Reason != "abi" {
		t.Errorf("%+v of %+v", got, p)
	}
	for _, row := range []string{"init/a 2", "threads/init/a 2"} {
		l := suiteOf(t, row)[0]
		got := Classify(&l, false, &Program{Calls: []string{"Init"}, Families: []string{"init"}})
		if got.Kind != Todo || got.Reason != "init" {
			t.Errorf("%s: %+v", row, got)
		}
	}
}

func TestSources(t *testing.T) {
	const makefile = `noinst_PROGRAMS = a b
b_SOURCES = one.h two.c
c_SOURCES= \
    three.c
c_CPPFLAGS = $(AM_CPPFLAGS) -DA -DB=1 \
  -Wall
c_CPPFLAGS += -DC
bc_SOURCES = four.c
c_LDADD = -Dx y.c
`
	for program, want := range map[string]string{
		"a": "a.c []", "b": "two.c []", "c": "three.c [-DA -DB=1 -DC]", "bc": "four.c []",
	} {
		source, defines := Sources(makefile, program)
		if got := source + " " + fmt.Sprint(defines); got != want {
			t.Errorf("%s: %s, want %s", program, got, want)
		}
	}
}

func TestTwins(t *testing.T) {
	lines := suiteOf(t, "a/a 2 env=MPIR_CVAR_X=1", "a/a 2", "a/a 2 env=MPIR_CVAR_X=2", "a/b 2 env=MPIR_CVAR_X=1",
		"a/b 2 env=MPIR_CVAR_X=2", "a/b 3 env=MPIR_CVAR_X=2", "a/c 2", "a/c 2 env=A=b", "a/c 2")
	twins := Twins(lines)
	for _, want := range []string{"a/a 2 env=MPIR_CVAR_X=1", "a/a 2 env=MPIR_CVAR_X=2", "a/b 2 env=MPIR_CVAR_X=2"} {
		if !twins[want] {
			t.Errorf("%s has a twin", want)
		}
		delete(twins, want)
	}
	if len(twins) != 0 {
		t.Errorf("%v have none", twins)
	}
}

func TestCount(t *testing.T) {
	rows := Count(&sample, []Result{{"a/a 1", Passed, ""}, {"a/c 2", Failed, ""}, {"io/f 4", Passed, ""}})
	want := []Row{
		{"a", 3, 3, 2, 1, 2},
		{"b", 1, 0, 0, 0, 0},
		{"io", 2, 1, 1, 1, 0},
		{"all but spawn, io", 4, 3, 2, 1, 2},
		{"spawn, io", 2, 1, 1, 1, 0},
	}
	if !slices.Equal(rows, want) {
		t.Errorf("%+v\nwant %+v", rows, want)
	}
	text := Table(rows)
	for _, s := range []string{"66.7", "spawn, io", "pass in list"} {
		if !strings.Contains(text, s) {
			t.Errorf("%s\nlacks %s", text, s)
		}
	}
}

func TestChoose(t *testing.T) {
	lines := there(t, "a/a 1", "new/x 2", "big/y 40", "new/z 2 timeLimit=9", "big/w 2 mem=3")
	for _, c := range []struct {
		choice Choice
		want   string
	}{
		{Choice{}, "a/a a/b a/c io/f new/x big/y new/z"},
		{Choice{MaxProcs: 16, Memory: 3}, "a/a a/b a/c io/f new/x new/z big/w"},
		{Choice{MaxProcs: 1, Memory: 100}, "a/a"},
		{Choice{MaxProcs: 2, Memory: 100}, "a/a a/b a/c b/d new/x new/z big/w"},
		{Choice{Only: []string{"a/*"}}, "a/a a/b a/c"},
		{Choice{Only: []string{"a/b 2 arg=x", "i?/*"}}, "a/b io/f"},
		{Choice{Only: []string{"a/..."}}, "a/a a/b a/c"},
		{Choice{Only: []string{"n/..."}}, ""},
		{Choice{Quick: 2}, "a/a a/b"},
		{Choice{Quick: 4}, "a/a a/b a/c io/f"},
		{Choice{Quick: 40}, "a/a a/b a/c io/f new/x"},
	} {
		var got []string
		for _, l := range c.choice.Choose(&sample, lines) {
			got = append(got, l.Name())
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %q, want %s", c.choice, got, c.want)
		}
	}
	skips := List{Lines: []Expected{
		{Key: "a/a 2", Kind: Skip, Reason: "abi"},
		{Key: "a/b 2", Kind: Skip, Reason: "xfail"},
	}}
	for skipped, want := range map[bool]int{true: 1, false: 0} {
		c := Choice{Skipped: skipped}
		if got := c.Choose(&skips, suiteOf(t, "a/a 2", "a/b 2")); len(got) != want {
			t.Errorf("skipped %t: %v", skipped, got)
		}
	}
}
