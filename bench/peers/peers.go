// Package peers finds the MPI implementations that are installed, builds the C programs of this folder with them, and
// runs those with the launcher that belongs to each. The C files carry a build constraint that keeps the Go tool from
// compiling them.
package peers

import (
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

//go:embed *.c *.h
var sources embed.FS

// Setting is one way to run an implementation.
type Setting struct {
	Suffix string   // of the name in rows; "" for the defaults
	Args   []string // for the launcher
	Env    []string // K=V
}

// MPI is an installed implementation.
type MPI struct {
	Name     string // "openmpi", "mpich", or "mpi" for one that is neither
	CC, Run  string // compiler wrapper and launcher, absolute
	Bind     []string
	Crowd    []string // needed to start more ranks than there are cores
	Env      []string
	Settings []Setting
	prog     string // built program
}

// The tuned settings are those that move large messages through shared memory in place of process_vm_readv; which is
// the faster depends on the machine, so the better of all is what to compare with.
func openMPI() MPI {
	copies := []string{"--mca", "btl_vader_single_copy_mechanism", "none"}
	eager := append(copies[:3:3], "--mca", "btl_vader_eager_limit", "65536", "--mca", "btl_vader_max_send_size", "65536")
	m := MPI{
		Name:     "openmpi",
		Bind:     []string{"--bind-to", "core"},
		Crowd:    []string{"--oversubscribe"},
		Settings: []Setting{{}, {Suffix: "-tuned", Args: copies}, {Suffix: "-eager", Args: eager}},
	}
	if os.Geteuid() == 0 {
		m.Env = []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}
	}
	return m
}

func mpich() MPI {
	return MPI{
		Name:     "mpich",
		Bind:     []string{"-bind-to", "core"},
		Settings: []Setting{{}, {Suffix: "-tuned", Env: []string{"UCX_TLS=posix,self"}}},
	}
}

// Find returns the implementations in PATH: Open MPI and MPICH under the names that let both be installed, else
// whatever mpicc and mpirun are.
func Find() []MPI {
	var found []MPI
	for _, c := range []struct {
		cc, run string
		mpi     func() MPI
	}{{"mpicc.openmpi", "mpirun.openmpi", openMPI}, {"mpicc.mpich", "mpiexec.mpich", mpich}} {
		if m, ok := at(c.cc, c.run, c.mpi()); ok {
			found = append(found, m)
		}
	}
	if len(found) > 0 {
		return found
	}
	for _, run := range []string{"mpirun", "mpiexec"} {
		if m, ok := at("mpicc", run, MPI{}); ok {
			return []MPI{identify(m)}
		}
	}
	return nil
}

func at(cc, run string, m MPI) (MPI, bool) {
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

// identify asks the launcher what it is.
func identify(m MPI) MPI {
	out, err := exec.Command(m.Run, "--version").CombinedOutput()
	kind := MPI{Name: "mpi", Settings: []Setting{{}}}
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
func (m *MPI) Build(dir string) error {
	src := filepath.Join(dir, "src")
	if err := os.CopyFS(src, sources); err != nil && !os.IsExist(err) {
		return fmt.Errorf("peers: sources: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(src, "*.c"))
	if err != nil {
		return fmt.Errorf("peers: sources: %w", err)
	}
	prog := filepath.Join(dir, "peer."+m.Name)
	args := append([]string{"-O3", "-w", "-std=gnu11", "-pthread", "-o", prog}, files...)
	if out, err := exec.Command(m.CC, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("peers: %s: %w\n%s", m.CC, err, out)
	}
	m.prog = prog
	return nil
}

// Command is the command line, and what to add to the environment, that runs the built program on n ranks, one core
// each where there are cores enough, with one setting.
func (m *MPI) Command(s Setting, n int, args ...string) (argv, env []string) {
	argv = []string{m.Run, "-n", strconv.Itoa(n)}
	if n <= runtime.NumCPU() {
		argv = append(argv, m.Bind...)
	} else {
		argv = append(argv, m.Crowd...)
	}
	argv = append(argv, s.Args...)
	argv = append(argv, m.prog)
	return append(argv, args...), append(m.Env[:len(m.Env):len(m.Env)], s.Env...)
}

// Program is the built program's path, "" before Build.
func (m *MPI) Program() string { return m.prog }
