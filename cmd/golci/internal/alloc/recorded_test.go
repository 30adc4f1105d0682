package alloc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecorded: environments that launchers have made, as the tests of package boot have them.
func TestRecorded(t *testing.T) {
	for name, want := range map[string]string{
		"salloc":            "Slurm SLURM_JOB_NODELIST n1:3 n2:1",
		"sbatch":            "Slurm SLURM_JOB_NODELIST n1:3* n2:1",
		"srun-none":         "Slurm SLURM_STEP_NODELIST n1:3* n2:1",
		"srun-none-onenode": "Slurm SLURM_STEP_NODELIST n1:2*",
		"openmpi4":          "none",
		"hydra":             "none",
	} {
		raw, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "internal", "job", "boot", "testdata", "env",
			name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		s := scene{host: "login", env: map[string]string{}}
		for line := range strings.Lines(string(raw)) {
			k, v, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			s.env[k] = v
		}
		a, err := Find(s.view())
		got, _, _ := strings.Cut(text(a), " |")
		if err != nil || got != want {
			t.Errorf("%s: %s, want %s; %v", name, got, want, err)
		}
	}
}
