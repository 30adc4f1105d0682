//go:build pmix && linux && (amd64 || arm64)

package boot

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pmixRole makes the test binary a rank of a PMIx launcher: what it does is the variable's value.
const pmixRole = "GOLCI_TEST_BOOT_PMIX"

// lostFile is the variable of a file that a rank makes when its launcher is lost.
const lostFile = "GOLCI_TEST_BOOT_LOST"

func init() { roles[pmixRole] = pmixMain }

func pmixMain() int {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	role := os.Getenv(pmixRole)
	if role == "miss" && os.Getenv("PMIX_RANK") == "1" {
		time.Sleep(time.Hour) // the others end the job, and this rank with it
	}
	j, err := Join(ctx, WithLost(func(*Job) {
		_ = os.WriteFile(os.Getenv(lostFile), nil, 0o600) // standard output leads to the launcher
		os.Exit(7)
	}))
	if err != nil {
		fmt.Println("error:", err)
		return 3
	}
	switch role {
	case "wait", "die", "abort": // in a fence that rank 1 does not enter
		fmt.Printf("rank %d is %d, its launcher %d\n", j.Rank, os.Getpid(), os.Getppid())
		if j.Rank == 1 {
			time.Sleep(time.Hour)
		}
		if role == "abort" {
			time.AfterFunc(time.Second, func() { _ = j.Abort(6, "this was enough") })
		}
		err = j.Fence(ctx)
		fmt.Println("fence:", err, errors.Is(err, ErrAborted))
		time.Sleep(time.Hour)
	case "leave":
		j.Ending()
		err = j.Leave(0, "")
	case "twice":
		err = errors.Join(j.Finalize(ctx), j.Finalize(ctx))
		if e := j.Put("late", nil); !errors.Is(e, errDone) {
			err = errors.Join(err, fmt.Errorf("a put after the end: %v", e))
		}
		if e := j.Abort(1, ""); !errors.Is(e, errDone) {
			err = errors.Join(err, fmt.Errorf("an abort after the end: %v", e))
		}
	}
	if err != nil {
		fmt.Println("error:", err)
		return 3
	}
	return 0
}

// mpirunLimit is how long a launcher may take for a job. Then it is killed.
const mpirunLimit = 20 * time.Second

// mpirun is a launcher that speaks PMIx, and runs n ranks of the test binary in a role. The test is skipped without it.
func mpirun(t *testing.T, role string, n int) *exec.Cmd {
	t.Helper()
	for _, name := range []string{"mpirun.openmpi", "prterun"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		over := []string{"--oversubscribe"}
		if name == "prterun" {
			over = []string{"--map-by", ":OVERSUBSCRIBE"}
		}
		ctx, cancel := context.WithTimeout(t.Context(), mpirunLimit)
		t.Cleanup(cancel)
		cmd := exec.CommandContext(ctx, path, append(over, "-n", strconv.Itoa(n), os.Args[0])...)
		cmd.Env = append(os.Environ(), pmixRole+"="+role, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
			"PRTE_ALLOW_RUN_AS_ROOT=1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1", "GOLCI_INIT_TIMEOUT=20s")
		cmd.WaitDelay = time.Second
		return cmd
	}
	t.Skip("neither mpirun.openmpi (Debian: openmpi-bin) nor prterun is installed")
	return nil
}

// TestPMIxEnds: a rank may end in order in each way, and twice.
func TestPMIxEnds(t *testing.T) {
	for _, role := range []string{"leave", "twice"} {
		if out, err := mpirun(t, role, 2).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", role, err, out)
		}
	}
}

// TestPMIxMissing: a rank that does not come is noticed in time.
func TestPMIxMissing(t *testing.T) {
	cmd := mpirun(t, "miss", 2)
	cmd.Env = append(cmd.Env, "GOLCI_INIT_TIMEOUT=1s")
	start := time.Now()
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "error: golci: some ranks of 2 did not come: ") {
		t.Errorf("%v\n%s", err, out)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestPMIxAbort: an abort beside a fence ends that, and all ranks. The launcher may fail to end: on a loaded machine
// mpirun of Open MPI 4.1 hangs or crashes then. It crashes for a C program that calls PMIx_Abort as well.
func TestPMIxAbort(t *testing.T) {
	cmd, out, rank, _ := running(t, "abort")
	awaitEnd(t, rank)
	err := cmd.Wait()
	if err == nil || !strings.Contains(out.String(), "golci: rank 0 aborted the job with code 6: this was enough") {
		t.Errorf("%v\n%s", err, out)
	}
}

// awaitEnd waits for the end of a process, and kills it at the limit. A launcher that hangs leaves it a zombie.
func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(endLimit); ; time.Sleep(10 * time.Millisecond) {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if _, state, _ := strings.Cut(string(stat), ") "); state == "" || state[0] == 'Z' {
			return
		}
		if time.Now().After(end) {
			_ = unix.Kill(pid, unix.SIGKILL)
			t.Fatalf("process %d is still there", pid)
		}
	}
}

// running starts two ranks that wait, and returns the process of rank 1 and of the launcher.
func running(t *testing.T, role string) (cmd *exec.Cmd, out *strings.Builder, rank, launcher int) {
	t.Helper()
	cmd, out = mpirun(t, role, 2), &strings.Builder{}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd.Stdout, cmd.Stderr = w, out
	err = cmd.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var n, pid, parent int
		if _, err := fmt.Fscanf(r, "rank %d is %d, its launcher %d\n", &n, &pid, &parent); err != nil {
			_ = cmd.Process.Kill()
			t.Fatalf("%v\n%s", err, out)
		}
		if n == 1 {
			rank, launcher = pid, parent
		}
	}
	return cmd, out, rank, launcher
}

// endLimit is how long a job may take to end after the death of a rank or of its launcher.
const endLimit = 5 * time.Second

func TestPMIxKilledRank(t *testing.T) {
	cmd, out, rank, _ := running(t, "die")
	start := time.Now()
	if err := unix.Kill(rank, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	if took := time.Since(start); err == nil || took > endLimit {
		t.Errorf("%v after %v\n%s", err, took, out)
	}
}

// TestPMIxKilledLauncher: the ranks end soon after their server, which says nothing.
func TestPMIxKilledLauncher(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lost")
	t.Setenv(lostFile, file)
	cmd, out, rank, launcher := running(t, "wait")
	if err := unix.Kill(launcher, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	awaitEnd(t, rank)
	if _, err := os.Stat(file); err != nil {
		t.Errorf("rank 1 has ended without noticing the loss: %v\n%s", err, out)
	}
}

// lonely runs the test binary as a rank whose server is at an address.
func lonely(t *testing.T, address string, env ...string) (string, time.Duration) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), pmixRole+"=leave", "GOLCI_INIT_TIMEOUT=1s", "PMIX_NAMESPACE=x", "PMIX_RANK=0",
		"PMIX_SECURITY_MODE=native", "PMIX_BFROP_BUFFER_TYPE=PMIX_BFROP_BUFFER_NON_DESC", "PMIX_GDS_MODULE=hash",
		"PMIX_VERSION=4.2.2", "PMIX_HOSTNAME=h")
	for _, version := range []string{"2", "21", "3", "4", "41", "51", "61"} {
		cmd.Env = append(cmd.Env, "PMIX_SERVER_URI"+version+"=x.0;tcp4://"+address)
	}
	cmd.Env = append(cmd.Env, env...)
	cmd.WaitDelay = time.Second
	start := time.Now()
	out, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("%v\n%s", err, out)
	}
	return string(out), time.Since(start)
}

// TestPMIxNoServer: variables of a server that is not there, or says nothing, are an error in time.
func TestPMIxNoServer(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	silent := ln.Addr().String()
	out, took := lonely(t, silent)
	if !strings.Contains(out, "error: ") || took > endLimit {
		t.Errorf("a silent server, after %v:\n%s", took, out)
	}
	t.Logf("silent: %v\n%s", took, out)
	ln.Close()
	out, took = lonely(t, silent)
	if !strings.Contains(out, "error: golci: ") || took > endLimit {
		t.Errorf("no server, after %v:\n%s", took, out)
	}
	t.Logf("none: %v\n%s", took, out)
}
