package alloc

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/golci/golci/cmd/golci/internal/launch/far"
)

// family is a kind of launcher whose variables name a file of machines, and how they are reached. Operators of
// Kubernetes set them for the launcher's pod.
type family struct{ file, agent, args, slots string }

var families = []family{
	{
		"OMPI_MCA_orte_default_hostfile", "OMPI_MCA_plm_rsh_agent", "OMPI_MCA_plm_rsh_args",
		"OMPI_MCA_orte_set_default_slots",
	},
	{
		"PRTE_MCA_prte_default_hostfile", "PRTE_MCA_plm_ssh_agent", "PRTE_MCA_plm_ssh_args",
		"PRTE_MCA_prte_set_default_slots",
	},
	{"I_MPI_HYDRA_HOST_FILE", "I_MPI_HYDRA_BOOTSTRAP_EXEC", "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", "I_MPI_PERHOST"},
	{"HYDRA_HOST_FILE", "HYDRA_LAUNCHER_EXEC", "HYDRA_LAUNCH_EXTRA_ARGS", ""},
}

// hostFile reads the file that one of the families' variables names.
func hostFile(v *view) (*Allocation, error) {
	for _, f := range families {
		if v.str(f.file) == "" {
			continue
		}
		text, err := v.readFileOf(f.file)
		if err != nil {
			return nil, err
		}
		a := &Allocation{Scheduler: "a host file", From: f.file}
		if a.Hosts, err = far.ReadHosts(bytes.NewReader(text)); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", f.file, v.str(f.file), err)
		}
		if err = v.defaultSlots(f.slots, a.Hosts); err == nil {
			a.Shell, err = v.remoteShell(f)
		}
		if err != nil {
			return nil, err
		}
		for i := range a.Hosts {
			a.Hosts[i].Here = isHere(a.Hosts[i].Name, v.Host)
		}
		return a, nil
	}
	return nil, nil
}

// defaultSlots gives machines without a number of slots the number in the variable name. Other values of it, such as
// "cores", mean what no number means here.
func (v *view) defaultSlots(name string, hosts []far.Host) error {
	if name == "" {
		return nil
	}
	n, err := strconv.Atoi(v.str(name))
	if err != nil {
		return nil
	}
	if n < 1 {
		return wrongValue(name, v.str(name), "a number of slots")
	}
	for i := range hosts {
		if hosts[i].Slots == 0 {
			hosts[i].Slots = n
		}
	}
	return nil
}

// remoteShell is the remote shell of a family: its own or ssh, with its arguments.
func (v *view) remoteShell(f family) ([]string, error) {
	shell := slices.Clone(far.SSH)
	for i, name := range []string{f.agent, f.args} {
		words, err := far.Words(v.str(name))
		if err != nil {
			return nil, wrongValue(name, v.str(name), "words as a shell reads them: "+err.Error())
		}
		if i == 0 && len(words) > 0 {
			shell = nil
		}
		shell = append(shell, words...)
	}
	return withPlace(shell), nil
}
