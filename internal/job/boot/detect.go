package boot

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/golci/golci/internal/observe/settings"
)

// lookup reads one environment variable, as os.LookupEnv does.
type lookup func(name string) (string, bool)

// envPlace describes this rank as the environment has it.
type envPlace struct {
	launcher   string
	rank, size int
	fd         int             // PMI_FD, or -1
	port       string          // PMI_PORT, or ""
	id         string          // PMI_ID in port mode
	meeting    string          // common data of the ranks of a job without PMI, or ""
	nodes      int             // nodes of such a job
	ours       bool            // the server is one of the project's, so that it can name the ranks missing
	root       rendezvousPoint // where the ranks of such a job meet, if not on one node
	node       string          // the launcher's name for this rank's node, or ""
	pmix       bool            // the server speaks PMIx; it tells the size
}

// Detect tells which launcher has started this process, without joining its job: the name is one of the Launcher
// constants. The error wraps errEnv and says which variable is wrong. It wraps ErrApart, too, if launcher, rank and
// size are known, as far as the launcher tells them, and nothing says how this rank can reach the others.
func Detect(env func(name string) (string, bool)) (launcher string, rank, size int, err error) {
	p, err := detectLauncher(env)
	return p.launcher, p.rank, p.size, err
}

// detectLauncher looks for PMI first, because a launcher that serves it may run inside the allocation of another one.
// What the user says comes before what other launchers do.
func detectLauncher(env lookup) (envPlace, error) {
	e := envReader{get: env}
	var p envPlace
	switch {
	case e.hasVar("PMI_FD"):
		p = envPlace{
			launcher: pmiLauncher(&e), rank: e.num("PMI_RANK", 0), size: e.num("PMI_SIZE", 1), fd: e.num("PMI_FD", 0),
			ours: e.hasVar(EnvLauncher),
		}
	case e.hasVar("PMI_PORT"):
		p = envPlace{launcher: pmiLauncher(&e), size: 1, fd: -1, port: e.str("PMI_PORT"), id: e.str("PMI_ID")}
	case e.hasVar(settings.EnvRank):
		p = e.toldPlace(settings.EnvRank)
	case e.wantsPMIx():
		p = pmixPlace(&e)
	case e.hasVar("OMPI_COMM_WORLD_SIZE"):
		p = openMPI(&e)
	case e.hasVar("SLURM_STEP_NUM_TASKS") && e.hasVar("SLURM_PROCID"):
		p = slurm(&e)
	case e.hasVar(settings.EnvSize):
		p = e.countedPlace()
	default:
		p = envPlace{launcher: LauncherSingle, size: 1, fd: -1}
		e.refuseAlone(&p)
	}
	if e.err == nil && p.rank >= p.size {
		e.err = fmt.Errorf("%w: rank %d in a job of %d", errEnv, p.rank, p.size)
	}
	if e.err == nil && p.fd < 0 && p.port == "" && !p.pmix && p.size > 1 && (p.nodes != 1 || e.hasVar(settings.EnvRoot)) {
		e.findRoot(&p)
	}
	return p, e.err
}

// unserved are launchers that say which rank a process is, and offer no way to the others that is known here.
var unserved = []struct{ rank, size, how string }{
	{"FLUX_TASK_RANK", "FLUX_JOB_SIZE", "flux run -o pmi=simple"},
	{"PALS_RANKID", "", "mpiexec of MPICH (Hydra)"},
	{"PMIX_RANK", "", "build it with -tags pmix"},
	{"PMIX_NAMESPACE", "", "build it with -tags pmix"},
}

// refuseAlone refuses to be a job of one rank when a launcher has started several: each would run the whole program by
// itself.
func (e *envReader) refuseAlone(p *envPlace) {
	for _, u := range unserved {
		if !e.hasVar(u.rank) || u.size != "" && e.str(u.size) == "1" {
			continue
		}
		p.rank, _ = strconv.Atoi(e.str(u.rank)) // for people only: 0 where it is no number
		e.err = fmt.Errorf("%w: %w: %s=%q says that this is one rank of a job, but nothing says how to reach the others; "+
			"start the program with golci run, srun --mpi=pmi2 or %s, or set %s; to run it alone, unset %s",
			errEnv, ErrApart, u.rank, e.str(u.rank), u.how, rootNames, u.rank)
		return
	}
	// A batch script is process 0 of its own. Other processes of Slurm are tasks, whose step is not known.
	if id := e.str("SLURM_PROCID"); id != "" && id != "0" {
		e.err = fmt.Errorf("%w: %w: SLURM_PROCID=%q says that this is one task of several, "+
			"but SLURM_STEP_NUM_TASKS is not set; "+
			"start the program with srun --mpi=pmi2; to run it alone, unset SLURM_PROCID", errEnv, ErrApart, id)
	}
}

// EnvLauncher is set, to the job's id, for the ranks that the project's own launcher starts.
const EnvLauncher = settings.EnvJob

func pmiLauncher(e *envReader) string {
	switch {
	case e.hasVar(EnvLauncher):
		return LauncherGolci
	case e.hasVar("HYDI_CONTROL_FD"), e.hasVar("MPI_LOCALRANKID"):
		return LauncherHydra
	case e.hasVar("SLURM_PROCID"):
		return LauncherSlurm
	}
	return LauncherPMI
}

// openMPISecret is a random number that mpirun gives to the job's processes. Other users cannot read it.
const openMPISecret = "OMPI_MCA_orte_precondition_transports"

func openMPI(e *envReader) envPlace {
	size := e.num("OMPI_COMM_WORLD_SIZE", 1)
	p := envPlace{
		launcher: LauncherOpenMPI, rank: e.num("OMPI_COMM_WORLD_RANK", 0), size: size, fd: -1, nodes: 1, ours: true,
		meeting: strings.TrimSpace("openmpi " + e.str("PMIX_NAMESPACE") + " " + e.str("PMIX_SERVER_TMPDIR") + " " + e.str(openMPISecret)),
	}
	if e.num("OMPI_COMM_WORLD_LOCAL_SIZE", 1) != size {
		p.nodes = 2 // or more; how many does not matter
	}
	return p
}

// slurm reads the variables of srun for a step. SLURM_NTASKS would not do: a batch script has it too and is no rank.
func slurm(e *envReader) envPlace {
	p := envPlace{
		launcher: LauncherSlurm, rank: e.num("SLURM_PROCID", 0), size: e.num("SLURM_STEP_NUM_TASKS", 1), fd: -1, ours: true,
		nodes:   1,
		meeting: "slurm " + e.str("SLURM_JOB_ID") + " " + e.str("SLURM_STEP_ID"),
		node:    e.str("SLURMD_NODENAME"),
	}
	if e.hasVar("SLURM_STEP_NUM_NODES") {
		p.nodes = e.num("SLURM_STEP_NUM_NODES", 1)
	}
	return p
}

// envReader keeps the first error, so that the callers read like tables.
type envReader struct {
	get lookup
	err error
}

func (e *envReader) hasVar(name string) bool {
	v, ok := e.get(name)
	return ok && v != ""
}

func (e *envReader) str(name string) string {
	v, _ := e.get(name)
	return v
}

func (e *envReader) num(name string, least int) int {
	v := e.str(name)
	n, err := strconv.Atoi(v)
	if (err != nil || n < least) && e.err == nil {
		e.err = fmt.Errorf("%w: %s=%q, want a number of at least %d", errEnv, name, v, least)
	}
	return n
}
