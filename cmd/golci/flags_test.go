//go:build unix

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

func TestLongFlags(t *testing.T) {
	var c struct {
		cli
		Compile struct {
			Print bool
			Args  []string `arg:"" optional:"" passthrough:""`
		} `cmd:"" foreign:""`
	}
	parser, err := kong.New(&c, kong.Name("golci"), kong.Vars{"version": "", "most": "9", "ssh": "ssh"})
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"":                                  "",
		"info":                              "info",
		"run -n 2 prog":                     "run -n 2 | prog",
		"run -n2 prog":                      "run -n2 | prog",
		"run -n=2 prog":                     "run --ranks=2 | prog",
		"run -bind core prog":               "run --bind core | prog",
		"run -bind=none -prefix prog":       "run --bind=none --prefix | prog",
		"run --bind none -v prog":           "run --bind none -v | prog",
		"run -env -prefix prog -prefix":     "run --env -prefix | prog -prefix",
		"run prog -bind core -n=2":          "run | prog -bind core -n=2",
		"run -prefix run -timeout 5":        "run --prefix | run -timeout 5",
		"run -timeout 5s -- -prog -prefix":  "run --timeout 5s | -prog -prefix",
		"run -np 3 prog -np 4":              "run --np 3 | prog -np 4",
		"run -np=3 prog":                    "run --np=3 | prog",
		"run -n -1 prog":                    "run --ranks=-1 | prog",
		"run -build -race ./p":              "run --build=-race | ./p",
		"run -race -tags x,y -n 2 ./p":      "run --race --tags x,y -n 2 | ./p",
		"-version":                          "--version",
		"run -help":                         "run --help",
		"run -grace":                        "run --grace",
		"run -n 3 -env A=1 -env B=2 p -env": "run -n 3 --env A=1 --env B=2 | p -env",
		"compile -print -c a.c":             "compile --print | -c a.c",
		"compile --version":                 "compile | --version",
		"compile -help":                     "compile --help",
		"compile a.c -print":                "compile | a.c -print",
		"compile -print=no":                 "compile --print=no",
		"compile -- -print":                 "compile | -print",
	} {
		l, err := longFlags(parser.Model.Node, strings.Fields(in))
		got := strings.Join(l.own, " ")
		if l.rest != nil {
			got += " | " + strings.Join(l.rest, " ")
		}
		if err != nil || strings.TrimSpace(got) != want {
			t.Errorf("%q: %q, want %q; %v", in, got, want, err)
		}
	}
	for in, want := range map[string]string{
		"run -unknown prog -prefix": "unknown flag -unknown before the program; golci run -help",
		"run -x":                    "unknown flag -x before",
		"run -n 2 --what prog":      "unknown flag --what before",
		"info -bogus":               "unknown flag -bogus; golci info -help",
		"info --bogus=2":            "unknown flag --bogus=2; golci info -help",
		"-foo":                      "unknown flag -foo; golci -help",
		"rnu -n 2 x":                "no command rnu; did you mean run?",
		"walk -n 2 x":               "no command walk; golci help",
	} {
		if _, err := longFlags(parser.Model.Node, strings.Fields(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", in, err, want)
		}
	}
}

func TestRunArguments(t *testing.T) {
	var c cli
	parser, err := newParser(&c)
	if err != nil {
		t.Fatal(err)
	}
	args := strings.Fields("run -n 3 -env A=x,y -env B=2 -prefix -timeout 1m prog -n 9 --prefix -- rest")
	if _, err := parseArgs(parser, args); err != nil {
		t.Fatal(err)
	}
	r := c.Run
	if *r.Ranks != 3 || !r.Prefix || r.Timeout.Seconds() != 60 || r.Grace.Seconds() != 1 ||
		!slices.Equal(r.Env, []string{"A=x,y", "B=2"}) ||
		!slices.Equal(r.Argv, []string{"prog", "-n", "9", "--prefix", "--", "rest"}) {
		t.Errorf("%+v", r)
	}
}

func TestIsPackage(t *testing.T) {
	for prog, want := range map[string]bool{
		".": true, "./testdata/hello": true, "testdata/hello": true, "./testdata/hello/main.go": true,
		"sh": false, "/bin/sh": false, "nothing": false, "./nothing": false, "example.com/some/prog": true,
	} {
		if got := isPackage(prog); got != want {
			t.Errorf("%s: %v", prog, got)
		}
	}
	for prog, want := range map[string]string{"./testdata/hello": "hello", "x/main.go": "main", "/": "prog", ".": "golci"} {
		if got := binaryName(prog); got != want {
			t.Errorf("%s: name %q, want %q", prog, got, want)
		}
	}
}

func TestBytesText(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1000: "1000 bytes", 48 << 10: "48 KiB", 3 << 20: "3 MiB", 1 << 30: "1 GiB"} {
		if got := bytesText(n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

func TestWithValues(t *testing.T) {
	lookup := func(name string) (string, bool) { return "v of " + name, name != "NONE" }
	got, err := withValues([]string{"A=b=c", "B", "C="}, lookup)
	if want := []string{"A=b=c", "B=v of B", "C="}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"NONE", "", "=x"} {
		if got, err := withValues([]string{bad}, lookup); err == nil {
			t.Errorf("%q: %q", bad, got)
		}
	}
}

// TestManyArguments: the parser sees none of the program's arguments, so that their number costs no more than a look at
// each. They reach the command as they are, and so do the values of golci's own flags.
func TestManyArguments(t *testing.T) {
	var c cli
	parser, err := newParser(&c)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"run", "-env", "A=\xff,\xfe", "-rsh", "\xe9", "-trace=\xe8", "prog\xff"}
	for i := range 50_000 {
		args = append(args, fmt.Sprintf("-%d\xfe", i))
	}
	l, err := longFlags(parser.Model.Node, args)
	if err != nil || len(l.own) != 6 || len(l.rest) != len(args)-6 {
		t.Fatalf("the parser gets %d words, the program %d: %v", len(l.own), len(l.rest), err)
	}
	if _, err := parseArgs(parser, args); err != nil {
		t.Fatal(err)
	}
	r := c.Run
	if !slices.Equal(r.Argv, args[6:]) || !slices.Equal(r.Env, []string{"A=\xff,\xfe"}) || r.Rsh != "\xe9" || r.Trace != "\xe8" {
		t.Errorf("%q %q %q, %d arguments", r.Env, r.Rsh, r.Trace, len(r.Argv))
	}
}
