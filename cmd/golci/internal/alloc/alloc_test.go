package alloc

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scene is what a process sees: variables, files, and the name of its machine.
type scene struct {
	host  string
	env   map[string]string
	files map[string]string
}

func (s scene) view() View {
	return View{
		Host: s.host,
		Env:  func(name string) (string, bool) { v, ok := s.env[name]; return v, ok },
		Read: func(path string) ([]byte, error) {
			text, ok := s.files[path]
			if !ok {
				return nil, fs.ErrNotExist
			}
			return []byte(text), nil
		},
	}
}

// text is an allocation in one line: hosts as name:slots, with a * for this machine, and the remote shell.
func text(a *Allocation) string {
	if a == nil {
		return "none"
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s", a.Scheduler, a.From)
	for _, h := range a.Hosts {
		fmt.Fprintf(&out, " %s:%d", h.Name, h.Slots)
		if h.Here {
			out.WriteString("*")
		}
	}
	return out.String() + " | " + strings.Join(a.Shell, " ")
}

const (
	srunText = "srun --overlap --nodes=1 --ntasks=1 --nodelist={} --mpi=none --cpu-bind=none --input=0 --quiet"
	sshText  = "ssh -a -x -o BatchMode=yes -o ClearAllForwardings=yes"
)

// TestFind has environments as schedulers make them. Those of Slurm were recorded under 22.05. The others are as the
// sources of Hydra and the MPI operator of Kubernetes read or write them.
func TestFind(t *testing.T) {
	for name, c := range map[string]struct {
		scene
		want string
	}{
		"nothing": {scene{}, "none"},
		"salloc -N2 -n4, on a login node": {
			scene{host: "login", env: map[string]string{
				"SLURM_JOB_CPUS_PER_NODE": "3,1", "SLURM_JOB_NODELIST": "n[1-2]", "SLURM_NNODES": "2",
				"SLURM_NODELIST": "n[1-2]", "SLURM_NPROCS": "4", "SLURM_NTASKS": "4", "SLURM_TASKS_PER_NODE": "3,1",
			}},
			"Slurm SLURM_JOB_NODELIST n1:3 n2:1 | " + srunText,
		},
		"sbatch -N2 -n3": {
			scene{host: "vm", env: map[string]string{
				"SLURMD_NODENAME": "n1", "SLURM_CPUS_ON_NODE": "2", "SLURM_JOB_CPUS_PER_NODE": "2,1",
				"SLURM_JOB_NODELIST": "n[1-2]", "SLURM_NNODES": "2", "SLURM_NODELIST": "n[1-2]", "SLURM_NPROCS": "3",
				"SLURM_NTASKS": "3", "SLURM_PROCID": "0", "SLURM_TASKS_PER_NODE": "2,1",
			}},
			"Slurm SLURM_JOB_NODELIST n1:2* n2:1 | " + srunText,
		},
		"srun -N1 -n1 in salloc -N2 -n4": {
			scene{host: "vm", env: map[string]string{
				"SLURMD_NODENAME": "n1", "SLURM_JOB_CPUS_PER_NODE": "3,1", "SLURM_JOB_NODELIST": "n[1-2]", "SLURM_NTASKS": "1",
				"SLURM_PROCID": "0", "SLURM_STEP_ID": "0", "SLURM_STEP_NODELIST": "n1", "SLURM_STEP_NUM_NODES": "1",
				"SLURM_STEP_NUM_TASKS": "1", "SLURM_STEP_TASKS_PER_NODE": "1", "SLURM_TASKS_PER_NODE": "1",
			}},
			"Slurm SLURM_STEP_NODELIST n1:1* | " + srunText,
		},
		"interactive shell of salloc": {
			scene{host: "n1", env: map[string]string{
				"SLURMD_NODENAME": "n1", "SLURM_JOB_NODELIST": "n[1-2]", "SLURM_TASKS_PER_NODE": "2(x2)",
				"SLURM_STEP_ID": "4294967290", "SLURM_STEP_NODELIST": "n1", "SLURM_STEP_TASKS_PER_NODE": "1",
			}},
			"Slurm SLURM_JOB_NODELIST n1:2* n2:2 | " + srunText,
		},
		"Slurm, CPUs alone": {
			scene{host: "gpu01.example.org", env: map[string]string{
				"SLURM_NODELIST": "n[1-2,7],gpu[01-03]", "SLURM_JOB_CPUS_PER_NODE": "4(x3),8(x3)",
			}},
			"Slurm SLURM_NODELIST n1:4 n2:4 n7:4 gpu01:8* gpu02:8 gpu03:8 | " + srunText,
		},
		"Slurm, no numbers": {
			scene{env: map[string]string{"SLURM_JOB_NODELIST": "a"}},
			"Slurm SLURM_JOB_NODELIST a:0 | " + srunText,
		},
		"PBS": {
			scene{"c2", map[string]string{"PBS_NODEFILE": "/n"}, map[string]string{"/n": "c1.x\nc1.x\nc2.x\nc1.x\n"}},
			"PBS PBS_NODEFILE c1.x:3 c2.x:1* | " + sshText + " {}",
		},
		"LSF": {
			scene{"h9", map[string]string{"LSB_MCPU_HOSTS": "h1 4 h2 2", "LSB_DJOB_HOSTFILE": "/none"}, nil},
			"LSF LSB_MCPU_HOSTS h1:4 h2:2 | blaunch {}",
		},
		"LSF, file": {
			scene{"h1", map[string]string{"LSB_DJOB_HOSTFILE": "/f"}, map[string]string{"/f": "h1\nh1\nh2"}},
			"LSF LSB_DJOB_HOSTFILE h1:2* h2:1 | blaunch {}",
		},
		"SGE": {
			scene{
				"s1.lan",
				map[string]string{"PE_HOSTFILE": "/pe", "SGE_ROOT": "/opt/sge", "ARC": "lx-amd64"},
				map[string]string{"/pe": "s1.lan 4 all.q@s1.lan UNDEFINED\ns2.lan 2 all.q@s2.lan UNDEFINED\n"},
			},
			"SGE PE_HOSTFILE s1.lan:4* s2.lan:2 | /opt/sge/bin/lx-amd64/qrsh -inherit -V {}",
		},
		"SGE, from PATH": {
			scene{"", map[string]string{"PE_HOSTFILE": "/pe"}, map[string]string{"/pe": "s1 4\n"}},
			"SGE PE_HOSTFILE s1:4 | qrsh -inherit -V {}",
		},
		"MPI operator, Open MPI": {
			scene{
				"pi-launcher",
				map[string]string{
					"K_MPI_JOB_ROLE": "launcher", "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile",
					"OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10", "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
					"OMPI_MCA_orte_set_default_slots": "2",
				},
				map[string]string{"/etc/mpi/hostfile": "pi-worker-0.pi.default.svc slots=2\npi-worker-1.pi.default.svc\n"},
			},
			"a host file OMPI_MCA_orte_default_hostfile pi-worker-0.pi.default.svc:2 pi-worker-1.pi.default.svc:2 | " +
				sshText + " -o ConnectionAttempts=10 {}",
		},
		"MPI operator, launcher as worker": {
			scene{
				"pi-launcher",
				map[string]string{
					"I_MPI_HYDRA_HOST_FILE": "/etc/mpi/hostfile", "I_MPI_PERHOST": "1",
					"I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS": "-o ConnectionAttempts=10",
				},
				map[string]string{"/etc/mpi/hostfile": "pi-launcher.pi.default.svc:1\npi-worker-0.pi.default.svc:1\n"},
			},
			"a host file I_MPI_HYDRA_HOST_FILE pi-launcher.pi.default.svc:1* pi-worker-0.pi.default.svc:1 | " +
				sshText + " -o ConnectionAttempts=10 {}",
		},
		"PRRTE": {
			scene{
				"w1",
				map[string]string{
					"PRTE_MCA_prte_default_hostfile": "/h", "PRTE_MCA_plm_ssh_args": "-p 2222",
					"PRTE_MCA_prte_set_default_slots": "3",
				},
				map[string]string{"/h": "w1\nw2 slots=1\n"},
			},
			"a host file PRTE_MCA_prte_default_hostfile w1:3* w2:1 | " + sshText + " -p 2222 {}",
		},
		"MPI operator, MPICH": {
			scene{
				"",
				map[string]string{
					"HYDRA_HOST_FILE": "/h", "HYDRA_LAUNCH_EXTRA_ARGS": "-p 2222", "HYDRA_LAUNCHER_EXEC": "/usr/bin/rsh -n",
				},
				map[string]string{"/h": "a:3\nb\n"},
			},
			"a host file HYDRA_HOST_FILE a:3 b:0 | /usr/bin/rsh -n -p 2222 {}",
		},
		"a scheduler before a host file": {
			scene{"", map[string]string{"HYDRA_HOST_FILE": "/h", "LSB_MCPU_HOSTS": "x 1"}, map[string]string{"/h": "a"}},
			"LSF LSB_MCPU_HOSTS x:1 | blaunch {}",
		},
	} {
		a, err := Find(c.view())
		if err != nil || text(a) != c.want {
			t.Errorf("%s:\n got %s, %v\nwant %s", name, text(a), err, c.want)
		}
	}
}

// TestFindErrors: what cannot be read is an error that names the variable, never a job of one rank.
func TestFindErrors(t *testing.T) {
	file := func(text string) map[string]string { return map[string]string{"/f": text} }
	for name, c := range map[string]struct {
		scene
		want string
	}{
		"node list":  {scene{env: map[string]string{"SLURM_JOB_NODELIST": "n[1-"}}, `SLURM_JOB_NODELIST="n[1-"`},
		"empty name": {scene{env: map[string]string{"SLURM_JOB_NODELIST": "a,,b"}}, "SLURM_JOB_NODELIST"},
		"too many":   {scene{env: map[string]string{"SLURM_JOB_NODELIST": "n[1-999999999]"}}, "more than 1024 nodes"},
		"an option":  {scene{env: map[string]string{"SLURM_JOB_NODELIST": "-w"}}, "no name of a machine"},
		"a command":  {scene{env: map[string]string{"LSB_MCPU_HOSTS": "a;b 2"}}, "no name of a machine"},
		"fewer counts": {
			scene{env: map[string]string{"SLURM_JOB_NODELIST": "n[1-3]", "SLURM_TASKS_PER_NODE": "2(x2)"}},
			"SLURM_TASKS_PER_NODE",
		},
		"no count": {
			scene{env: map[string]string{"SLURM_JOB_NODELIST": "n", "SLURM_JOB_CPUS_PER_NODE": "x"}},
			"SLURM_JOB_CPUS_PER_NODE",
		},
		"huge count": {
			scene{env: map[string]string{"SLURM_JOB_NODELIST": "n", "SLURM_TASKS_PER_NODE": "1(x999999999)"}},
			"SLURM_TASKS_PER_NODE",
		},
		"odd words":    {scene{env: map[string]string{"LSB_MCPU_HOSTS": "h1 4 h2"}}, "LSB_MCPU_HOSTS"},
		"no number":    {scene{env: map[string]string{"LSB_MCPU_HOSTS": "h1 x"}}, "LSB_MCPU_HOSTS"},
		"no file":      {scene{env: map[string]string{"PBS_NODEFILE": "/gone"}}, "PBS_NODEFILE"},
		"no LSF file":  {scene{env: map[string]string{"LSB_DJOB_HOSTFILE": "/gone"}}, "LSB_DJOB_HOSTFILE"},
		"no SGE file":  {scene{env: map[string]string{"PE_HOSTFILE": "/gone"}}, "PE_HOSTFILE"},
		"empty file":   {scene{"", map[string]string{"PBS_NODEFILE": "/f"}, file("\n")}, "PBS_NODEFILE"},
		"SGE slots":    {scene{"", map[string]string{"PE_HOSTFILE": "/f"}, file("s1\n")}, "PE_HOSTFILE"},
		"hosts":        {scene{"", map[string]string{"HYDRA_HOST_FILE": "/f"}, file("a:b\n")}, "HYDRA_HOST_FILE"},
		"no host file": {scene{env: map[string]string{"I_MPI_HYDRA_HOST_FILE": "/gone"}}, "I_MPI_HYDRA_HOST_FILE"},
		"no quote": {
			scene{"", map[string]string{"HYDRA_HOST_FILE": "/f", "HYDRA_LAUNCH_EXTRA_ARGS": "-o 'x"}, file("a\n")},
			"HYDRA_LAUNCH_EXTRA_ARGS",
		},
		"default slots": {
			scene{"", map[string]string{"I_MPI_HYDRA_HOST_FILE": "/f", "I_MPI_PERHOST": "0"}, file("a\n")},
			"I_MPI_PERHOST",
		},
	} {
		a, err := Find(c.view())
		if !errors.Is(err, errAllocation) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %s, %v", name, text(a), err)
		}
	}
}

func TestAlone(t *testing.T) {
	for hosts, want := range map[string]bool{"n1 2": true, "n2 2": false, "n1 2 n2 1": false} {
		a, err := Find(scene{host: "n1", env: map[string]string{"LSB_MCPU_HOSTS": hosts}}.view())
		if err != nil || a.Alone() != want {
			t.Errorf("%s: alone %v, %v", hosts, !want, err)
		}
	}
}

func TestSlots(t *testing.T) {
	for list, want := range map[string]int{"a:3\nb:1": 4, "a:3\nb": 0} {
		a, err := Find(scene{"", map[string]string{"HYDRA_HOST_FILE": "/f"}, map[string]string{"/f": list}}.view())
		if err != nil || a.Slots() != want {
			t.Errorf("%q: %d slots, %v", list, a.Slots(), err)
		}
	}
}

func TestIsHere(t *testing.T) {
	for _, c := range []struct {
		name, host string
		want       bool
	}{
		{"n1", "n1", true},
		{"N1", "n1.lan", true},
		{"n1.lan", "n1", true},
		{"n1.lan", "n1.LAN", true},
		{"n1.lan", "n1.wan", false},
		{"n1", "n2", false},
		{"", "", false},
		{"10.0.0.1", "10.0.0.2", false},
	} {
		if got := isHere(c.name, c.host); got != c.want {
			t.Errorf("%q on %q: %v", c.name, c.host, got)
		}
	}
}
