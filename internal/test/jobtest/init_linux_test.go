package jobtest

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/mpi"
)

// failingRole and a name of initFailures is the role of ranks of which rank 1 cannot start.
const failingRole = "failing "

// initFailures are what rank 1 finds out after it has joined the job: what it starts with, and what it says.
var initFailures = map[string]struct {
	opts []mpi.Option
	want string
}{
	"attach": {
		[]mpi.Option{mpi.WithAttach(func(*comm.Server) error { return errors.New("no handler") })}, "no handler",
	},
	"conduit": {
		[]mpi.Option{mpi.With(settings.Conduit.Env(), "local")}, "the local conduit joins the ranks of one process",
	},
	"network": {
		[]mpi.Option{mpi.With(settings.Conduit.Env(), "udp"), mpi.With(settings.UDPInterfaces.Env(), "203.0.113.9")},
		"203.0.113.9",
	},
}

// failingMain is the program of a rank that stays, whatever becomes of its start.
func failingMain(how string) int {
	var opts []mpi.Option
	if os.Getenv("PMI_RANK") == "1" {
		opts = initFailures[how].opts
	}
	_, err := mpi.Init(opts...)
	fmt.Println("started:", err)
	time.Sleep(patience) // the launcher ends it
	return 0
}

// TestInitFailsOnOneRank: a rank that has joined its job and cannot start ends the job at once, though all processes
// stay. The launcher names it and says why.
func TestInitFailsOnOneRank(t *testing.T) {
	for name, f := range initFailures {
		t.Run(name, func(t *testing.T) {
			j := within(t, refusedBound, ranks(3, failingRole+name, "-env", settings.InitTimeout.Env()+"=10m")...)
			code := j.start().wait()
			said := j.err.String()
			if code != 1 || !strings.Contains(said, "rank 1 aborted the job") || !strings.Contains(said, f.want) {
				t.Errorf("exit code %d\n%s", code, j.all())
			}
			if strings.Contains(j.out.String(), "started: <nil>") {
				t.Errorf("a rank has started\n%s", j.all())
			}
		})
	}
}
