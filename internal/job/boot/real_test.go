package boot

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// rankRole makes the test binary a rank: what it does is the variable's value.
const rankRole = "GOLCI_TEST_BOOT_RANK"

// rankMain joins, exchanges, and prints one line.
func rankMain() int {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if os.Getenv(rankRole) == "miss" && os.Getenv("PMI_RANK") == "1" {
		time.Sleep(time.Hour) // the others end the job, and this rank with it
		return 0
	}
	j, err := Join(ctx)
	if err == nil {
		err = exchange(ctx, j)
	}
	if err == nil {
		_, err = Join(ctx)
		if j.Launcher != LauncherSingle && err == errTwice {
			err = nil
		}
	}
	if err == nil && os.Getenv(rankRole) == "abort" && j.Rank == 1 {
		_ = j.Abort(6, "this was enough")
		return 6
	}
	if err == nil {
		err = j.Finalize(ctx)
	}
	if err != nil {
		fmt.Println("error:", err)
		return 3
	}
	fmt.Printf("rank %d of %d under %s, job %s, local %v\n", j.Rank, j.Size, j.Launcher, j.JobID, j.LocalRanks)
	return 0
}

// launch runs the test binary under a launcher and returns the lines it prints, sorted.
func launch(t *testing.T, role string, argv ...string) ([]string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], append(argv[1:], os.Args[0])...)
	cmd.Env = append(os.Environ(), rankRole+"="+role, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
		"GOLCI_INIT_TIMEOUT=20s")
	if role == "miss" {
		cmd.Env = append(cmd.Env, "GOLCI_INIT_TIMEOUT=500ms")
	}
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(lines)
	return lines, err
}

func TestRealLaunchers(t *testing.T) {
	for _, c := range []struct {
		launcher string
		size     int
		argv     []string
	}{
		{LauncherHydra, 3, []string{"mpiexec.mpich", "-n", "3"}},
		{LauncherHydra, 3, []string{"mpiexec.mpich", "-pmi-port", "-n", "3"}},
		{LauncherOpenMPI, 3, []string{"mpirun.openmpi", "--oversubscribe", "-n", "3"}},
		{LauncherOpenMPI, 1, []string{"mpirun.openmpi", "-n", "1"}},
		{LauncherSingle, 1, []string{"env"}},
	} {
		t.Run(strings.Join(c.argv, " "), func(t *testing.T) {
			if _, err := exec.LookPath(c.argv[0]); err != nil {
				t.Skipf("%s is not installed", c.argv[0])
			}
			lines, err := launch(t, "join", c.argv...)
			if err != nil {
				t.Fatalf("%v:\n%s", err, strings.Join(lines, "\n"))
			}
			checkRanks(t, lines, c.launcher, c.size)
		})
	}
}

// checkRanks wants one line a rank, all of the same job. What the launcher itself prints does not count.
func checkRanks(t *testing.T, lines []string, launcher string, size int) {
	t.Helper()
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "mpi") })
	if len(lines) != size {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), size, strings.Join(lines, "\n"))
	}
	_, tail, _ := strings.Cut(lines[0], "job ")
	id, _, _ := strings.Cut(tail, ",")
	var local []string
	for i := range size {
		local = append(local, strconv.Itoa(i))
	}
	for i, line := range lines {
		want := fmt.Sprintf("rank %d of %d under %s, job %s, local [%s]", i, size, launcher, id, strings.Join(local, " "))
		if line != want || len(id) != 16 {
			t.Errorf("got %q, want %q", line, want)
		}
	}
}

// TestRealAbort: an abort ends the job, with its code and reason.
func TestRealAbort(t *testing.T) {
	for _, argv := range [][]string{{"mpiexec.mpich", "-n", "2"}, {"mpirun.openmpi", "--oversubscribe", "-n", "2"}} {
		t.Run(argv[0], func(t *testing.T) {
			if _, err := exec.LookPath(argv[0]); err != nil {
				t.Skipf("%s is not installed", argv[0])
			}
			lines, err := launch(t, "abort", argv...)
			all := strings.Join(lines, "\n")
			told := strings.Contains(all, "golci: rank 1 aborted the job with code 6: this was enough")
			switch { // mpirun has the code of whichever rank ends first; Hydra may drop the output of one that aborts
			case err == nil, argv[0] == "mpiexec.mpich" && err.Error() != "exit status 6":
				t.Errorf("%v\n%s", err, all)
			case argv[0] == "mpirun.openmpi" && !told:
				t.Errorf("no reason in\n%s", all)
			}
		})
	}
}

// TestRealMissing: under a foreign launcher a rank that does not come is named by the others.
func TestRealMissing(t *testing.T) {
	if _, err := exec.LookPath("mpiexec.mpich"); err != nil {
		t.Skip("mpiexec.mpich is not installed")
	}
	lines, err := launch(t, "miss", "mpiexec.mpich", "-n", "3")
	all := strings.Join(lines, "\n")
	if err == nil || !strings.Contains(all, "error: golci: rank(s) 1 of 3 did not come: context deadline exceeded") {
		t.Errorf("%v:\n%s", err, all)
	}
}

// TestMisspeltSetting: a name that is almost a setting's is reported once in a job, and not again where golci run has
// done so.
func TestMisspeltSetting(t *testing.T) {
	t.Setenv("GOLCI_WORKRS", "1")
	t.Setenv("GOLCI_OTHER_TOOL", "1")
	for launcher, argv := range map[string][]string{
		LauncherSingle: {"env"}, LauncherHydra: {"mpiexec.mpich", "-n", "3"},
	} {
		if _, err := exec.LookPath(argv[0]); err != nil {
			continue
		}
		lines, err := launch(t, "join", argv...)
		all := strings.Join(lines, "\n")
		const want = "golci: GOLCI_WORKRS is set, but no setting is called so; did you mean GOLCI_WORKERS?"
		if err != nil || strings.Count(all, want) != 1 || strings.Contains(all, "OTHER_TOOL") {
			t.Errorf("%s: %v\n%s", launcher, err, all)
		}
	}
}
