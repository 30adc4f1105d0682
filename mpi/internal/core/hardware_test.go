package core

import (
	"fmt"
	"testing"

	"github.com/golci/golci/mpi/internal/hardware"
)

// TestSplitHardware (7.4.2): the largest kind of hardware that parts ranks of two machines is the machine. The ranks of
// a process have the same processors, so that nothing parts them further.
func TestSplitHardware(t *testing.T) {
	run(t, 4, func(c *Comm) error {
		c.proc.colls.Machine = uint64(1 + c.rank%2)
		d, kind, err := c.SplitHardware("test", hardware.Any, -c.rank)
		if err != nil {
			return err
		}
		if name := HardwareKinds.Name(kind); name != hardware.SharedMemory || d.Size() != 2 || d.Rank() != 1-c.rank/2 {
			return fmt.Errorf("rank %d of %d by %q", d.Rank(), d.Size(), name)
		}
		e, kind, err := d.SplitHardware("test", hardware.Any, 0)
		if err != nil || e != nil || kind != hardware.None {
			return fmt.Errorf("split again by kind %d: %v, error %v", kind, e, err)
		}
		return nil
	})
}
