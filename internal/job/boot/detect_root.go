package boot

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/golci/golci/internal/job/nodelist"
	"github.com/golci/golci/internal/observe/settings"
)

// rendezvousPoint is where the ranks of a job meet over TCP, and what they prove there. Rank 0 listens at the first of
// the addresses that is free. A caller tries all of them.
type rendezvousPoint struct {
	addrs []string // host:port
	key   []byte   // that only the ranks of this job have
}

// rootNames are the variables that together make up for a launcher that brings nobody together.
const rootNames = settings.EnvSize + ", " + settings.EnvRoot + " and " + settings.EnvSecret

// leastSecret is the length of the shortest secret. Whoever overhears a greeting can try short ones.
const leastSecret = 32

// toldPlace is the place of a rank whose user gives its number in the variable name.
func (e *envReader) toldPlace(name string) envPlace {
	return envPlace{
		launcher: LauncherEnv, rank: e.num(name, 0), size: e.num(settings.EnvSize, 1), fd: -1, ours: true,
		nodes: unknownNodes,
	}
}

// unknownNodes is a number of nodes that is not known, and may be more than one.
const unknownNodes = 2

// numbered are variables of others that number the processes of a job, and do not tell how many these are.
var numbered = []string{"JOB_COMPLETION_INDEX", "PMIX_RANK", "PALS_RANKID", "FLUX_TASK_RANK"}

// countedPlace is the place of a rank whose user gives the size of the job, and another program the number of the rank.
func (e *envReader) countedPlace() envPlace {
	i := slices.IndexFunc(numbered, e.hasVar)
	if i >= 0 {
		return e.toldPlace(numbered[i])
	}
	p := envPlace{launcher: LauncherEnv, size: e.num(settings.EnvSize, 1), fd: -1, ours: true, nodes: unknownNodes}
	if p.size > 1 && e.err == nil {
		e.err = fmt.Errorf("%w: %s=%d, but %s is not set, nor is %s; to run the program alone, unset %s",
			errEnv, settings.EnvSize, p.size, settings.EnvRank, strings.Join(numbered, " or "), settings.EnvSize)
	}
	return p
}

// remedies say what to do about a launcher that does not bring ranks of several nodes together.
var remedies = map[string]string{
	LauncherSlurm: "use srun --mpi=pmi2, build the program with -tags pmix for srun --mpi=pmix, or set " +
		settings.EnvSecret + " for srun",
	LauncherOpenMPI: "use golci run or mpiexec of MPICH (Hydra), build the program with -tags pmix, or set " +
		settings.EnvRoot + " and " + settings.EnvSecret,
	LauncherEnv: "set " + settings.EnvRoot + " and " + settings.EnvSecret,
}

// findRoot finds out where the ranks of p meet over TCP.
func (e *envReader) findRoot(p *envPlace) {
	secret := e.str(settings.EnvSecret)
	host, nodes := e.slurmRoot(p)
	if e.err != nil {
		return
	}
	if missing := e.missingVar(host); missing != "" {
		e.err = fmt.Errorf("%w: %w: %s brings ranks of several nodes together only with %s, which is not set: %s. "+
			"A secret is a text that only the job knows, such as that of openssl rand -hex 32",
			errEnv, ErrApart, launcherText(p.launcher), missing, remedies[p.launcher])
		return
	}
	if len(secret) < leastSecret {
		e.err = fmt.Errorf("%w: %s has %d characters, want %d or more, such as those of openssl rand -hex 32",
			errEnv, settings.EnvSecret, len(secret), leastSecret)
		return
	}
	p.root.key = deriveKey([]byte(secret), "golci rendezvous "+p.commonData())
	p.root.addrs = e.rootAddrs(host, p.root.key)
	if e.err == nil && p.rank == 0 && nodes && p.node != "" && p.node != host && !e.ownHost() {
		e.err = fmt.Errorf("%w: rank 0 runs on %s, but the others will look for it on %s, the first of "+
			"SLURM_STEP_NODELIST; set %s to its address and a port",
			errEnv, p.node, host, settings.EnvRoot)
	}
}

// missingVar names the variable without which ranks cannot meet; host is that of rank 0, if the launcher tells it.
func (e *envReader) missingVar(host string) string {
	switch {
	case host == "" && !e.hasVar(settings.EnvRoot):
		return settings.EnvRoot
	case !e.hasVar(settings.EnvSecret):
		return settings.EnvSecret
	}
	return ""
}

func launcherText(launcher string) string {
	if launcher == LauncherEnv {
		return "a job by " + settings.EnvRank + " and " + settings.EnvSize
	}
	return launcher + " without PMI-1"
}

// commonData is the data that the ranks of a job share, whatever node they are on.
func (p *envPlace) commonData() string {
	if p.launcher == LauncherOpenMPI {
		return p.launcher // the rest of its meeting names a directory of the node
	}
	return p.meeting
}

// mostNodes bounds the list of a step's nodes.
const mostNodes = 1 << 16

// slurmRoot is the node of rank 0, as far as Slurm tells it: the first one of the step.
func (e *envReader) slurmRoot(p *envPlace) (host string, ok bool) {
	list := e.str("SLURM_STEP_NODELIST")
	if p.launcher != LauncherSlurm || list == "" {
		return "", false
	}
	names, err := nodelist.Names(list, mostNodes)
	if err != nil {
		e.err = fmt.Errorf("%w: SLURM_STEP_NODELIST=%.80q: %w", errEnv, list, err)
		return "", false
	}
	return names[0], true
}

// Without GOLCI_ROOT rank 0 listens at one of some ports that follow from the key. They lie above those that systems
// give to programs without a wish.
const (
	firstPort = 61000
	ports     = 4500
	tries     = 4
)

// rootAddrs is GOLCI_ROOT, which may lack the host if the launcher tells it, or else some ports of that host.
func (e *envReader) rootAddrs(host string, key []byte) (addrs []string) {
	text := e.str(settings.EnvRoot)
	if text == "" {
		n := binary.BigEndian.Uint32(deriveKey(key, "ports"))
		for i := range uint32(tries) {
			addrs = append(addrs, net.JoinHostPort(host, strconv.Itoa(int(firstPort+(n+i)%ports))))
		}
		return addrs
	}
	own, port, err := net.SplitHostPort(text)
	n, wrong := strconv.Atoi(port)
	if own == "" {
		own = host
	}
	if err != nil || wrong != nil || n < 1 || n > 1<<16-1 || own == "" || strings.ContainsAny(own, " \t\n") {
		e.err = fmt.Errorf("%w: %s=%.80q, want the host of rank 0 and a port, such as node1:7000", errEnv, settings.EnvRoot,
			text)
		return nil
	}
	return []string{net.JoinHostPort(own, port)}
}

// ownHost says that GOLCI_ROOT has a host.
func (e *envReader) ownHost() bool {
	host, _, err := net.SplitHostPort(e.str(settings.EnvRoot))
	return err == nil && host != ""
}

// deriveKey is a key of 32 bytes that follows from another one, for the purpose that label tells.
func deriveKey(key []byte, label string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(label))
	return h.Sum(nil)
}
