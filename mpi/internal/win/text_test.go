package win

import (
	"fmt"
	"strings"
	"testing"

	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/epoch"
)

// TestTexts: errors count bytes, whatever the elements are, and name the calls that help.
func TestTexts(t *testing.T) {
	ranks(t, 1, func(c *core.Comm) error {
		w, _, err := own(c, 7)
		if err != nil {
			return err
		}
		says := func(err error, texts ...string) error {
			for _, text := range texts {
				if err == nil || !strings.Contains(err.Error(), text) {
					return fmt.Errorf("%w does not say %q", err, text)
				}
			}
			return nil
		}
		one := []int64{1}
		put := func(disp int64) error { return w.Put(longs(one), at(0, disp, 1)) }
		_, rput := w.Rput(longs(one), at(0, 0, 1))
		return first(
			says(put(0), "state none", "Fence, Start, Lock or LockAll opens an epoch"),
			says(rput, "; Lock or LockAll opens"), says(w.Flush(0), "; Lock or LockAll opens"),
			w.Lock(epoch.Shared, 0, 0),
			says(put(7), "8 bytes of data at displacement 7 of rank 0, which has 56 bytes in units of 8"),
			w.Unlock(0), w.Free())
	})
}
