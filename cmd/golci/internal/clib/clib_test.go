package clib

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/internal/abi"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var header = []byte("int MPI_Init(int *argc, char ***argv);\n")

// finder looks in directories of the test; builds counts the libraries that it builds.
func finder(t *testing.T) (f *Finder, builds *atomic.Int32) {
	t.Helper()
	root := t.TempDir()
	builds = new(atomic.Int32)
	return &Finder{
		Golci: filepath.Join(root, "bin", "golci"), Cache: filepath.Join(root, "cache"), Key: "one",
		Source: func() string { return "source" },
		Build: func(source, output string) error {
			builds.Add(1)
			return os.WriteFile(output, []byte("built from "+source), 0o755)
		},
	}, builds
}

func addLibrary(t *testing.T, dir string) {
	t.Helper()
	file := filepath.Join(dir, abi.LibraryFile)
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(file, nil, 0o755)); err != nil {
		t.Fatal(err)
	}
}

// find has the finder find, and checks the header.
func find(t *testing.T, f *Finder) Place {
	t.Helper()
	p, err := f.Find(header)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(p.Include, "mpi.h")); err != nil || string(got) != string(header) {
		t.Errorf("the header is %q (%v)", got, err)
	}
	return p
}

// TestOrder: which library is taken, if there are several.
func TestOrder(t *testing.T) {
	f, builds := finder(t)
	p := find(t, f)
	for _, name := range []string{abi.LibraryFile, abi.LibraryName} {
		if got, err := os.ReadFile(filepath.Join(p.Lib, name)); err != nil || string(got) != "built from source" {
			t.Errorf("%s is %q (%v)", name, got, err)
		}
	}
	if again := find(t, f); again != p || builds.Load() != 1 {
		t.Errorf("found %v, then %v, after %d builds", p, again, builds.Load())
	}
	f.Key = "two"
	if other := find(t, f); other.Lib == p.Lib || other.Include != p.Include || builds.Load() != 2 {
		t.Errorf("another golci finds %v, after %d builds", other, builds.Load())
	}
	installed := filepath.Join(filepath.Dir(f.Golci), "..", "lib", "golci")
	addLibrary(t, installed)
	if p := find(t, f); p.Lib != installed {
		t.Errorf("found %s, want what is installed", p.Lib)
	}
	f.Dir = filepath.Join(t.TempDir(), "named")
	addLibrary(t, f.Dir)
	if p := find(t, f); p.Lib != f.Dir || builds.Load() != 2 {
		t.Errorf("found %s after %d builds, want what the user names", p.Lib, builds.Load())
	}
}

// TestAnew: a library that is asked for anew replaces what is there.
func TestAnew(t *testing.T) {
	f, builds := finder(t)
	old := find(t, f)
	f.Anew, f.Source = true, func() string { return "elsewhere" }
	p := find(t, f)
	got, err := os.ReadFile(filepath.Join(p.Lib, abi.LibraryFile))
	if p != old || builds.Load() != 2 || string(got) != "built from elsewhere" {
		t.Errorf("found %v after %d builds: %q (%v)", p, builds.Load(), got, err)
	}
}

// TestHeaders: another header does not take the place of one, and one that was removed is written again.
func TestHeaders(t *testing.T) {
	f, _ := finder(t)
	p := find(t, f)
	q, err := f.Find([]byte("other"))
	if err != nil || q.Include == p.Include {
		t.Errorf("both headers are in %s (%v)", q.Include, err)
	}
	if err := os.RemoveAll(p.Include); err != nil {
		t.Fatal(err)
	}
	find(t, f)
}

// TestTogether: many compilers may run at once; nothing but what they use stays.
func TestTogether(t *testing.T) {
	f, _ := finder(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := f.Find(header); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	find(t, f)
	names, err := fs.Glob(os.DirFS(f.Cache), "*")
	if want := []string{"include-" + Hash(header), "one"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("the cache has %q, want %q (%v)", names, want, err)
	}
}

func TestErrors(t *testing.T) {
	f, _ := finder(t)
	f.Dir = t.TempDir()
	wantError(t, f, f.Dir)
	f.Dir = ""
	f.Build = func(string, string) error { return fs.ErrPermission }
	wantError(t, f, "permission denied")
	if names, _ := fs.Glob(os.DirFS(f.Cache), "[^i]*"); len(names) != 0 {
		t.Errorf("a build that failed leaves %q", names)
	}
	f.Source = func() string { return "" }
	wantError(t, f, "no source")
	f.Cache = filepath.Join(os.Args[0], "cache")
	wantError(t, f, "mpi.h")
}

func wantError(t *testing.T, f *Finder, text string) {
	t.Helper()
	if p, err := f.Find(header); err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("found %v (%v), want an error with %q", p, err, text)
	}
}

// TestCommand: the library is linked where the compiler links.
func TestCommand(t *testing.T) {
	const library = " -L/l -lmpi_abi -Wl,-rpath,/l"
	for args, links := range map[string]bool{
		"hello.c": true, "-O2 -o hello hello.c": true, "hello.o -lm": true, "-x c -": true, "-shared -o a.so a.o": true,
		"": false, "-v": false, "--version": false, "-c hello.c": false, "hello.c -c -o hello.o": false, "-E hello.c": false,
		"-S hello.c": false, "-MM hello.c": false, "-fsyntax-only hello.c": false, "-o hello": false, "-I dir -v": false,
		"-MD -MF hello.d hello.c": true,
	} {
		want := strings.TrimSpace("cc -m64 -I/i " + args)
		if links {
			want += library
		}
		cc := []string{"cc", "-m64"}
		if got := strings.Join(Command(cc, Place{"/i", "/l"}, strings.Fields(args)), " "); got != want {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
}
