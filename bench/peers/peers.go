// Package peers finds UCX, LCI and the installed MPI implementations. It builds the programs of this folder with each
// of them, which a build constraint hides from the Go tool, and runs them with its launcher.
package peers

import (
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/golci/golci/bench"
)

//go:embed *.c *.h pair/*.c pair/*.h ucx/*.c lci/*.cpp
var sources embed.FS

// Setting is one way to run an implementation.
type Setting struct {
	Suffix string   // of the name in rows; "" for the defaults
	Only   string   // the benchmark that it is for; "" for all
	Args   []string // for the launcher
	Env    []string // K=V
}

// For says whether the setting is for the benchmark.
func (s Setting) For(bench string) bool { return s.Only == "" || s.Only == bench }

// Peer is something installed that golci is compared with.
type Peer struct {
	Name     string   // "openmpi", "mpich", "mpi" for an MPI that is neither; "ucx", "lci"
	CC, Run  string   // compiler (wrapper) and launcher, absolute; no launcher if the program starts its own peer
	ccArgs   []string // for CC, before all others
	runArgs  []string // for Run, before all others
	Bind     []string
	Crowd    []string // needed to start more ranks than there are cores
	Env      []string
	Settings []Setting
	Network  []Setting // over the network between ranks of one machine, too; nil: it has none
	benches  []string  // that the program has; nil: all but active
	files    []string  // of the program, relative to this folder
	libs     []string  // arguments for the linker
	Program  string    // built by Build, a path
}

// Case is what a program shall measure.
type Case struct {
	Bench, Impl    string // Impl is the name for the rows
	Ranks          int
	Sizes, Threads string // lists with commas
	Seconds        string // least length of a timed loop
}

// TCP begins the Suffix of the settings in Peer.Network, and is that of the default.
const TCP = "-tcp"

// active is the benchmark that UCX has in place of the MPI implementations.
const active = "am"

// Has says whether the peer has a program for the benchmark.
func (m *Peer) Has(bench string) bool {
	if m.benches == nil {
		return bench != active
	}
	return slices.Contains(m.benches, bench)
}

// Tuned settings move large messages through shared memory, not process_vm_readv: which is faster depends on the
// machine.
func openMPI() Peer {
	copies := []string{"--mca", "btl_vader_single_copy_mechanism", "none"}
	eager := append(copies[:3:3], "--mca", "btl_vader_eager_limit", "65536", "--mca", "btl_vader_max_send_size", "65536")
	tcp := []string{"--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo", "--mca", "mpi_yield_when_idle", "0"}
	tcpEager := []string{"--mca", "btl_tcp_eager_limit", "1048576", "--mca", "btl_tcp_max_send_size", "1048576"}
	m := Peer{
		Name:     "openmpi",
		Bind:     []string{"--bind-to", "core"},
		Crowd:    []string{"--oversubscribe"},
		Settings: []Setting{{}, {Suffix: "-tuned", Args: copies}, {Suffix: "-eager", Args: eager}},
		Network:  []Setting{{Suffix: TCP, Args: tcp}, {Suffix: TCP + "-eager", Args: slices.Concat(tcp, tcpEager)}},
	}
	if os.Geteuid() == 0 {
		m.Env = []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}
	}
	return m
}

// MPICH may be built over UCX, as in Debian, or libfabric; each reads its own variables.
func mpich() Peer {
	return Peer{
		Name:     "mpich",
		Bind:     []string{"-bind-to", "core"},
		Settings: []Setting{{}, {Suffix: "-tuned", Env: []string{"UCX_TLS=posix,self"}}},
		Network: []Setting{{Suffix: TCP, Env: []string{
			"UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo", "FI_PROVIDER=tcp", "FI_TCP_IFACE=lo", "MPIR_CVAR_NOLOCAL=1",
		}}},
	}
}

// Find returns UCX and LCI, where their headers are, and the MPI implementations in PATH: Open MPI and MPICH under the
// names that let both be installed, else whatever mpicc and mpirun are.
func Find() []Peer {
	found := findMPI()
	for _, library := range []func() (Peer, bool){ucx, lci} {
		if m, ok := library(); ok {
			found = append(found, m)
		}
	}
	return found
}

func findMPI() []Peer {
	var found []Peer
	for _, c := range []struct {
		cc, run string
		mpi     func() Peer
	}{{"mpicc.openmpi", "mpirun.openmpi", openMPI}, {"mpicc.mpich", "mpiexec.mpich", mpich}} {
		if m, ok := at(c.cc, c.run, c.mpi()); ok {
			found = append(found, m)
		}
	}
	if len(found) > 0 {
		return found
	}
	for _, run := range []string{"mpirun", "mpiexec"} {
		if m, ok := at("mpicc", run, Peer{}); ok {
			return []Peer{identify(m)}
		}
	}
	return nil
}

func ucx() (Peer, bool) {
	cc, flags, ok := library("ucx")
	return Peer{
		Name: "ucx", CC: cc, benches: []string{active}, files: []string{"ucx/am.c", "pair/pair.c", "row.c"}, libs: flags,
		Settings: []Setting{{}, {Suffix: "-tuned", Env: []string{"UCX_TLS=posix,self"}}},
	}, ok
}

// lci at its defaults sends all that its own shared memory does not take over the network that libfabric prefers, be it
// TCP. Tuned, it has libfabric's shared memory for that, slots of its own for 8 KiB, and no more packets than a cache
// holds. Devices are what threads need not share.
func lci() (Peer, bool) {
	cc, flags, ok := library("liblci")
	tuned := []string{
		"LCI_ATTR_OFI_PROVIDER_NAME=shm", "LCI_ATTR_PACKET_SIZE=8704", "LCI_ATTR_NPACKETS=1024",
		"LCI_ATTR_NET_MAX_RECVS=64", "LCI_ATTR_SHM_SLOT_SIZE=8256", "LCI_ATTR_SHM_RING_SIZE=528384",
	}
	return Peer{
		Name: "lci", CC: cc, benches: []string{"latency", "bandwidth", "rate", "threads"},
		files: []string{"lci/lci.cpp", "pair/pair.c", "payload.c", "row.c"}, libs: lciLibs(flags),
		Settings: []Setting{
			{},
			{Suffix: "-tuned", Env: tuned},
			{Suffix: "-devices", Only: "threads", Env: slices.Concat(tuned, []string{"PEER_DEVICES=16"})},
		},
	}, ok
}

// lciLibs makes arguments for the linker of what pkg-config tells of LCI.
func lciLibs(flags []string) (libs []string) {
	for _, f := range flags {
		dir, isDir := strings.CutPrefix(f, "-L")
		switch {
		case f == "-llci-ucx": // not in every build, and needed by liblci alone
		case isDir: // the old tag is also for liblct, which liblci needs
			libs = append(libs, f, "-Wl,--disable-new-dtags,-rpath,"+dir)
		default:
			libs = append(libs, f)
		}
	}
	// LCI allocates for each message. The allocator that it is built for takes effect if the program has it, too.
	malloc, _ := pkgConfig("libtcmalloc")
	return slices.Concat(libs, malloc, []string{"-lstdc++"})
}

// library is a C compiler and the flags for a library. It asks pkg-config, because without the headers the library is
// of no use here.
func library(name string) (cc string, flags []string, ok bool) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		return "", nil, false
	}
	flags, err = pkgConfig(name)
	return cc, flags, err == nil
}

func pkgConfig(name string) ([]string, error) {
	out, err := exec.Command("pkg-config", "--cflags", "--libs", name).Output()
	if err != nil {
		return nil, fmt.Errorf("peers: pkg-config %s: %w", name, err)
	}
	return strings.Fields(string(out)), nil
}

// Golci is golci's own C library, by the program golci, which compiles and launches. Its rows are called golci-c. The
// first Build on a machine builds the library, too. !ok: there is no C compiler.
func Golci(self string) (m Peer, ok bool) {
	if _, err := exec.LookPath("cc"); err != nil {
		return Peer{}, false
	}
	return Peer{
		Name: bench.Golci + "-c", CC: self, Run: self, ccArgs: []string{"cc"}, runArgs: []string{"run"},
		Settings: []Setting{{}},
	}, true
}

func at(cc, run string, m Peer) (Peer, bool) {
	ccPath, err := exec.LookPath(cc)
	if err != nil {
		return m, false
	}
	runPath, err := exec.LookPath(run)
	if err != nil {
		return m, false
	}
	m.CC, m.Run = ccPath, runPath
	return m, true
}

func identify(m Peer) Peer {
	out, err := exec.Command(m.Run, "--version").CombinedOutput()
	kind := Peer{Name: "mpi", Settings: []Setting{{}}}
	switch text := string(out); {
	case err != nil:
	case strings.Contains(text, "Open MPI"), strings.Contains(text, "OpenRTE"):
		kind = openMPI()
	case strings.Contains(text, "HYDRA"):
		kind = mpich()
	}
	kind.CC, kind.Run = m.CC, m.Run
	return kind
}

// Build compiles the program into dir, which must exist and outlive every run.
func (m *Peer) Build(dir string) error {
	src := filepath.Join(dir, "src")
	if _, err := os.Stat(src); os.IsNotExist(err) {
		if err := os.CopyFS(src, sources); err != nil {
			return fmt.Errorf("peers: sources: %w", err)
		}
	}
	files, err := m.sources(src)
	if err != nil {
		return fmt.Errorf("peers: sources: %w", err)
	}
	prog := filepath.Join(dir, "peer."+m.Name)
	args := append([]string{"-O3", "-w", "-pthread", "-o", prog}, files...)
	args = slices.Concat(m.ccArgs, args, m.libs)
	if out, err := exec.Command(m.CC, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("peers: %s: %w\n%s", m.CC, err, out)
	}
	m.Program = prog
	return nil
}

// sources are the files of the program; an MPI program is all those directly in the folder.
func (m *Peer) sources(src string) ([]string, error) {
	if m.files == nil {
		return filepath.Glob(filepath.Join(src, "*.c"))
	}
	var files []string
	for _, f := range m.files {
		files = append(files, filepath.Join(src, f))
	}
	return files, nil
}

// Command returns the command line and the additional environment that run the built program with one setting. Each
// rank is bound to a core if there are enough cores.
func (m *Peer) Command(s Setting, c Case) (argv, env []string) {
	env = append(m.Env[:len(m.Env):len(m.Env)], s.Env...)
	if m.Run != "" {
		argv = m.launch(s, c.Ranks)
	}
	return append(argv, m.Program, c.Bench, c.Impl, c.Sizes, c.Threads, c.Seconds), env
}

// launch is the launcher and its arguments before the program.
func (m *Peer) launch(s Setting, ranks int) []string {
	argv := append(append([]string{m.Run}, m.runArgs...), "-n", strconv.Itoa(ranks))
	if ranks <= runtime.NumCPU() {
		argv = append(argv, m.Bind...)
	} else {
		argv = append(argv, m.Crowd...)
	}
	return append(argv, s.Args...)
}
