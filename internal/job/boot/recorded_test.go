package boot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorded is the environment of a process as a launcher has made it: Slurm 22.05, Open MPI 4.1.4, MPICH 4.0.2. What
// depends on the machine alone has been left out.
func recorded(t *testing.T, name string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "env", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	for line := range strings.Lines(string(text)) {
		k, v, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if !ok {
			t.Fatalf("%s: %q", name, line)
		}
		env[k] = v
	}
	return env
}

// TestRecorded: each launcher is known by what it really sets.
func TestRecorded(t *testing.T) {
	const apart = "apart"
	for name, want := range map[string]string{
		"srun-pmi2":         "slurm 2 of 4, fd 14",
		"srun-none-onenode": "slurm 1 of 2, meets slurm 3 0",
		"srun-none":         apart,
		"salloc":            "single 0 of 1",
		"sbatch":            "single 0 of 1",
		"openmpi4":          "openmpi 1 of 2, meets openmpi",
		"hydra":             "hydra 1 of 2, fd 9",
		"hydra-port":        "hydra 0 of 1, port", // the server tells rank and size
	} {
		env := recorded(t, name)
		p, err := detectLauncher(envOf(env))
		got := fmt.Sprintf("%s %d of %d", p.launcher, p.rank, p.size)
		switch {
		case errors.Is(err, ErrApart):
			got, err = apart, nil
		case p.fd >= 0:
			got += fmt.Sprintf(", fd %d", p.fd)
		case p.port != "":
			got += ", port"
		case p.launcher == LauncherOpenMPI:
			got += ", meets openmpi"
		case p.meeting != "":
			got += ", meets " + p.meeting
		}
		if err != nil || got != want {
			t.Errorf("%s: %s, want %s; %v", name, got, want, err)
		}
	}
	p, err := detectLauncher(envOf(with(recorded(t, "srun-none"), "GOLCI_SECRET", testSecret)))
	if err != nil || p.rank != 2 || p.size != 4 || len(p.root.addrs) != tries ||
		!strings.HasPrefix(p.root.addrs[0], "n1:") {
		t.Errorf("%+v, %v", p, err)
	}
	p, err = detectLauncher(envOf(with(recorded(t, "openmpi4"), "OMPI_COMM_WORLD_LOCAL_SIZE", "1", "GOLCI_ROOT", "a:1",
		"GOLCI_SECRET", testSecret)))
	if err != nil || p.rank != 1 || len(p.root.addrs) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}
