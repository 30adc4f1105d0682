package boot

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// onTwoNodes are variables of other launchers for rank 1 of a job of 4 on two nodes.
var (
	slurmTwo = map[string]string{
		"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "4", "SLURM_STEP_NUM_NODES": "2", "SLURM_STEP_NODELIST": "n[08-09]",
		"SLURM_JOB_ID": "5", "SLURM_STEP_ID": "0", "SLURMD_NODENAME": "n08",
	}
	openMPITwo = map[string]string{
		"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
		"PMIX_NAMESPACE": "77", "PMIX_SERVER_TMPDIR": "/x",
	}
	byHand = rootEnv("r0:7000", 1, 4)
)

// TestDetectRoot: rank, size and root come from the user's variables, or from another launcher's.
func TestDetectRoot(t *testing.T) {
	for name, c := range map[string]struct {
		env      map[string]string
		launcher string
		want     string // addresses; ports that follow from the secret end in *
	}{
		"by hand":     {byHand, LauncherEnv, "r0:7000"},
		"IPv6":        {with(byHand, "GOLCI_ROOT", "[fd00::1]:7000"), LauncherEnv, "[fd00::1]:7000"},
		"indexed job": {with(byHand, "GOLCI_RANK", "", "JOB_COMPLETION_INDEX", "1"), LauncherEnv, "r0:7000"},
		"PMIx": {
			with(byHand, "GOLCI_RANK", "", "PMIX_RANK", "1", "PMIX_NAMESPACE", "x"), LauncherEnv,
			"r0:7000",
		},
		"PALS": {with(byHand, "GOLCI_RANK", "", "PALS_RANKID", "1"), LauncherEnv, "r0:7000"},
		"Flux": {
			with(byHand, "GOLCI_RANK", "", "FLUX_TASK_RANK", "1", "FLUX_JOB_SIZE", "4"), LauncherEnv,
			"r0:7000",
		},
		"over Open MPI's": {with(openMPITwo, "GOLCI_RANK", "1", "GOLCI_SIZE", "4", "GOLCI_ROOT", "a:1", "GOLCI_SECRET",
			testSecret), LauncherEnv, "a:1"},
		"Open MPI":        {with(openMPITwo, "GOLCI_ROOT", "a:1", "GOLCI_SECRET", testSecret), LauncherOpenMPI, "a:1"},
		"Slurm":           {with(slurmTwo, "GOLCI_SECRET", testSecret), LauncherSlurm, "n08:*"},
		"Slurm, port":     {with(slurmTwo, "GOLCI_SECRET", testSecret, "GOLCI_ROOT", ":7000"), LauncherSlurm, "n08:7000"},
		"Slurm, root":     {with(slurmTwo, "GOLCI_SECRET", testSecret, "GOLCI_ROOT", "x:7000"), LauncherSlurm, "x:7000"},
		"Slurm, one node": {with(slurmTwo, "SLURM_STEP_NUM_NODES", "1"), LauncherSlurm, ""},
		"one node, root": {
			with(slurmTwo, "SLURM_STEP_NUM_NODES", "1", "GOLCI_ROOT", "x:1", "GOLCI_SECRET", testSecret),
			LauncherSlurm, "x:1",
		},
		"one rank":     {map[string]string{"GOLCI_RANK": "0", "GOLCI_SIZE": "1"}, LauncherEnv, ""},
		"size 1 alone": {map[string]string{"GOLCI_SIZE": "1"}, LauncherEnv, ""},
		"secret alone": {map[string]string{"GOLCI_SECRET": testSecret}, LauncherSingle, ""},
		"index alone":  {map[string]string{"JOB_COMPLETION_INDEX": "3"}, LauncherSingle, ""},
		"in a job of golci's": {
			with(byHand, "PMI_FD", "3", "PMI_RANK", "1", "PMI_SIZE", "4", EnvLauncher, "ab"),
			LauncherGolci, "",
		},
	} {
		p, err := detectLauncher(envOf(c.env))
		got := p.root.addrs
		if len(got) == tries && strings.HasSuffix(c.want, "*") {
			host := strings.TrimSuffix(c.want, "*")
			got = []string{c.want}
			for _, a := range p.root.addrs {
				if !strings.HasPrefix(a, host+"6") || len(a) != len(host)+5 {
					t.Errorf("%s: port of %s", name, a)
				}
			}
		}
		if err != nil || p.launcher != c.launcher || strings.Join(got, " ") != c.want ||
			(c.want == "") != (p.root.key == nil) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

// TestRootKey: all ranks of a job have one key and one set of ports, and other jobs have others.
func TestRootKey(t *testing.T) {
	slurm := with(slurmTwo, "GOLCI_SECRET", testSecret)
	open := with(openMPITwo, "GOLCI_ROOT", "a:1", "GOLCI_SECRET", testSecret)
	for name, c := range map[string]struct {
		env, other map[string]string
		same       bool
	}{
		"another rank":     {slurm, with(slurm, "SLURM_PROCID", "3", "SLURMD_NODENAME", "n09"), true},
		"another node":     {open, with(open, "PMIX_SERVER_TMPDIR", "/y", "OMPI_COMM_WORLD_RANK", "2"), true},
		"another spelling": {byHand, with(byHand, "GOLCI_ROOT", "10.0.0.1:7000"), true},
		"another step":     {slurm, with(slurm, "SLURM_STEP_ID", "1"), false},
		"another job":      {slurm, with(slurm, "SLURM_JOB_ID", "6"), false},
		"another secret":   {byHand, with(byHand, "GOLCI_SECRET", testSecret+"x"), false},
	} {
		p, err := detectLauncher(envOf(c.env))
		q, err2 := detectLauncher(envOf(c.other))
		if same := string(p.root.key) == string(q.root.key); err != nil || err2 != nil || same != c.same {
			t.Errorf("%s: the same key: %v; %v, %v", name, same, err, err2)
		}
		if c.same && name == "another rank" && !slices.Equal(p.root.addrs, q.root.addrs) {
			t.Errorf("%v and %v", p.root.addrs, q.root.addrs)
		}
	}
}

// TestDetectApart: ranks that cannot reach each other are errors that say what to do, never jobs of one rank each. No
// error shows the secret.
func TestDetectApart(t *testing.T) {
	for name, c := range map[string]struct {
		env   map[string]string
		apart bool
		want  string
	}{
		"Slurm":          {slurmTwo, true, "-tags pmix for srun --mpi=pmix, or set GOLCI_SECRET"},
		"Slurm, a step?": {map[string]string{"SLURM_PROCID": "1", "SLURM_NTASKS": "4"}, true, "srun --mpi=pmi2"},
		"Open MPI":       {openMPITwo, true, "GOLCI_ROOT"},
		"Open MPI, root": {with(openMPITwo, "GOLCI_ROOT", "a:1"), true, "GOLCI_SECRET"},
		"by hand":        {map[string]string{"GOLCI_RANK": "0", "GOLCI_SIZE": "2"}, true, "GOLCI_ROOT"},
		"no secret":      {with(byHand, "GOLCI_SECRET", ""), true, "GOLCI_SECRET, which is not set"},
		"PMIx": {
			map[string]string{"PMIX_RANK": "0", "PMIX_NAMESPACE": "x"},
			true,
			"GOLCI_SIZE, GOLCI_ROOT and GOLCI_SECRET",
		},
		"PMIx, namespace": {map[string]string{"PMIX_NAMESPACE": "x"}, true, "-tags pmix"},
		"Flux":            {map[string]string{"FLUX_TASK_RANK": "1", "FLUX_JOB_SIZE": "2"}, true, "flux run -o pmi=simple"},
		"PALS":            {map[string]string{"PALS_RANKID": "0"}, true, "Hydra"},
		"no size":         {map[string]string{"GOLCI_RANK": "0"}, false, "GOLCI_SIZE"},
		"no rank":         {with(byHand, "GOLCI_RANK", ""), false, "GOLCI_RANK is not set"},
		"short secret":    {with(byHand, "GOLCI_SECRET", "hush-hush"), false, "GOLCI_SECRET has 9 characters"},
		"no port":         {with(byHand, "GOLCI_ROOT", "r0"), false, "GOLCI_ROOT"},
		"port 0":          {with(byHand, "GOLCI_ROOT", "r0:0"), false, "GOLCI_ROOT"},
		"no host":         {with(byHand, "GOLCI_ROOT", ":7000"), false, "GOLCI_ROOT"},
		"nodes": {
			with(slurmTwo, "GOLCI_SECRET", testSecret, "SLURM_STEP_NODELIST", "n["), false,
			"SLURM_STEP_NODELIST",
		},
		"rank 0 elsewhere": {
			with(slurmTwo, "GOLCI_SECRET", testSecret, "SLURM_PROCID", "0", "SLURMD_NODENAME", "n09"), false,
			"rank 0 runs on n09",
		},
		"rank too high": {with(byHand, "GOLCI_RANK", "4"), false, "rank 4 in a job of 4"},
	} {
		if p, _ := detectLauncher(envOf(c.env)); p.pmix {
			continue // in a build that has a way for it
		}
		_, _, _, err := Detect(envOf(c.env))
		if !errors.Is(err, errEnv) || errors.Is(err, ErrApart) != c.apart || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), testSecret) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Join(t.Context(), WithEnv(envOf(c.env))); !errors.Is(err, errEnv) {
			t.Errorf("%s: Join: %v", name, err)
		}
	}
}

// FuzzDetect: no environment makes it panic; who is not alone has a way to the others.
func FuzzDetect(f *testing.F) {
	f.Add("n[08-09]", "r0:7000", testSecret, "1", "4")
	f.Add("", ":7000", "", "0", "1")
	f.Fuzz(func(t *testing.T, nodes, root, secret, rank, size string) {
		for _, env := range []map[string]string{
			with(slurmTwo, "SLURM_STEP_NODELIST", nodes, "SLURM_PROCID", rank, "SLURM_STEP_NUM_TASKS", size,
				"GOLCI_ROOT", root, "GOLCI_SECRET", secret),
			{"GOLCI_RANK": rank, "GOLCI_SIZE": size, "GOLCI_ROOT": root, "GOLCI_SECRET": secret},
		} {
			p, err := detectLauncher(envOf(env))
			if err == nil && p.size > 1 && len(p.root.addrs) == 0 {
				t.Errorf("%v: %+v", env, p)
			}
			if err != nil && len(secret) >= leastSecret && strings.Contains(err.Error(), secret) &&
				!strings.Contains(nodes+root+rank+size, secret) {
				t.Errorf("%v shows the secret", err)
			}
		}
	})
}
