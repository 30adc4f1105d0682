//go:build linux

package main

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/golci/golci/internal/abi"
	"go.uber.org/goleak"
)

// scratch is where the library is built, and launcherDir the launcher, "" before. They are removed at the end.
var scratch, launcherDir string

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		for _, dir := range []string{scratch, launcherDir} {
			if dir != "" {
				os.RemoveAll(dir)
			}
		}
		os.Exit(code)
	}))
}

// build makes the library, once.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "capi")
	if err != nil {
		return "", err
	}
	scratch = dir
	file := filepath.Join(dir, abi.LibraryFile)
	if out, err := exec.Command("go", abi.BuildArgs(file)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return file, os.Symlink(file, filepath.Join(dir, abi.LibraryName))
})

func library(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("there is no gcc")
	}
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// compile makes a program of a text, with the header and the library.
func compile(t *testing.T, source string) string {
	t.Helper()
	lib := library(t)
	program := filepath.Join(t.TempDir(), "program")
	cc := exec.Command("gcc", "-std=gnu11", "-Wall", "-Werror", "-I../../internal/abi", "-x", "c", "-", "-x", "none",
		"-L"+filepath.Dir(lib), "-lmpi_abi", "-Wl,-rpath,"+filepath.Dir(lib), "-o", program)
	cc.Stdin = strings.NewReader(source)
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return program
}

// run compiles a program, runs it, and gives what it prints. Its exit code must be 0.
func run(t *testing.T, source string) string {
	t.Helper()
	return output(t, exec.Command(compile(t, source)))
}

// output gives what a command prints. Its exit code must be 0.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, stdout.String(), stderr.String())
	}
	return stdout.String()
}

// TestPrograms runs the programs of testdata. Each prints what it finds wrong, and then its number of checks.
func TestPrograms(t *testing.T) {
	names, err := filepath.Glob("testdata/*.c")
	if err != nil || len(names) == 0 {
		t.Fatalf("there are no programs: %v", err)
	}
	frame, err := os.ReadFile("testdata/check.h")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".c"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			out := run(t, string(frame)+"#line 1 \""+filepath.Base(name)+"\"\n"+string(text))
			if !regexp.MustCompile(`^[1-9]\d* checks\n$`).MatchString(out) {
				t.Error(out)
			}
		})
	}
}

// TestSymbols: the library has every function under both names, and asks for no other library than that of C.
func TestSymbols(t *testing.T) {
	file, err := elf.Open(library(t))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all, err := file.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	symbols := make(map[string]elf.Symbol)
	for _, s := range all {
		symbols[s.Name] = s
	}
	for _, name := range functions(t) {
		strong, weak := symbols["PMPI_"+name], symbols["MPI_"+name]
		if strong.Section == elf.SHN_UNDEF || elf.ST_BIND(strong.Info) != elf.STB_GLOBAL {
			t.Errorf("PMPI_%s is not there, or weak", name)
		}
		if weak.Value != strong.Value || elf.ST_BIND(weak.Info) != elf.STB_WEAK {
			t.Errorf("MPI_%s is not another name of PMPI_%s that a program may take", name, name)
		}
		delete(symbols, "PMPI_"+name)
		delete(symbols, "MPI_"+name)
	}
	for _, name := range extensions(t) {
		if _, there := symbols["PMPIX_"+name]; !there || elf.ST_BIND(symbols["MPIX_"+name].Info) != elf.STB_WEAK {
			t.Errorf("MPIX_%s is not there, or no name that a program may take", name)
		}
	}
	for name := range symbols {
		if strings.HasPrefix(name, "_cgo") { // of the go tool, with a number of this package
			continue
		}
		if strings.Contains(name, "MPI_") || strings.Contains(name, "golci") {
			t.Errorf("%s is seen from outside", name)
		}
	}
	if soname, err := file.DynString(elf.DT_SONAME); err != nil || len(soname) != 1 || soname[0] != abi.LibraryName {
		t.Errorf("the library calls itself %v (%v)", soname, err)
	}
	for _, name := range imported(t, file) {
		if !strings.HasPrefix(name, "libc.so") && !strings.HasPrefix(name, "ld-linux") { // of the same package
			t.Errorf("the library needs %s", name)
		}
	}
}

func imported(t *testing.T, file *elf.File) []string {
	t.Helper()
	names, err := file.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// extensions gives the names of those functions.
func extensions(t *testing.T) (names []string) {
	t.Helper()
	table, err := abi.Load()
	if err != nil {
		t.Fatal(err)
	}
	for i := range table.Extensions {
		names = append(names, table.Extensions[i].Name)
	}
	return names
}

// functions gives the names of all functions, and of their forms for large counts.
func functions(t *testing.T) (names []string) {
	t.Helper()
	table, err := abi.Load()
	if err != nil {
		t.Fatal(err)
	}
	for i := range table.Functions {
		for name := range table.Functions[i].Forms() {
			names = append(names, name)
		}
	}
	return names
}

var unsupported = regexp.MustCompile(`(?m)^UNSUPPORTED\((\w+),`)

// TestUnsupported calls each function that has no body yet. The handler of errors hears of it.
func TestUnsupported(t *testing.T) {
	text, err := os.ReadFile("table_gen.h")
	if err != nil {
		t.Fatal(err)
	}
	var lacking []string
	for _, m := range unsupported.FindAllSubmatch(text, -1) {
		lacking = append(lacking, string(m[1]))
	}
	if len(lacking) == 0 {
		t.Error("no function was found")
	}
	out := run(t, caller(t, lacking))
	if want := fmt.Sprintf("%d calls\n", len(lacking)); out != want {
		t.Errorf("%s, want %s", out, want)
	}
}

// caller is a program that calls functions with zeros. It prints the names of those that give another class.
func caller(t *testing.T, names []string) string {
	t.Helper()
	args := make(map[string]string)
	table, err := abi.Load()
	if err != nil {
		t.Fatal(err)
	}
	for i := range table.Functions {
		f := &table.Functions[i]
		for name, large := range f.Forms() {
			params := f.Params(large)
			args[name] = strings.TrimSuffix(strings.Repeat("0, ", strings.Count(params, ",")+1), ", ")
			if params == "void" {
				args[name] = ""
			}
		}
	}
	var b strings.Builder
	b.WriteString("#include <mpi.h>\n#include <stdio.h>\nint main(void)\n{\nint n = 0;\n" +
		"MPI_Init(NULL, NULL);\nMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);\n")
	for _, name := range names {
		fmt.Fprintf(&b, "n++; if (MPI_%s(%s) != MPI_ERR_UNSUPPORTED_OPERATION) puts(%q);\n", name, args[name], name)
	}
	b.WriteString("printf(\"%d calls\\n\", n);\nreturn MPI_Finalize();\n}\n")
	return b.String()
}

// TestPrototypes: the compiler refuses a body whose prototype is not the header's.
func TestPrototypes(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("there is no gcc")
	}
	cc := exec.Command("gcc", "-fsyntax-only", "-I.", "-I../../internal/abi", "-x", "c", "-")
	cc.Stdin = strings.NewReader("#include \"abi.h\"\nABI(int, Barrier, (int comm)) { return 0; }\n")
	out, err := cc.CombinedOutput()
	if exit := new(exec.ExitError); !errors.As(err, &exit) || !bytes.Contains(out, []byte("conflicting types")) {
		t.Errorf("gcc: %v\n%s", err, out)
	}
}
