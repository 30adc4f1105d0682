package core

import (
	"fmt"
	"hash/fnv"
	"os"

	"github.com/golci/golci/internal/platform/topology"
	"github.com/golci/golci/mpi/internal/hardware"
)

// HardwareKinds are the kinds of hardware and of process sets by which SplitHardware splits.
var HardwareKinds = hardware.NewKinds(topology.Resources, []string{WorldSet, SelfSet})

// SplitHardware is Split with a color for each instance of a kind of hardware, or of process sets (7.4.2,
// MPI_Comm_split_type). For hardware.Any it chooses the kind, and returns it. A rank gets nil if its threads are not
// within one instance, if ranks want different kinds, or if it wants hardware.None.
func (c *Comm) SplitHardware(what string, want hardware.Kind, key int) (*Comm, hardware.Kind, error) {
	if err := c.checkUsable(what); err != nil {
		return nil, hardware.None, err
	}
	all, err := c.meeting(what).gather(HardwareKinds.Words(want, c.proc.machineName(), c.proc.instances())...)
	if err != nil {
		return nil, hardware.None, c.dressed(what, err)
	}
	color, kind := HardwareKinds.Split(all, c.rank)
	d, err := c.split(what, color, key)
	return d, kind, err
}

// instances are those of the parts of the machine, and of the process sets.
func (p *Proc) instances() []int {
	return append(topology.Instances(p.rank.CPUs()), p.rank.Job().First, p.rank.Rank())
}

// Hardware tells for each kind of hardware whether all threads of the rank are within one instance (9.1.2,
// MPI_Get_hw_resource_info).
func (p *Proc) Hardware() map[string]bool {
	names, within := HardwareKinds.Parts(), map[string]bool{hardware.SharedMemory: true}
	for i, n := range topology.Instances(p.rank.CPUs()) {
		within[names[1+i]] = n >= 0
	}
	return within
}

// machineName is a hash of what tells this machine from others.
func (p *Proc) machineName() uint64 {
	if p.colls.Machine != 0 {
		return p.colls.Machine
	}
	h := fnv.New64a()
	name, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	_, _ = fmt.Fprintf(h, "%s %s", name, boot)
	return h.Sum64()
}
