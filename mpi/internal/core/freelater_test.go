package core

import (
	"errors"
	"fmt"
	"testing"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/signature"
)

// TestFreeLater (7.4.3): a receive goes on after its communicator is freed. The id is used again only after it.
func TestFreeLater(t *testing.T) {
	run(t, 2, func(c *Comm) error {
		d, err := c.Dup()
		if err != nil {
			return err
		}
		e := signature.ByteElem
		b := make([]byte, 1<<17) // more than travels at once
		if c.Rank() == 1 {
			r, err := d.IrecvAny("Irecv", e, b, 0, 5)
			if err != nil {
				return err
			}
			if err := d.FreeLater(); err != nil {
				return err
			}
			if err := d.FreeLater(); !errors.Is(err, sentinel.ErrComm) {
				return fmt.Errorf("freed twice: %v", err)
			}
			if _, err := d.IrecvAny("Irecv", e, b, 0, 5); !errors.Is(err, sentinel.ErrComm) {
				return fmt.Errorf("a receive after the end: %v", err)
			}
			c.proc.freed.sweep()
			x, err := c.Dup()
			if err != nil {
				return err
			}
			if x.id == d.id {
				return errors.New("the id is used again too early")
			}
			if err := c.Barrier(); err != nil {
				return err
			}
			if _, err := r.Wait("Wait"); err != nil || b[0] != 9 || b[len(b)-1] != 9 {
				return fmt.Errorf("received %d and %d: %v", b[0], b[len(b)-1], err)
			}
		} else {
			for i := range b {
				b[i] = 9
			}
			if _, err := c.Dup(); err != nil {
				return err
			}
			if err := c.Barrier(); err != nil {
				return err
			}
			if err := d.SendAny("Send", e, b, 1, 5, comm.Standard); err != nil {
				return err
			}
			if err := d.FreeLater(); err != nil {
				return err
			}
		}
		for try := 0; ; try++ { // the notices of both ranks are on their way
			c.proc.freed.sweep()
			x, err := c.Dup()
			if err != nil || x.id == d.id {
				return err
			}
			if try == 100 {
				return fmt.Errorf("id %d does not come back", d.id)
			}
		}
	})
}
