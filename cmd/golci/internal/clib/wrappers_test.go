package clib

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnswer: the questions of build systems, and what is none.
func TestAnswer(t *testing.T) {
	const compile, link = "-I/i", "-L/l -lmpi_abi -Wl,-rpath,/l"
	for args, want := range map[string]string{
		"-showme:compile": compile, "--showme:link": link, "-showme:incdirs": "/i", "-showme:libdirs": "/l",
		"-showme:libs": "mpi_abi", "-showme:command": "cc -m64", "-compile_info": "cc -m64 " + compile + " -c",
		"-link_info": "cc -m64 " + compile + " " + link, "-show": "cc -m64 " + compile + " " + link,
		"-showme": "cc -m64 " + compile + " " + link, "-show -c a.c": "cc -m64 " + compile + " -c a.c",
		"a.c -show": "cc -m64 " + compile + " a.c " + link, "-O2 a.c": "", "": "", "-shown": "",
	} {
		got, ok := Answer([]string{"cc", "-m64"}, Place{"/i", "/l"}, strings.Fields(args))
		if got != want || ok != (want != "") {
			t.Errorf("%q: %q (%t), want %q", args, got, ok, want)
		}
	}
}

// TestInstall: the wrappers run the program that has written them, with all arguments, and replace older ones.
func TestInstall(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	root := t.TempDir()
	golci, dir := filepath.Join(root, "it's golci"), filepath.Join(root, "a", "bin")
	if err := os.WriteFile(golci, []byte("#!/bin/sh\necho \"$#:$*\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, lib := range []string{"/old", "/l"} {
		if err := Install(dir, golci, Place{"/i", lib}, "-with-cc", "gcc -m64"); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"mpicc":   "6:cc -with-cc gcc -m64 -- -print a b.c\n",
		"mpicxx":  "7:cc -with-cc gcc -m64 -cxx -- -print a b.c\n",
		"mpic++":  "7:cc -with-cc gcc -m64 -cxx -- -print a b.c\n",
		"mpiexec": "3:run -print a b.c\n", "mpirun": "3:run -print a b.c\n",
	} {
		out, err := exec.Command(filepath.Join(dir, name), "-print", "a b.c").CombinedOutput()
		if err != nil || string(out) != want {
			t.Errorf("%s runs golci with %q (%v), want %q", name, out, err, want)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "mpi.pc"))
	if err != nil || !strings.Contains(string(text), "\nCflags: -I/i\nLibs: -L/l -lmpi_abi -Wl,-rpath,/l\n") {
		t.Errorf("mpi.pc is %q (%v)", text, err)
	}
}
