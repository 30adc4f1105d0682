package comm

import (
	"errors"
	"testing"

	"github.com/golci/golci/conduit"
)

// TestArguments: each call refuses a rank, a tag and a context that there are not, each alone, and starts nothing.
func TestArguments(t *testing.T) {
	s := newJob(t, 2, conduit.Config{}, Config{})[0]
	b := make([]byte, 8)
	calls := map[string]func(ctx uint16, rank, tag int) error{
		"Send":  func(ctx uint16, rank, tag int) error { return s.Send(ctx, rank, tag, b, nil) },
		"Isend": func(ctx uint16, rank, tag int) error { _, err := s.Isend(ctx, rank, tag, b, nil); return err },
		"Recv":  func(ctx uint16, rank, tag int) error { _, err := s.Recv(ctx, rank, tag, b, nil); return err },
		"Irecv": func(ctx uint16, rank, tag int) error { _, err := s.Irecv(ctx, rank, tag, b, nil); return err },
		"Recv by Alloc": func(ctx uint16, rank, tag int) error {
			_, err := s.Recv(ctx, rank, tag, nil, &Options{Alloc: func(int) []byte { return b }})
			return err
		},
		"Probe":   func(ctx uint16, rank, tag int) error { _, err := s.Probe(ctx, rank, tag); return err },
		"Iprobe":  func(ctx uint16, rank, tag int) error { _, _, err := s.Iprobe(ctx, rank, tag); return err },
		"Improbe": func(ctx uint16, rank, tag int) error { _, _, err := s.Improbe(ctx, rank, tag); return err },
	}
	for name, call := range calls {
		for _, x := range []struct {
			ctx       uint16
			rank, tag int
			want      error
		}{
			{1, 2, 0, ErrRank},
			{1, -7, 0, ErrRank},
			{1, 1, MaxTag + 1, ErrTag},
			{1, 1, -7, ErrTag},
			{MaxContext + 1, 1, 0, ErrContext},
		} {
			if err := call(x.ctx, x.rank, x.tag); !errors.Is(err, x.want) {
				t.Errorf("%s, context %d, rank %d, tag %d: %v, want %v", name, x.ctx, x.rank, x.tag, err, x.want)
			}
		}
	}
	if p := s.registry.Ops(); len(p) != 0 {
		t.Errorf("%d operations are pending", len(p))
	}
}
