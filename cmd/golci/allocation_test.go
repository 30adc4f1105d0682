//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// given makes the command golci with args in an environment that a scheduler has made.
func given(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := golciHere(t, args...)
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

// joinArgs are the arguments for a job whose ranks join.
func joinArgs(more ...string) []string {
	return append(append([]string{"run", "-env", roleVar + "=join"}, more...), os.Args[0])
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// fakeShells is a PATH in which the remote shells of schedulers run the command here. Each notes how it was called.
func fakeShells(t *testing.T) (path, notes string) {
	t.Helper()
	dir := t.TempDir()
	notes = filepath.Join(dir, "notes")
	for _, name := range []string{"srun", "ssh", "blaunch", "qrsh"} {
		text := "#!/bin/sh\necho \"" + name + " $*\" >>" + notes + "\nexec sh\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir + ":" + os.Getenv("PATH"), notes
}

// TestAllocation: without -n and -hosts the job has a rank on each slot of what a scheduler has given.
func TestAllocation(t *testing.T) {
	for name, c := range map[string]struct {
		env    []string
		local  string // ranks beside rank 0 on its machine, itself included
		shells []string
	}{
		"slurm": {
			[]string{"SLURM_JOB_NODELIST=n[1-2]", "SLURM_TASKS_PER_NODE=2,1"},
			"2",
			[]string{"--nodelist=n1", "--nodelist=n2"},
		},
		"PBS": {[]string{"PBS_NODEFILE=" + writeFile(t, "p1\np1\np2\n")}, "2", []string{"ssh -a -x", "p2 sh"}},
		"LSF": {[]string{"LSB_MCPU_HOSTS=h1 2 h2 1"}, "2", []string{"blaunch h1 sh", "blaunch h2 sh"}},
		"SGE": {
			[]string{"PE_HOSTFILE=" + writeFile(t, "s1 2 q@s1 X\ns2 1 q@s2 X\n"), "SGE_ROOT=", "ARC="},
			"2",
			[]string{"qrsh -inherit -V s1 sh", "s2 sh"},
		},
		"MPI operator": {
			[]string{
				"OMPI_MCA_orte_default_hostfile=" + writeFile(t, "w0.job slots=2\nw1.job slots=1\n"),
				"OMPI_MCA_plm_rsh_args=-o ConnectionAttempts=10",
			},
			"2",
			[]string{"-o ConnectionAttempts=10 w0.job sh", "w1.job sh"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			path, notes := fakeShells(t)
			r := run(t, given(t, append(c.env, "PATH="+path), joinArgs("-prefix")...))
			r.want(t, 0, "")
			want := []string{
				"[0] rank 0 of 3 local " + c.local + " launcher golci", "[1] rank 1 of 3 local 2 launcher golci",
				"[2] rank 2 of 3 local 1 launcher golci",
			}
			if got := sorted(r.out); !slices.Equal(got, want) || r.err != "" {
				t.Errorf("got %q\n%s", got, r.err)
			}
			called, _ := os.ReadFile(notes)
			for _, text := range c.shells {
				if !strings.Contains(string(called), text) {
					t.Errorf("no %q in\n%s", text, called)
				}
			}
		})
	}
}

// TestAllocationHere: an allocation of this machine alone needs no remote shell, and any -n is taken.
func TestAllocationHere(t *testing.T) {
	env := []string{"SLURM_JOB_NODELIST=n5", "SLURM_TASKS_PER_NODE=2", "SLURMD_NODENAME=n5", "PATH=/nowhere"}
	for want, more := range map[string][]string{
		"rank 0 of 2 local 2 launcher golci": nil,
		"rank 0 of 3 local 3 launcher golci": {"-n", "3"},
	} {
		r := run(t, given(t, env, joinArgs(more...)...))
		r.want(t, 0, "")
		if got := sorted(r.out); got[0] != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestAllocationMixed: of several machines this one needs no remote shell, and is called as the scheduler calls it.
func TestAllocationMixed(t *testing.T) {
	path, notes := fakeShells(t)
	env := []string{
		"SLURM_JOB_NODELIST=n[5-6]", "SLURM_TASKS_PER_NODE=1(x2)", "SLURMD_NODENAME=n5", "PATH=" + path, "GOLCI_SECRET=hush",
	}
	r := run(t, given(t, env, "run", "-env", roleVar+"=die", os.Args[0]))
	r.want(t, 137, "rank 1 on n6 was killed by signal 9")
	called, _ := os.ReadFile(notes)
	if text := string(called); strings.Contains(text, "n5") || !strings.Contains(text, "--nodelist=n6") {
		t.Errorf("called\n%s", text)
	}
	r = run(t, given(t, append(env, "GOLCI_TEST=0"), "run", "-v", "-env", roleVar+"=join", os.Args[0]))
	r.want(t, 0, "allocation: Slurm (SLURM_JOB_NODELIST): n5:1 (this machine), n6:1")
	if called, _ = os.ReadFile(notes); strings.Contains(r.out+r.err+string(called), "hush") {
		t.Errorf("the secret is shown:\n%s%s%s", r.out, r.err, called)
	}
}

// TestSecretStays: variables of the user's that give ranks their place reach neither ranks nor remote shells of golci
// run.
func TestSecretStays(t *testing.T) {
	env := []string{"GOLCI_RANK=0", "GOLCI_SIZE=1", "GOLCI_ROOT=a:1", "GOLCI_SECRET=hush", "GOLCI_SPIN=7us"}
	shell := writeFile(t, "#!/bin/sh\nenv >&2\nshift\nexec \"$@\"\n")
	r := run(t, given(t, env, "run", "-v", "-hosts", "localhost:1,b:1", "-rsh", shell, "env"))
	r.want(t, 0, "")
	if strings.Count(r.out, "GOLCI_SPIN=7us") != 2 || !strings.Contains(r.err, "GOLCI_SPIN=7us") {
		t.Errorf("the environment is not shown:\n%s%s", r.out, r.err)
	}
	for _, text := range []string{"hush", "GOLCI_RANK", "GOLCI_SIZE", "GOLCI_ROOT"} {
		if strings.Contains(r.out+r.err, text) {
			t.Errorf("%q in\n%s%s", text, r.out, r.err)
		}
	}
	r = run(t, given(t, env, "info", "-all"))
	r.want(t, 0, "")
	if strings.Contains(r.out, "hush") || strings.Contains(r.out, "GOLCI_RANK is set") {
		t.Errorf("info:\n%s", r.out)
	}
}

// TestAllocationNumber: -n fills the machines in their order, and cannot be more than the scheduler has given.
func TestAllocationNumber(t *testing.T) {
	path, _ := fakeShells(t)
	env := []string{"LSB_MCPU_HOSTS=h1 1 h2 2", "PATH=" + path}
	r := run(t, given(t, env, joinArgs("-n", "2", "-prefix")...))
	r.want(t, 0, "")
	if got := sorted(r.out); len(got) != 2 || got[1] != "[1] rank 1 of 2 local 1 launcher golci" {
		t.Errorf("got %q", got)
	}
	r = run(t, given(t, env, joinArgs("-n", "4")...))
	r.want(t, 2, "-n 4: LSF has given 3 slot(s) on 2 machine(s) (LSB_MCPU_HOSTS)")
}

// TestAllocationOff: what the user says counts more than what the scheduler has given.
func TestAllocationOff(t *testing.T) {
	env := []string{"SLURM_JOB_NODELIST=n[1-2]", "PATH=/nowhere"}
	for name, args := range map[string][]string{
		"hosts": joinArgs("-hosts", "localhost:1"),
		"flag":  joinArgs("-allocation", "none"),
	} {
		r := run(t, given(t, env, args...))
		r.want(t, 0, "")
		if r.out != "rank 0 of 1 local 1 launcher golci\n" {
			t.Errorf("%s: %q", name, r.out)
		}
	}
	r := run(t, given(t, append(env, "GOLCI_ALLOCATION=none"), joinArgs("-hosts", "localhost:1")...))
	r.want(t, 0, "GOLCI_ALLOCATION is set, but no setting is called so any more; use golci run -allocation\n")
	run(t, given(t, env, joinArgs("-allocation", "some")...)).want(t, 1, "-allocation must be auto or none")
}

// TestAllocationWrong: a variable that cannot be read is an error that names it, and no job of one rank.
func TestAllocationWrong(t *testing.T) {
	r := run(t, given(t, []string{"SLURM_JOB_NODELIST=n[1-"}, joinArgs()...))
	r.want(t, 1, `SLURM_JOB_NODELIST="n[1-"`)
	if r.out != "" {
		t.Errorf("ranks ran: %s", r.out)
	}
}

// TestOnlyOne: one of several processes of another launcher does not start a job of its own.
func TestOnlyOne(t *testing.T) {
	step := []string{"SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=4", "SLURM_JOB_ID=1", "SLURM_STEP_ID=0"}
	for name, c := range map[string]struct {
		env  []string
		want string
	}{
		"srun": {step, "rank 0 of 4 that srun has started"},
		"golci run": {
			[]string{"PMI_FD=3", "PMI_RANK=0", "PMI_SIZE=2", "GOLCI_JOB=x"},
			"rank 0 of 2 that golci run has started",
		},
		"mpirun": {
			[]string{"OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_LOCAL_SIZE=2"},
			"rank 0 of 2 that mpirun has started",
		},
		"prun": {[]string{"PMIX_RANK=0", "PMIX_NAMESPACE=x"}, `PMIX_RANK="0" says that this is one rank`},
		"two nodes": {
			append(step, "SLURM_STEP_NUM_NODES=2", "SLURM_STEP_NODELIST=n[1-2]"),
			"rank 0 of 4 that srun has started",
		},
		"by hand": {[]string{"GOLCI_RANK=0", "GOLCI_SIZE=2"}, "rank 0 of 2 that whoever has set GOLCI_SIZE has started"},
	} {
		for _, more := range [][]string{nil, {"-n", "2"}} {
			r := run(t, given(t, c.env, joinArgs(more...)...))
			r.want(t, 1, c.want)
			if r.out != "" {
				t.Errorf("%s: ranks ran: %s", name, r.out)
			}
		}
		run(t, given(t, c.env, joinArgs("-allocation", "none")...)).want(t, 0, "")
	}
	for _, more := range [][]string{nil, {"SLURM_STEP_NUM_NODES=2"}} {
		r := run(t, given(t, append(append(step, "SLURM_PROCID=1"), more...), joinArgs()...))
		if r.code == 0 || r.out+r.err != "" {
			t.Errorf("rank 1 says the same as rank 0: code %d, %s%s", r.code, r.out, r.err)
		}
	}
}

// lateShell is a remote shell that cannot reach its machine for the first calls.
func lateShell(t *testing.T, calls int, says string) string {
	t.Helper()
	count := filepath.Join(t.TempDir(), "calls")
	return writeFile(t, "#!/bin/sh\necho x >>"+count+"\nif test $(wc -l <"+count+") -le "+
		strings.Repeat("1", calls)+"; then echo '"+says+"' >&2; exit 255; fi\nshift\nexec \"$@\"\n")
}

// TestConnect: a machine whose name is not known yet, or that refuses calls, is called again.
func TestConnect(t *testing.T) {
	for name, says := range map[string]string{
		"name":    "ssh: Could not resolve hostname a: Name or service not known",
		"refused": "ssh: connect to host a port 22: Connection refused",
	} {
		r := run(t, golci(t, onHosts("a:1", "join", "-rsh", lateShell(t, 1, says))...))
		r.want(t, 0, "")
		if r.out != "rank 0 of 1 local 1 launcher golci\n" || r.err != "" {
			t.Errorf("%s: %q\n%s", name, r.out, r.err)
		}
	}
	const refused = "ssh: connect to host a port 22: Connection refused"
	r := run(t, golci(t, onHosts("a:1", "join", "-connect", "300ms", "-rsh", lateShell(t, 3, refused))...))
	r.want(t, 126, "host a: the machine cannot be reached: "+refused+"; its remote shell has ended: exit status 255")
	r = run(t, golci(t, onHosts("a:1", "join", "-rsh", lateShell(t, 3, "Permission denied"))...))
	r.want(t, 126, "host a: its remote shell has ended: exit status 255")
}

// TestInfoAllocation: golci info tells what golci run would use.
func TestInfoAllocation(t *testing.T) {
	path, _ := fakeShells(t)
	env := []string{"LSB_MCPU_HOSTS=h1 4 h2 2", "PATH=" + path}
	r := run(t, given(t, env, "info"))
	r.want(t, 0, "")
	for _, text := range []string{"LSF (LSB_MCPU_HOSTS): h1:4, h2:2\n", "blaunch {}\n"} {
		if !strings.Contains(r.out, text) {
			t.Errorf("no %q in\n%s", text, r.out)
		}
	}
	r = run(t, given(t, append(env, "PATH=/nowhere"), "info"))
	if !strings.Contains(r.out, "blaunch {} (cannot be started: ") {
		t.Errorf("the remote shell is there in\n%s", r.out)
	}
	r = run(t, given(t, env, "info", "-json"))
	var report machineReport
	if err := json.Unmarshal([]byte(r.out), &report); err != nil || report.Given == nil ||
		len(report.Given.Machines) != 2 {
		t.Errorf("%+v, %v", report.Given, err)
	}
	r = run(t, given(t, []string{"SLURM_JOB_NODELIST=]"}, "info"))
	r.want(t, 0, "")
	if !strings.Contains(r.out, `SLURM_JOB_NODELIST="]"`) {
		t.Errorf("no error in\n%s", r.out)
	}
}
