package boot

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestDetect(t *testing.T) {
	ompi := map[string]string{
		"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
		"PMIX_NAMESPACE": "77", "PMIX_SERVER_TMPDIR": "/x",
	}
	for name, c := range map[string]struct {
		env  map[string]string
		want envPlace
	}{
		"none":  {nil, envPlace{launcher: LauncherSingle, size: 1, fd: -1}},
		"batch": {map[string]string{"SLURM_PROCID": "0", "SLURM_NTASKS": "8"}, envPlace{launcher: LauncherSingle, size: 1, fd: -1}},
		"golci": {
			map[string]string{"PMI_FD": "3", "PMI_RANK": "1", "PMI_SIZE": "4", EnvLauncher: "ab", "MPI_LOCALRANKID": "1"},
			envPlace{launcher: LauncherGolci, rank: 1, size: 4, fd: 3, ours: true},
		},
		"hydra": {
			map[string]string{"PMI_FD": "6", "PMI_RANK": "0", "PMI_SIZE": "2", "HYDI_CONTROL_FD": "5"},
			envPlace{launcher: LauncherHydra, size: 2, fd: 6},
		},
		"srun": {
			map[string]string{"PMI_FD": "9", "PMI_RANK": "0", "PMI_SIZE": "2", "SLURM_PROCID": "0"},
			envPlace{launcher: LauncherSlurm, size: 2, fd: 9},
		},
		"other": {
			map[string]string{"PMI_FD": "9", "PMI_RANK": "0", "PMI_SIZE": "2"},
			envPlace{launcher: LauncherPMI, size: 2, fd: 9},
		},
		"port": {
			map[string]string{"PMI_PORT": "h:1", "PMI_ID": "3", "MPI_LOCALRANKID": "0"},
			envPlace{launcher: LauncherHydra, size: 1, fd: -1, port: "h:1", id: "3"},
		},
		"openmpi": {ompi, envPlace{launcher: LauncherOpenMPI, rank: 1, size: 2, fd: -1, meeting: "openmpi 77 /x", nodes: 1, ours: true}},
		"inside openmpi": {
			with(ompi, "PMI_FD", "3", "PMI_RANK", "0", "PMI_SIZE", "1", EnvLauncher, "ab"),
			envPlace{launcher: LauncherGolci, size: 1, fd: 3, ours: true},
		},
		"openmpi with a secret": {
			with(ompi, openMPISecret, "12-34"),
			envPlace{launcher: LauncherOpenMPI, rank: 1, size: 2, fd: -1, meeting: "openmpi 77 /x 12-34", nodes: 1, ours: true},
		},
		"flux, one rank": {map[string]string{"FLUX_TASK_RANK": "0", "FLUX_JOB_SIZE": "1"}, envPlace{launcher: LauncherSingle, size: 1, fd: -1}},
		"flux with PMI": {
			map[string]string{"FLUX_TASK_RANK": "1", "FLUX_JOB_SIZE": "2", "PMI_FD": "9", "PMI_RANK": "1", "PMI_SIZE": "2"},
			envPlace{launcher: LauncherPMI, rank: 1, size: 2, fd: 9},
		},
		"srun without PMI": {
			map[string]string{"SLURM_PROCID": "2", "SLURM_STEP_NUM_TASKS": "3", "SLURM_STEP_NUM_NODES": "1", "SLURM_JOB_ID": "5", "SLURM_STEP_ID": "0"},
			envPlace{launcher: LauncherSlurm, rank: 2, size: 3, fd: -1, meeting: "slurm 5 0", nodes: 1, ours: true},
		},
	} {
		got, err := detectLauncher(envOf(c.env))
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
	}
}

func TestDetectErrors(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"no rank":   {"PMI_FD": "3", "PMI_SIZE": "4"},
		"words":     {"PMI_FD": "three", "PMI_RANK": "0", "PMI_SIZE": "4"},
		"size 0":    {"PMI_FD": "3", "PMI_RANK": "0", "PMI_SIZE": "0"},
		"rank high": {"PMI_FD": "3", "PMI_RANK": "4", "PMI_SIZE": "4"},
		"negative":  {"PMI_FD": "3", "PMI_RANK": "-1", "PMI_SIZE": "4"},
		"openmpi":   {"OMPI_COMM_WORLD_SIZE": "2"},
		"pmix":      {"PMIX_RANK": "0", "PMIX_NAMESPACE": "x"},
		"pmix name": {"PMIX_NAMESPACE": "x"},
		"flux":      {"FLUX_TASK_RANK": "1", "FLUX_JOB_SIZE": "2"},
		"pals":      {"PALS_RANKID": "0"},
	} {
		if p, _ := detectLauncher(envOf(env)); p.pmix {
			continue // in a build that has a way for it
		}
		if _, _, _, err := Detect(envOf(env)); !errors.Is(err, errEnv) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Join(t.Context(), WithEnv(envOf(env))); !errors.Is(err, errEnv) {
			t.Errorf("%s: Join: %v", name, err)
		}
	}
}

// TestPMIxPlace: launchers of PMIx are told apart. Without the tag, who can meet at a rendezvous does so, and for the
// others the error names the tag.
func TestPMIxPlace(t *testing.T) {
	pmix := map[string]string{"PMIX_RANK": "2", "PMIX_NAMESPACE": "x"}
	slurm := with(pmix, "SLURM_PROCID", "2", "SLURM_STEP_NUM_TASKS", "4", "SLURM_STEP_NUM_NODES", "2")
	ompi := with(pmix, "OMPI_COMM_WORLD_RANK", "2", "OMPI_COMM_WORLD_SIZE", "4", "OMPI_COMM_WORLD_LOCAL_SIZE", "4")
	for name, c := range map[string]struct {
		env      map[string]string
		launcher string
		size     int
	}{
		"alone": {pmix, LauncherPMIx, 3}, "slurm": {slurm, LauncherSlurm, 4}, "openmpi": {ompi, LauncherOpenMPI, 4},
	} {
		p, err := detectLauncher(envOf(c.env))
		switch {
		case name != "openmpi" && !havePMIx:
			if !errors.Is(err, errEnv) || !strings.Contains(err.Error(), "-tags pmix") {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil || p.launcher != c.launcher || p.rank != 2 || p.size != c.size || p.pmix != havePMIx:
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	if _, err := detectLauncher(envOf(with(pmix, "PMIX_RANK", "4294967294x"))); !errors.Is(err, errEnv) {
		t.Errorf("a rank that is none: %v", err)
	}
	for _, set := range [][]string{
		{"GOLCI_RANK", "1", "GOLCI_SIZE", "2", "GOLCI_ROOT", "h:1", "GOLCI_SECRET", strings.Repeat("s", leastSecret)},
		{"GOLCI_SIZE", "3", "GOLCI_ROOT", "h:1", "GOLCI_SECRET", strings.Repeat("s", leastSecret)},
	} {
		if p, err := detectLauncher(envOf(with(pmix, set...))); err != nil || p.pmix || p.launcher != LauncherEnv {
			t.Errorf("%v: %+v, %v", set, p, err)
		}
	}
	p, err := detectLauncher(envOf(with(pmix, "PMI_FD", "3", "PMI_RANK", "0", "PMI_SIZE", "1")))
	if err != nil || p.pmix || p.fd != 3 {
		t.Errorf("PMI-1 inside of PMIx: %+v, %v", p, err)
	}
}

// TestJoinClosedFD: an environment inherited from a rank must not make us take over somebody's file.
func TestJoinClosedFD(t *testing.T) {
	for _, fd := range []string{"0", "999"} {
		env := envOf(map[string]string{"PMI_FD": fd, "PMI_RANK": "0", "PMI_SIZE": "1"})
		p, err := detectLauncher(env)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := joinPlace(t.Context(), p, options{}); !errors.Is(err, errEnv) {
			t.Errorf("PMI_FD=%s: %v", fd, err)
		}
	}
}

func TestJoinSettings(t *testing.T) {
	if _, err := Join(t.Context(), WithEnv(envOf(map[string]string{"GOLCI_INIT_TIMEOUT": "soon"}))); err == nil {
		t.Error("a bad GOLCI_INIT_TIMEOUT was accepted")
	}
	j, err := Join(t.Context(), WithEnv(envOf(nil)))
	if err != nil || j.Size != 1 || j.Launcher != LauncherSingle {
		t.Fatalf("%+v, %v", j, err)
	}
	if err := exchange(t.Context(), j); err != nil {
		t.Error(err)
	}
	if err := j.Finalize(t.Context()); err != nil {
		t.Error(err)
	}
}

func envOf(m map[string]string) lookup {
	return func(name string) (string, bool) {
		v, ok := m[name]
		return v, ok
	}
}

func with(m map[string]string, kv ...string) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		out[k] = v
	}
	for i := 0; i < len(kv); i += 2 {
		out[kv[i]] = kv[i+1]
	}
	return out
}
