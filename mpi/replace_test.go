package mpi

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestSendrecvReplace passes buffers round a ring of three ranks, with an end at the null process as well.
func TestSendrecvReplace(t *testing.T) {
	overConduits(t, 3, func(c *Comm) error {
		next, last := (c.Rank()+1)%3, (c.Rank()+2)%3
		for _, n := range []int{0, 8, 300_000} {
			b := pattern(n, c.Rank(), next, 1)
			st, err := SendrecvReplace(c, b, next, 1, AnySource, AnyTag)
			if err := errors.Join(err, checkPattern(b, last, c.Rank(), 1)); err != nil {
				return err
			}
			if st.Source != last || st.Tag != 1 || st.Bytes() != int64(n) {
				return fmt.Errorf("%d bytes: %+v", n, st)
			}
			if err := c.Barrier(); err != nil { // the next message is not for this wildcard
				return err
			}
		}
		to, from := next, last
		if c.Rank() == 2 {
			to = ProcNull
		}
		if c.Rank() == 0 {
			from = ProcNull
		}
		b := []int{c.Rank()}
		st, err := SendrecvReplace(c, b, to, 2, from, 2)
		if want := max(0, c.Rank()-1); err != nil || b[0] != want || st.Source != from {
			return fmt.Errorf("in a line: %v, %+v, %w", b, st, err)
		}
		long := make([]int, 3-c.Rank())
		if _, err = SendrecvReplace(c, long, next, 3, last, 3); c.Rank() == 0 {
			return err
		}
		if !errors.Is(err, ErrTruncate) || !strings.Contains(err.Error(), "SendrecvReplace") {
			return fmt.Errorf("a message that is too long: %w", err)
		}
		return nil
	})
}
