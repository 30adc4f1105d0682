package alloc

import (
	"bytes"
	"path"
	"strconv"
	"strings"

	"github.com/golci/golci/cmd/golci/internal/launch/far"
)

// ssh is the remote shell where the scheduler has none that passes standard input and output.
var ssh = withPlace(far.SSH)

func withPlace(words []string) []string { return append(append([]string{}, words...), Place) }

// pbs reads PBS_NODEFILE, of PBS and Torque: one line for each slot. pbs_tmrsh is not used: it is not known to pass
// standard input.
func pbs(v *view) (*Allocation, error) {
	if v.str("PBS_NODEFILE") == "" {
		return nil, nil
	}
	text, err := v.readFileOf("PBS_NODEFILE")
	if err != nil {
		return nil, err
	}
	return &Allocation{Scheduler: "PBS", From: "PBS_NODEFILE", Hosts: v.oneEach(text), Shell: ssh}, nil
}

// lsf reads LSB_MCPU_HOSTS, names and numbers of slots in turn, or the file LSB_DJOB_HOSTFILE, one line for each slot.
func lsf(v *view) (*Allocation, error) {
	a := &Allocation{Scheduler: "LSF", Shell: []string{"blaunch", Place}}
	name, value := v.firstSet("LSB_MCPU_HOSTS", "LSB_DJOB_HOSTFILE")
	switch a.From = name; name {
	case "":
		return nil, nil
	case "LSB_DJOB_HOSTFILE":
		text, err := v.readFileOf(name)
		if err != nil {
			return nil, err
		}
		a.Hosts = v.oneEach(text)
		return a, nil
	}
	words := strings.Fields(value)
	if len(words)%2 != 0 {
		return nil, wrongValue(name, value, "names and numbers of slots in turn")
	}
	for i := 0; i < len(words); i += 2 {
		n, err := strconv.Atoi(words[i+1])
		if err != nil || n < 1 {
			return nil, wrongValue(name, value, "names and numbers of slots in turn")
		}
		a.Hosts = append(a.Hosts, v.machineOf(words[i], n))
	}
	return a, nil
}

// sge reads PE_HOSTFILE, of Grid Engine and its like: lines of name, slots, queue and processors.
func sge(v *view) (*Allocation, error) {
	const from = "PE_HOSTFILE"
	if v.str(from) == "" {
		return nil, nil
	}
	text, err := v.readFileOf(from)
	if err != nil {
		return nil, err
	}
	a := &Allocation{Scheduler: "SGE", From: from, Shell: []string{v.qrsh(), "-inherit", "-V", Place}}
	for line := range bytes.Lines(text) {
		words := strings.Fields(string(line))
		if len(words) == 0 {
			continue
		}
		n := 0
		if len(words) > 1 {
			n, _ = strconv.Atoi(words[1])
		}
		if n < 1 {
			return nil, wrongValue(from, strings.TrimSpace(string(line)), "lines of a machine and a number of slots")
		}
		a.Hosts = append(a.Hosts, v.machineOf(words[0], n))
	}
	return a, nil
}

// qrsh is that of the running Grid Engine, if it says where it lies.
func (v *view) qrsh() string {
	root, arc := v.str("SGE_ROOT"), v.str("ARC")
	if root == "" || arc == "" {
		return "qrsh"
	}
	return path.Join(root, "bin", arc, "qrsh")
}

// oneEach reads a file that has a machine's name on a line for each of its slots.
func (v *view) oneEach(text []byte) (hosts []far.Host) {
	for line := range bytes.Lines(text) {
		if name := strings.TrimSpace(string(line)); name != "" {
			hosts = append(hosts, v.machineOf(name, 1))
		}
	}
	return hosts
}

func (v *view) machineOf(name string, slots int) far.Host {
	return far.Host{Name: name, Slots: slots, Here: isHere(name, v.Host)}
}
