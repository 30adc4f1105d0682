package peers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// TaskBench is the MPI program of a checkout of Task Bench, built for an implementation.
type TaskBench struct {
	Peer
	nonblock string // a path
}

// TaskBench builds the program mpi/nonblock of the checkout with Task Bench's own makefiles, in a copy of its sources
// in dir. It needs make and the implementation's compiler for C++.
func (m *Peer) TaskBench(checkout, dir string) (*TaskBench, error) {
	into := filepath.Join(dir, "taskbench."+m.Name)
	for _, part := range []string{"core", "mpi"} {
		if err := os.CopyFS(filepath.Join(into, part), os.DirFS(filepath.Join(checkout, part))); err != nil {
			return nil, fmt.Errorf("peers: Task Bench in %s: %w", checkout, err)
		}
	}
	cxx := filepath.Join(filepath.Dir(m.CC), strings.Replace(filepath.Base(m.CC), "mpicc", "mpicxx", 1))
	for _, args := range [][]string{
		{"-C", filepath.Join(into, "core"), "libcore.a", "libcore_s.a"}, // the second is a link
		{"-C", filepath.Join(into, "mpi"), "nonblock", "MPICXX=" + cxx},
	} {
		if out, err := exec.Command("make", append([]string{"-B"}, args...)...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("peers: Task Bench for %s: %w\n%s", m.Name, err, out)
		}
	}
	return &TaskBench{*m, filepath.Join(into, "mpi", "nonblock")}, nil
}

// Command returns the command line and the additional environment that run the program with args on ranks.
func (t *TaskBench) Command(s Setting, ranks int, args ...string) (argv, env []string) {
	env = append(t.Env[:len(t.Env):len(t.Env)], s.Env...)
	return append(append(t.launch(s, ranks), t.nonblock), args...), env
}

// Program is the path of what was built.
func (t *TaskBench) Program() string { return t.nonblock }
