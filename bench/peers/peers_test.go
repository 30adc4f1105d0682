package peers

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/job"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// install puts a script under each name into a PATH of its own; every script answers --version with text.
func install(t *testing.T, text string, names ...string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("scripts need a shell")
	}
	dir := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho '"+text+"'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

func names(found []Peer) []string {
	var out []string
	for _, m := range found {
		out = append(out, m.Name)
	}
	return out
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		what  string
		tools []string
		text  string
		want  []string
	}{
		{"nothing", nil, "", nil},
		{"both", []string{"mpicc.openmpi", "mpirun.openmpi", "mpicc.mpich", "mpiexec.mpich", "mpicc", "mpirun"}, "", []string{"openmpi", "mpich"}},
		{"compiler without launcher", []string{"mpicc.openmpi", "mpicc.mpich", "mpiexec.mpich"}, "", []string{"mpich"}},
		{"plain Open MPI", []string{"mpicc", "mpirun"}, "mpirun (Open MPI) 4.1.4", []string{"openmpi"}},
		{"plain MPICH", []string{"mpicc", "mpiexec"}, "HYDRA build details:", []string{"mpich"}},
		{"another", []string{"mpicc", "mpirun"}, "something else", []string{"mpi"}},
		{"libraries that pkg-config knows", []string{"cc", "pkg-config"}, "-lany", []string{"ucx", "lci"}},
		{"libraries without a compiler", []string{"pkg-config"}, "-lany", nil},
	} {
		t.Run(c.what, func(t *testing.T) {
			install(t, c.text, c.tools...)
			if got := names(Find()); !slices.Equal(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

func TestCommandBindsWhereThereAreCores(t *testing.T) {
	m := openMPI()
	m.Run, m.Program = "/bin/mpirun", "/tmp/peer"
	c := Case{Bench: "latency", Impl: "openmpi", Ranks: 1, Sizes: "8", Threads: "1", Seconds: "0.5"}
	argv, env := m.Command(m.Settings[1], c)
	line := strings.Join(argv, " ")
	if want := "/bin/mpirun -n 1 --bind-to core --mca btl_vader_single_copy_mechanism none /tmp/peer latency openmpi 8 1 0.5"; line != want {
		t.Errorf("command %q, want %q", line, want)
	}
	if root := os.Geteuid() == 0; root != slices.Contains(env, "OMPI_ALLOW_RUN_AS_ROOT=1") {
		t.Errorf("root is %v, environment %q", root, env)
	}
	c.Ranks = runtime.NumCPU() + 1
	argv, _ = m.Command(m.Settings[0], c)
	if !slices.Contains(argv, "--oversubscribe") || slices.Contains(argv, "--bind-to") {
		t.Errorf("%d ranks: %q", c.Ranks, argv)
	}
	other := mpich()
	if _, env := other.Command(other.Settings[1], c); !slices.Equal(env, []string{"UCX_TLS=posix,self"}) {
		t.Errorf("environment %q", env)
	}
}

// TestGolci: golci compiles and launches its own C programs, where there is a compiler.
func TestGolci(t *testing.T) {
	install(t, "", "mpicc")
	if m, ok := Golci("/bin/golci"); ok {
		t.Errorf("%+v without a C compiler", m)
	}
	install(t, "", "cc")
	m, ok := Golci("/bin/golci")
	if !ok || !bench.Ours(m.Name) || !m.Has("latency") || m.Has(active) {
		t.Fatalf("%+v, %v", m, ok)
	}
	m.Program = "/tmp/peer"
	c := Case{Bench: "latency", Impl: m.Name, Ranks: 1 << 20, Sizes: "8", Threads: "1", Seconds: "0.5"}
	argv, _ := m.Command(m.Settings[0], c)
	if want := "/bin/golci run -n 1048576 /tmp/peer latency golci-c 8 1 0.5"; strings.Join(argv, " ") != want {
		t.Errorf("command %q, want %q", argv, want)
	}
}

// TestLCI: what is linked, what is run, and with which settings.
func TestLCI(t *testing.T) {
	install(t, "-I/opt/lci/include -L/opt/lci/lib -llct -llci-ucx -llci", "cc", "pkg-config")
	m, ok := lci()
	if !ok {
		t.Fatal("not found")
	}
	for bench, want := range map[string]bool{
		"latency": true, "rate": true, "bandwidth": true, "threads": true, "bibw": false, active: false,
	} {
		if m.Has(bench) != want {
			t.Errorf("%s: %v, want %v", bench, !want, want)
		}
	}
	libs := strings.Join(lciLibs([]string{"-I/opt/lci/include", "-L/opt/lci/lib", "-llct", "-llci-ucx", "-llci"}), " ")
	want := "-I/opt/lci/include -L/opt/lci/lib -Wl,--disable-new-dtags,-rpath,/opt/lci/lib -llct -llci "
	if !strings.HasPrefix(libs, want) || !strings.HasSuffix(libs, " -lstdc++") {
		t.Errorf("linked with %q, want %q first and the C++ library last", libs, want)
	}
	m.Program = "/tmp/peer"
	c := Case{Bench: "threads", Impl: m.Name, Ranks: 2, Sizes: "8", Threads: "4", Seconds: "0.5"}
	for _, s := range m.Settings {
		argv, env := m.Command(s, c)
		if want := "/tmp/peer threads lci 8 4 0.5"; strings.Join(argv, " ") != want {
			t.Errorf("command %q, want %q", argv, want)
		}
		if own := slices.Contains(env, "PEER_DEVICES=16"); own != (s.Only == "threads") {
			t.Errorf("%q for %q has the environment %q", s.Suffix, s.Only, env)
		}
		if !s.For("threads") || s.For("latency") != (s.Only == "") {
			t.Errorf("%q is for %q, but threads %v, latency %v", s.Suffix, s.Only, s.For("threads"), s.For("latency"))
		}
	}
}

// The settings of one implementation share a slice of arguments at their beginning: none may write into another's.
func TestSettingsAreApart(t *testing.T) {
	m := openMPI()
	if n := len(m.Settings[1].Args); n != 3 {
		t.Errorf("tuned has %d arguments: %q", n, m.Settings[1].Args)
	}
	if n := len(m.Settings[2].Args); n != 9 {
		t.Errorf("eager has %d arguments: %q", n, m.Settings[2].Args)
	}
}

// TestNetworkSettings: what both libraries are told leaves them nothing but TCP over the loopback interface.
func TestNetworkSettings(t *testing.T) {
	for _, c := range []struct {
		peer Peer
		want []string
	}{{openMPI(), []string{"--mca btl tcp,self", "--mca btl_tcp_if_include lo"}}, {mpich(), []string{"UCX_TLS=tcp,self", "FI_PROVIDER=tcp"}}} {
		if len(c.peer.Network) == 0 {
			t.Fatalf("%s has no network", c.peer.Name)
		}
		c.peer.Run = "mpirun"
		argv, env := c.peer.Command(c.peer.Network[0], Case{Ranks: 1})
		all := strings.Join(append(argv, env...), " ")
		for _, w := range c.want {
			if !strings.Contains(all, w) {
				t.Errorf("%s: no %q in %q", c.peer.Name, w, all)
			}
		}
	}
}

// TestProgramsOfInstalledPeers: every program gives the rows it should. The MPI implementations run one program, of
// which the first one found here shows all, and the others that they build and start it.
func TestProgramsOfInstalledPeers(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles C")
	}
	found := Find()
	if _, err := exec.LookPath("cc"); err != nil || len(found) == 0 {
		t.Skip("no MPI and no library with a C compiler")
	}
	dir, shown := t.TempDir(), false
	for _, m := range found {
		if err := m.Build(dir); err != nil {
			t.Fatal(err)
		}
		mpi := m.files == nil
		for i, b := range []string{
			"latency", "bandwidth", "bibw", "rate", "barrier", "allreduce", "threads", "notify", "am", "firstcall",
		} {
			if !m.Has(b) || mpi && shown && i > 0 {
				continue
			}
			for i, s := range m.Settings {
				if i == 0 || s.Only == b {
					t.Run(m.Name+s.Suffix+"/"+b, func(t *testing.T) { checkProgram(t, &m, s, b) })
				}
			}
		}
		shown = shown || mpi
	}
}

func checkProgram(t *testing.T, m *Peer, s Setting, b string) {
	sizes, threads := []int{8, 20000}, 1
	c := Case{Bench: b, Impl: m.Name, Ranks: 2, Sizes: "8,20000", Threads: "1", Seconds: "0.01"}
	switch b {
	case "threads":
		sizes, threads, c.Sizes, c.Threads = []int{8}, 2, "8", "2"
	case "firstcall":
		sizes, c.Sizes = []int{0, 0}, "0" // calls, then their control
	case active:
		sizes, c.Sizes = []int{0, 512, 0, 512}, "0,512" // round trips, then floods
	}
	argv, env := m.Command(s, c)
	// UCX opens each interface that it finds, and fails if that is gone by then. Tests beside this one make some.
	env = append(env, "UCX_NET_DEVICES=lo")
	var rows []bench.Row
	err := job.Run(t.Context(), job.Job{
		Argv: argv, Env: env, Limit: time.Minute, Strays: m.Program,
		Row: func(r bench.Row) { rows = append(rows, r) },
	})
	if len(rows) != len(sizes) {
		t.Fatalf("%d rows, want %d; error %v", len(rows), len(sizes), err)
	}
	for i, r := range rows {
		if !strings.HasPrefix(r.Bench, b) || r.Impl != m.Name || r.Size != sizes[i] || r.Threads != threads || r.Unit == "" {
			t.Errorf("row %+v", r)
		}
		if starved := b == "threads"; r.Value <= 0 && !starved {
			t.Errorf("no value in %+v", r)
		}
	}
}
