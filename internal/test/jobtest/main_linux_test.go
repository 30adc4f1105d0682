package jobtest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi"
)

// roleVar makes the test binary a rank: what it does is the variable's value.
const roleVar = "GOLCI_TEST_JOB_ROLE"

func TestMain(m *testing.M) {
	if list := os.Getenv(confineVar); list != "" {
		fmt.Fprintln(os.Stderr, "error: confining:", confined(list))
		os.Exit(3)
	}
	if len(os.Args) > 1 && os.Args[1] == exitWord {
		exitMain(os.Args[2:])
	}
	if len(os.Args) > 1 && os.Args[1] == plantedWord {
		plantedMain(os.Args[2:])
	}
	if role := os.Getenv(roleVar); role != "" {
		os.Exit(rankMain(role))
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(builtIn) // what stays is in the directory for temporary files
		os.Exit(code)
	}))
}

var roles = map[string]func(c *mpi.Comm) error{
	"idle":   roleIdle,
	"flood":  roleFlood,
	"all":    roleAll,
	"stuck":  roleStuck,
	"allocs": roleAllocs,
	"order":  roleOrder,
	"talk":   roleTalk,
	"mourn":  roleMourn,
	"round":  roleRound,
}

var roleOptions = map[string][]mpi.Option{"mourn": {mpi.WithAttach(makeMourning)}}

// rankMain is the program of a rank. It first tells its number and process.
func rankMain(role string) int {
	if how, ok := strings.CutPrefix(role, failingRole); ok {
		return failingMain(how)
	}
	if how, ok := strings.CutPrefix(role, bareRole); ok {
		return bareMain(how)
	}
	if role == realmRole {
		return realmMain()
	}
	if role == orphanRole {
		return orphanMain()
	}
	if role == conformRole {
		return realmRank(conform)
	}
	if role == circleRole {
		return realmRank(circle)
	}
	if strings.HasPrefix(role, spawnRole) {
		return spawnMain(role)
	}
	p, err := mpi.Init(roleOptions[role]...)
	if err == nil {
		fmt.Printf("rank %d pid %d\n", p.World().Rank(), os.Getpid())
		err = roles[role](p.World())
	}
	if err == nil {
		err = p.Finalize()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 3
	}
	return 0
}
