package boot

import (
	"context"
	"fmt"

	"github.com/golci/golci/internal/job/boot/gather"
)

// allgatherTransport carries the pieces of a gathering, and keeps the values that they bring.
type allgatherTransport interface {
	// deliver sends a piece. It does not wait.
	deliverSend(s gather.Send)
	// next waits for a piece from another rank, until ctx ends, the launcher is lost, or a delivery has failed.
	nextPiece(ctx context.Context) (from int, p gather.Piece, err error)
	// keep keeps the values of the piece that next has returned last, which was due.
	keepPost()
	// delivered waits until all pieces have been taken.
	delivered(ctx context.Context) error
	// all are the values of all ranks, by rank, when all have come.
	allValues() [][]byte
	closePost()
}

// gatherOver runs one rank's part in a gathering. When it returns all that this rank has sent has been taken. Answers
// to what it has taken may still be on their way.
func gatherOver(ctx context.Context, rank, size int, c allgatherTransport) error {
	m, err := gather.New(rank, size)
	if err != nil {
		return err
	}
	for _, s := range m.Begin() {
		c.deliverSend(s)
	}
	for !m.Over() {
		from, p, err := c.nextPiece(ctx)
		if err != nil {
			return inVain(ctx, rank, m, err)
		}
		out, err := m.Take(from, p)
		if err != nil {
			return err
		}
		c.keepPost()
		for _, s := range out {
			c.deliverSend(s)
		}
	}
	return c.delivered(ctx)
}

// inVain is the error of a rank that waits no more. Only if its time is over does a rank count as missing.
func inVain(ctx context.Context, rank int, m *gather.Machine, err error) error {
	last, _ := m.Waiting()
	err = fmt.Errorf("rank %d waits for what rank %d knows of others: %w", rank, last, err)
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", ErrMissing, err)
	}
	return err
}

// gatherValues gives the values of all ranks, by rank.
func gatherValues(ctx context.Context, j *Job, key string, mine []byte) ([][]byte, error) {
	c, err := openCourier(ctx, j, key, mine)
	if err != nil {
		return nil, err
	}
	defer c.closePost()
	if err := gatherOver(ctx, j.Rank, j.Size, c); err != nil {
		return nil, err
	}
	// A rank that closed its end now might take its last answer with it. Its peer would count it as gone.
	return c.allValues(), j.Fence(ctx)
}

// openCourier makes this rank's end, and tells the others where it is. Every rank of the job calls it.
func openCourier(ctx context.Context, j *Job, key string, mine []byte) (allgatherTransport, error) {
	key += ".at"
	if w, ok := j.store.(*pmiStore); ok && w.virtual != nil {
		return w.virtual.makeCourier(ctx, j, key)
	}
	return openPost(ctx, j, key, mine)
}
