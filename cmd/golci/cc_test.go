//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// cc makes golci cc with flags and then args, and a cache of its own. If a.c is among args, it runs where that is.
func cc(t *testing.T, flags []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := golci(t, slices.Concat([]string{"cc"}, flags, args)...)
	if slices.Contains(args, "a.c") {
		cmd.Dir = t.TempDir()
		if err := os.WriteFile(filepath.Join(cmd.Dir, "a.c"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd.Env = append(cmd.Env, "XDG_CACHE_HOME="+t.TempDir(), "GOCACHE="+goCache(t))
	return cmd
}

// goCache is where the go command keeps what it has compiled; its place may depend on that of other caches.
func goCache(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// noLibrary is a directory with a file of the library's name.
func noLibrary(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "libmpi_abi.so"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestCCPassesArguments: the compiler gets all flags but golci's own. Here it prints them.
func TestCCPassesArguments(t *testing.T) {
	dir := noLibrary(t)
	flags := []string{"-with-cc", "echo -m64", "-with-lib=" + dir}
	end := " -L" + dir + " -lmpi_abi -Wl,-rpath," + dir
	for args, want := range map[string]string{
		"-O2 -v a.c":      "-O2 -v a.c" + end,
		"a.c --print -h":  "a.c --print -h" + end,
		"-c a.c":          "-c a.c",
		"-- -print":       "-print",
		"-version -print": "-version -print",
	} {
		r := run(t, cc(t, flags, strings.Fields(args)...))
		words := strings.SplitN(strings.TrimSpace(r.out), " ", 3)
		if r.code != 0 || len(words) != 3 || words[0] != "-m64" || !strings.HasPrefix(words[1], "-I") || words[2] != want {
			t.Errorf("%q: the compiler gets %q, want %q at the end; %s", args, words, want, r.err)
		}
	}
	r := run(t, cc(t, flags, "-print"))
	if !strings.HasPrefix(r.out, "echo -m64 -I") || !strings.HasSuffix(r.out, end+"\n") {
		t.Errorf("-print prints %q", r.out)
	}
}

// TestCCEnds: the code is the compiler's, or 1 where there is none.
func TestCCEnds(t *testing.T) {
	library := "-with-lib=" + noLibrary(t)
	run(t, cc(t, []string{"-with-cc=false", library}, "a.c")).want(t, 1, "")
	script := filepath.Join(t.TempDir(), "cc")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho no >&2\nexit 7\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, cc(t, []string{"-with-cc", script, library}, "a.c")).want(t, 7, "no\n")
	run(t, cc(t, []string{"-with-cc", " ", library}, "a.c")).want(t, 1, "-with-cc names no compiler")
	run(t, cc(t, []string{"-with-cc", "/no/compiler", library}, "a.c")).want(t, 1, "/no/compiler")
	run(t, cc(t, []string{"-with-lib", "/no/library"}, "a.c")).want(t, 1, "there is no libmpi_abi.so in /no/library")
	run(t, cc(t, []string{"-with-cxx", "echo c++", library}, "-cxx", "-c", "a.c")).want(t, 0, "")
	old := cc(t, []string{"-with-cc", "true", library}, "a.c")
	old.Env = append(old.Env, "GOLCI_CC=clang")
	run(t, old).want(t, 0, "GOLCI_CC is set, but no setting is called so any more; use golci cc -with-cc")
	r := run(t, golci(t, "help", "cc"))
	if r.code != 0 || !strings.Contains(r.out, "--rebuild") {
		t.Errorf("code %d, the help is %q", r.code, r.out)
	}
}

// TestCCBuilds: the library is built when it is needed first, and programs that are linked with it run.
func TestCCBuilds(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the C library")
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("there is no gcc")
	}
	cache := t.TempDir() // with one library for all, since it takes long to build
	t.Run("first", func(t *testing.T) { buildFirst(t, cache) })
	t.Run("CMake", func(t *testing.T) { buildByCMake(t, cache) })
}

// buildFirst: the first call builds the library into cache, and the second finds it there.
func buildFirst(t *testing.T, cache string) {
	program := filepath.Join(t.TempDir(), "version")
	source := program + ".c"
	text := `#include <mpi.h>
#include <stdio.h>
int main(void)
{
	int major, minor;
	MPI_Get_version(&major, &minor);
	printf("%d.%d\n", major, minor);
}
`
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	first := cc(t, []string{"-with-cc", "gcc"}, "-Wall", "-Werror", "-o", program, source)
	first.Env = append(first.Env, "XDG_CACHE_HOME="+cache)
	run(t, first).want(t, 0, "building libmpi_abi.so")
	out, err := exec.Command(program).CombinedOutput()
	if err != nil || string(out) != "5.0\n" {
		t.Errorf("the program prints %q (%v)", out, err)
	}
	second := golci(t, first.Args[1:]...)
	second.Env = slices.Clone(first.Env)
	if r := run(t, second); r.code != 0 || r.err != "" {
		t.Errorf("the second call ends with code %d and says %q", r.code, r.err)
	}
}

// TestCCDoesNotCallItself: a script that sets CC to golci cc does not have the build of the library start golci cc.
func TestCCDoesNotCallItself(t *testing.T) {
	if vars := buildVariables("gcc -m64"); !slices.Contains(vars, "CC=gcc -m64") {
		t.Errorf("the library is built with %q", vars)
	}
	r := run(t, cc(t, []string{"-with-cc", "golci cc", "-with-lib", noLibrary(t)}, "a.c"))
	if r.code == 0 || !strings.Contains(r.err, "-with-cc names golci") {
		t.Errorf("a compiler that is golci: code %d, %q", r.code, r.err)
	}
}

// TestFindSources: a source that is not there is found before anything is built; other words of the compiler are left.
func TestFindSources(t *testing.T) {
	if err := findSources(strings.Fields("-c cc_test.go -o nosuch.c -MF nosuch.cc -Dx.c nosuch.o -lm")); err != nil {
		t.Error(err)
	}
	cmd := golci(t, "cc", "-c", "nosuch.c")
	cmd.Env = append(cmd.Env, "XDG_CACHE_HOME="+t.TempDir())
	if r := run(t, cmd); r.code != 1 || !strings.Contains(r.err, "nosuch.c: no such file") || strings.Contains(r.err, "building") {
		t.Errorf("code %d: %s", r.code, r.err)
	}
}

// buildByCMake: CMake finds the library for C and C++ in one project by the wrappers, and the programs run.
func buildByCMake(t *testing.T, cache string) {
	for _, tool := range []string{"cmake", "make", "gcc", "g++"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("there is no " + tool)
		}
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("CMakeLists.txt", `cmake_minimum_required(VERSION 3.16)
project(both C CXX)
find_package(MPI REQUIRED COMPONENTS C CXX)
add_executable(inc main.c)
target_link_libraries(inc MPI::MPI_C)
add_executable(incxx main.cc)
target_link_libraries(incxx MPI::MPI_CXX)
`)
	write("main.c", `#include <mpi.h>
#include <stdio.h>
int main(int c, char **v)
{
	int n, major, minor;
	MPI_Init(&c, &v);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Get_version(&major, &minor);
	MPI_Finalize();
	printf("%d.%d, %d\n", major, minor, n);
}
`)
	write("main.cc", `#include <mpi.h>
#include <iostream>
int main(int c, char **v)
{
	int n, major, minor;
	MPI_Init(&c, &v);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Get_version(&major, &minor);
	MPI_Finalize();
	std::cout << major << "." << minor << ", " << n << std::endl;
}
`)
	bin := filepath.Join(dir, "bin")
	first := cc(t, nil, "-install", bin)
	first.Env = append(first.Env, "XDG_CACHE_HOME="+cache)
	run(t, first).want(t, 0, "")
	env := slices.Concat(first.Env, []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")})
	for _, args := range [][]string{{"-S", dir, "-B", dir + "/build"}, {"--build", dir + "/build"}} {
		cmd := exec.Command("cmake", args...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("cmake %q: %v\n%s", args, err, out)
		}
	}
	for _, name := range []string{"inc", "incxx"} {
		cmd := exec.Command(filepath.Join(bin, "mpiexec"), "-np", "2", filepath.Join(dir, "build", name))
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != "5.0, 2\n5.0, 2\n" {
			t.Errorf("%s prints %q (%v)", name, out, err)
		}
	}
}
