package boot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/internal/job/boot/gather"
	"github.com/golci/golci/internal/job/boot/mesh"
)

// odd has rank 1 of a job of three do something in a gathering, and stay or leave. Rank 0 does its part meanwhile, and
// rank 2 afterwards; what they end with is by rank. Rank 0 waits for values of 2 first, and of 1 then.
func odd(
	t *testing.T, stays bool, does func(ctx context.Context, c *meshTransport) error,
) (kept [][]byte, ends [3]error) {
	t.Helper()
	jobs, err := Local(3)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done := make(chan struct{})
	all(t, jobs, func(_ context.Context, j *Job) error {
		c, err := openPost(ctx, j, "cards", fmt.Appendf(nil, "of %d", j.Rank))
		if err != nil {
			return err
		}
		defer c.closePost()
		if j.Rank == 1 {
			err := does(ctx, c)
			close(done)
			if stays {
				await(ctx, c.lost)
			}
			return err
		}
		if j.Rank == 2 {
			await(ctx, done)
		}
		if ends[j.Rank] = gatherOver(ctx, j.Rank, j.Size, c); j.Rank == 0 {
			kept = c.values
			return j.Abort(1, "the gathering has failed")
		}
		return nil
	})
	return kept, ends
}

// await waits until a channel is closed, or ctx has ended.
func await(ctx context.Context, done <-chan struct{}) {
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// TestStrangePosts: a rank that is sent what cannot come ends with an error that names the sender. It keeps no value of
// that message.
func TestStrangePosts(t *testing.T) {
	sender := &meshTransport{values: [][]byte{[]byte("false"), []byte("of 1"), []byte("false")}}
	due, _ := sender.fillMessage(gather.Piece{Round: 1, First: 1, Count: 1})
	other, _ := sender.fillMessage(gather.Piece{Round: 1, First: 2, Count: 1})
	early, _ := sender.fillMessage(gather.Piece{Round: 0, First: 2, Count: 1})
	for name, c := range map[string]struct {
		sent [][]byte
		want error
	}{
		"half":                   {[][]byte{due[:len(due)-1]}, errPost},
		"empty":                  {[][]byte{nil}, errPost},
		"of another rank":        {[][]byte{other}, gather.ErrPiece},
		"of another rank's turn": {[][]byte{early}, gather.ErrPiece},
		"twice":                  {[][]byte{due, due}, gather.ErrPiece},
	} {
		t.Run(name, func(t *testing.T) {
			kept, ends := odd(t, true, func(ctx context.Context, p *meshTransport) error {
				for _, b := range c.sent {
					if err := p.node.Send(ctx, 0, b); err != nil && !errors.Is(err, mesh.ErrGone) {
						return err
					}
				}
				return nil
			})
			if !errors.Is(ends[0], c.want) || errors.Is(ends[0], ErrMissing) || !strings.Contains(ends[0].Error(), "rank 1") {
				t.Errorf("rank 0: %v", ends[0])
			}
			for r, v := range kept {
				if v != nil && string(v) != fmt.Sprintf("of %d", r) {
					t.Errorf("%q of rank %d is kept", v, r)
				}
			}
		})
	}
}

// TestRankDiesInGathering: the rank that sends to it notes that it has gone. The end of the job tells the rank that
// waits for it.
func TestRankDiesInGathering(t *testing.T) {
	_, ends := odd(t, false, func(context.Context, *meshTransport) error { return nil })
	if !errors.Is(ends[0], mesh.ErrGone) || !strings.Contains(ends[0].Error(), "rank 0") {
		t.Errorf("rank 0, which sends to it: %v", ends[0])
	}
	if !errors.Is(ends[2], ErrLost) || !strings.Contains(ends[2].Error(), "rank 1") {
		t.Errorf("rank 2, which waits for it: %v", ends[2])
	}
}
