package mpi

import (
	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/hardware"
)

// SharedMemory is the kind of hardware that ranks of one machine share, which may use the same memory.
const SharedMemory = hardware.SharedMemory

// SplitHardware makes a communicator for each piece of hardware of a kind, of the ranks of c whose threads are all on
// it (7.4.2, MPI_Comm_split_type with MPI_COMM_TYPE_HW_GUIDED). They are ordered by key and then by rank in c. The
// kinds are those of Proc.Hardware. A rank gets nil that no single piece holds, or if ranks want different kinds, or a
// kind that is not known. Collective over c; it waits. Errors as for Split.
func (c *Comm) SplitHardware(kind string, key int) (*Comm, error) {
	return c.splitHardware("SplitHardware", kind, key)
}

func (c *Comm) splitHardware(what, kind string, key int) (*Comm, error) {
	d, _, err := c.core().SplitHardware(what, core.HardwareKinds.Part(kind), key)
	return (*Comm)(d), err
}

// SplitLevel is SplitHardware by the largest kind of hardware that parts the ranks of c, so that every new communicator
// has fewer ranks than c (7.4.2, MPI_COMM_TYPE_HW_UNGUIDED). It tells the kind. Repeated, it goes down from machines to
// processors. Where nothing parts the ranks all get nil, and the kind is empty.
func (c *Comm) SplitLevel(key int) (d *Comm, kind string, err error) {
	e, got, err := c.core().SplitHardware("SplitLevel", hardware.Any, key)
	return (*Comm)(e), core.HardwareKinds.Name(got), err
}

// Hardware tells for each kind of hardware whether all threads of the rank are within one piece of it (9.1.2,
// MPI_Get_hw_resource_info). The kinds are SharedMemory and, with names of hwloc, hwloc://Package, hwloc://NUMANode,
// hwloc://L3Cache, hwloc://L2Cache, hwloc://L1Cache, hwloc://Core and hwloc://PU. What the system does not tell is
// false.
func (p *Proc) Hardware() map[string]bool { return p.core().Hardware() }
