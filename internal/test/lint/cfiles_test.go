package lint

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// cNoise is what holds no calls: comments, texts, and declarations of what files share.
	cNoise = regexp.MustCompile(`(?s)/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\bHIDDEN\b[^;{}]*;`)
	// cFunction is the beginning of a function: its storage, and its name.
	cFunction = regexp.MustCompile(`(?m)^(static )?(?:[A-Za-z_]\w*[ *]+)+(\w+)\([^;{}]*\)\s*\{`)
	// cInterface is a function of MPI; see mpi/capi/abi.h. ABI_FAST calls left.
	cInterface = regexp.MustCompile(`(?m)^ABI(\w*)\([^,]*,\s*(\w+)\s*,`)
	cCall      = regexp.MustCompile(`\b(\w+)\(`)
)

// callsOfC finds which of the files call functions of which others. A file and its header are one, without ending.
func callsOfC(files []file) map[string]map[string]string {
	texts, home := make(map[string]string), make(map[string]string)
	for _, f := range files {
		base := path.Base(f.name)
		unit := strings.TrimSuffix(base, path.Ext(base))
		text := cNoise.ReplaceAllString(string(f.text), " ")
		texts[unit] += text
		for _, m := range cFunction.FindAllStringSubmatch(text, -1) {
			if m[1] == "" || strings.HasSuffix(base, ".h") {
				home[m[2]] = unit
			}
		}
		for _, m := range cInterface.FindAllStringSubmatch(text, -1) {
			for _, prefix := range []string{"PMPI_", "MPI_", "PMPIX_", "MPIX_"} {
				home[prefix+m[2]] = unit
			}
			if m[1] == "_FAST" {
				texts[unit] += " left(\n"
			}
		}
	}
	calls := make(map[string]map[string]string)
	for unit, text := range texts {
		calls[unit] = make(map[string]string)
		for _, m := range cCall.FindAllStringSubmatch(text, -1) {
			if to := home[m[1]]; to != "" && to != unit {
				calls[unit][to] = m[1]
			}
		}
	}
	return calls
}

// circle finds files that call each other in a circle: the first is also the last. nil: there are none.
func circle(calls map[string]map[string]string) []string {
	done := make(map[string]bool)
	var way []string
	var visit func(unit string) []string
	visit = func(unit string) []string {
		if i := slices.Index(way, unit); i >= 0 {
			return append(slices.Clone(way[i:]), unit)
		}
		if done[unit] {
			return nil
		}
		way = append(way, unit)
		for _, to := range slices.Sorted(maps.Keys(calls[unit])) {
			if c := visit(to); c != nil {
				return c
			}
		}
		way = way[:len(way)-1]
		done[unit] = true
		return nil
	}
	for _, unit := range slices.Sorted(maps.Keys(calls)) {
		if c := visit(unit); c != nil {
			return c
		}
	}
	return nil
}

// TestCFilesCallDown: the C files of the library call each other in one direction. What a file calls can so be read and
// tested without it.
func TestCFilesCallDown(t *testing.T) {
	var sources []file
	for _, f := range files(t) {
		if ext := path.Ext(f.name); path.Dir(f.name) == "mpi/capi" && (ext == ".c" || ext == ".h") {
			sources = append(sources, f)
		}
	}
	calls := callsOfC(sources)
	arrows := 0
	for _, to := range calls {
		arrows += len(to)
	}
	if len(sources) < 40 || arrows < 80 {
		t.Errorf("only %d files and %d arrows were found", len(sources), arrows)
	}
	if c := circle(calls); c != nil {
		for i, to := range c[1:] {
			t.Errorf("%s calls %s of %s", c[i], calls[c[i]][to], to)
		}
	}
	for _, leaf := range []string{"commtable", "fork", "handlertable", "state", "texts", "typetable"} {
		for to, name := range calls[leaf] {
			if !strings.HasSuffix(to, "table") {
				t.Errorf("%s is to be a leaf, and calls %s of %s", leaf, name, to)
			}
		}
	}
}

// TestCallsOfC: calls are found in functions of both kinds and in headers, and a circle is told in order.
func TestCallsOfC(t *testing.T) {
	calls := callsOfC([]file{
		{"a.h", []byte("HIDDEN int b(int x);\nstatic inline int a(void)\n{\n    return b(1);\n}\n")},
		{"b.c", []byte("/* a() */\nint b(int x)\n{\n    return PMPI_Get(\"a()\");\n}\n")},
		{"c.c", []byte("static int a2(void)\n{\n    return 0;\n}\n" +
			"ABI_FAST(int, Get, (int n), (n))\n{\n    return a2();\n}\n")},
		{"d.c", []byte("int left(int x)\n{\n    return a();\n}\n")},
	})
	if got, want := strings.Join(circle(calls), " "), "a b c d a"; got != want {
		t.Errorf("the circle is %q, want %q", got, want)
	}
	delete(calls["d"], "a")
	if c := circle(calls); c != nil {
		t.Errorf("found %q where there is none", c)
	}
}
