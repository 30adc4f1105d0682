package mpi_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/golci/golci/mpi"
)

// TestVariables: what an option sets is what the rank tells, by the type of the setting.
func TestVariables(t *testing.T) {
	err := mpi.Run(1, func(c *mpi.Comm) error {
		p := c.Proc()
		n := 0
		for v := range p.Variables() {
			if n++; v.Name == "" || v.Doc == "" || v.Category == "" || v.Value == nil {
				return fmt.Errorf("%+v", v)
			}
		}
		if n < 20 {
			return fmt.Errorf("%d variables", n)
		}
		for name, want := range map[string]any{
			"GOLCI_SPIN": 3 * time.Millisecond, "GOLCI_LOAN": 77, "GOLCI_EAGER": int64(3000), "GOLCI_DUMP": "stacks",
			"GOLCI_DEBUG": false,
		} {
			if v, err := p.Variable(name); err != nil || v.Value != want || v.Given != (want != false) {
				return fmt.Errorf("%s: %+v, %w; want %v", name, v, err, want)
			}
		}
		if _, err := p.Variable("GOLCI_NONE"); !errors.Is(err, mpi.ErrArgument) {
			return fmt.Errorf("no error for a name of no variable: %w", err)
		}
		return nil
	}, mpi.With("GOLCI_SPIN", "3ms"), mpi.With("GOLCI_LOAN", "77"), mpi.With("GOLCI_EAGER", "3000"),
		mpi.With("GOLCI_DUMP", "stacks"))
	if err != nil {
		t.Error(err)
	}
}

// count is the value of a counter.
func count(t *testing.T, p *mpi.Proc, name string) uint64 {
	t.Helper()
	c, err := p.Counter(name)
	if err != nil || c.Name != name || c.Doc == "" || c.Category == "" {
		t.Errorf("%s: %+v, %v", name, c, err)
	}
	return c.Value
}

// TestCounters: messages and receives are counted while they wait, and requests for good; also after the end.
func TestCounters(t *testing.T) {
	const messages, size = 10, 300
	var over *mpi.Proc
	err := mpi.Run(2, func(c *mpi.Comm) error {
		p := c.Proc()
		out := make([]byte, size)
		if c.Rank() == 1 {
			for i := range messages {
				if err := mpi.Send(c, out, 0, i); err != nil {
					return err
				}
			}
			_, err := mpi.Recv(c, out, 0, 0) // what else it sends would be counted, too
			return err
		}
		over = p
		if _, err := c.Probe(1, messages-1); err != nil { // the last one has come, and so have all
			return err
		}
		if n := count(t, p, "unexpected_messages"); n < messages {
			t.Errorf("%d messages wait, not %d", n, messages)
		}
		if n := count(t, p, "unexpected_bytes"); n < messages*size {
			t.Errorf("%d bytes wait, not %d", n, messages*size)
		}
		if n := count(t, p, "requests_received"); n < messages {
			t.Errorf("%d requests came, not %d", n, messages)
		}
		in := make([]byte, size)
		for i := range messages {
			if _, err := mpi.Recv(c, in, 1, i); err != nil {
				return err
			}
		}
		r, err := mpi.Irecv(c, in, 1, messages)
		if err != nil {
			return err
		}
		if n := count(t, p, "posted_receives"); n != 1 {
			t.Errorf("%d receives wait, not one", n)
		}
		if n := count(t, p, "unexpected_bytes"); n != 0 {
			t.Errorf("%d bytes wait", n)
		}
		if err := r.Cancel(); err != nil {
			return err
		}
		if _, err := r.Wait(); !errors.Is(err, mpi.ErrCancelled) {
			return err
		}
		return mpi.Send(c, in, 1, 0)
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := count(t, over, "requests_received"); n < messages {
		t.Errorf("after the end %d requests have come", n)
	}
	if n := count(t, over, "posted_receives"); n != 0 {
		t.Errorf("after the end %d receives wait", n)
	}
	if _, err := over.Counter("none"); !errors.Is(err, mpi.ErrArgument) {
		t.Errorf("no error for a name of no counter: %v", err)
	}
}

// TestCountersOfDatagrams: datagrams are counted where they carry the messages.
func TestCountersOfDatagrams(t *testing.T) {
	err := mpi.Run(2, func(c *mpi.Comm) error {
		p := c.Proc()
		if err := c.Barrier(); err != nil {
			return err
		}
		for _, name := range []string{"datagrams_sent", "datagrams_received", "segments_sent"} {
			if count(t, p, name) == 0 {
				t.Errorf("%s is 0", name)
			}
		}
		lent, banked := count(t, p, "credits_lent"), count(t, p, "credits_banked")
		if lent == 0 || lent+banked == 0 {
			t.Errorf("%d credits are lent, %d are not", lent, banked)
		}
		return c.Barrier()
	}, mpi.With("GOLCI_CONDUIT", "udp"))
	if err != nil {
		t.Error(err)
	}
}
