package alloc

import (
	"strings"
	"testing"
)

// FuzzFind: no environment or file makes it panic, and what it finds can be used.
func FuzzFind(f *testing.F) {
	f.Add(byte(0), "n[1-2]", "1(x2)")
	f.Add(byte(1), "h1 4 h2 4", "")
	f.Add(byte(2), "", "s1 4 all.q UNDEFINED\n")
	f.Add(byte(3), "-o 'A b'", "a slots=2 # x\nb:3")
	f.Fuzz(func(t *testing.T, kind byte, a, b string) {
		env := []map[string]string{
			{"SLURM_JOB_NODELIST": a, "SLURM_TASKS_PER_NODE": b},
			{"LSB_MCPU_HOSTS": a},
			{"PE_HOSTFILE": "/f"},
			{"HYDRA_HOST_FILE": "/f", "HYDRA_LAUNCH_EXTRA_ARGS": a},
			{"PBS_NODEFILE": "/f"},
		}[int(kind)%5]
		found, err := Find(scene{"h1", env, map[string]string{"/f": b}}.view())
		if err != nil || found == nil {
			return
		}
		if len(found.Hosts) == 0 || !strings.Contains(strings.Join(found.Shell, " "), Place) {
			t.Errorf("%s", text(found))
		}
	})
}
