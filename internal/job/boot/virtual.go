package boot

import (
	"context"
	"encoding/json"

	"github.com/golci/golci/internal/job/boot/gather"
	"github.com/golci/golci/internal/job/boot/pmi"
)

// Virtual is a rank whose time is virtual, for simulations: nothing it says or hears leaves the process. Its functions
// are called by Start, on the calling goroutine. Those that wait give control to whoever runs the other ranks.
type Virtual struct {
	Rank, Size int
	Ours       bool                              // the launcher is the project's own
	Say        func(line []byte)                 // sends a line to the launcher. It must not keep it
	Hear       func() (pmi.Msg, error)           // waits for a line of the launcher
	Deliver    func(s gather.Send)               // sends values of ranks to a rank. It does not wait
	Piece      func() (int, gather.Piece, error) // waits for values from a rank
	CPUs, Card []byte                            // values that a rank tells those of its node, and all. JSON
	Addresses  []byte                            // where it is found, for the gathering and the plane. JSON
}

// Start does what rank.Start does with the launcher and the other ranks: it joins the job, exchanges all values, and
// meets the others. The memory of a node is not among it. The values of other ranks are not checked, nor kept where
// ranks gather them. Errors: those of Join, and of the functions.
func (v *Virtual) Start(ctx context.Context) (*Job, error) {
	j, err := v.joinJob(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := ExchangeNear(ctx, j, "golci.cpus", v.CPUs, j.LocalRanks); err != nil {
		return nil, err
	}
	if len(j.LocalRanks) < j.Size {
		if err := v.exchangeAddresses(ctx, j); err != nil {
			return nil, err
		}
	}
	return j, j.Barrier(ctx)
}

func (v *Virtual) joinJob(ctx context.Context) (*Job, error) {
	w := &pmiStore{virtual: v, ours: v.Ours, size: v.Size, maxVal: pmi.SafeValue, turn: make(chan struct{}, 1)}
	p := envPlace{launcher: LauncherPMI, rank: v.Rank, size: v.Size, fd: -1, ours: v.Ours}
	j, err := w.openWire(ctx, &p)
	if err != nil {
		return nil, err
	}
	w.giveTurn()
	return j, w.meetAll(ctx, j)
}

// exchangeAddresses exchanges what ranks of several nodes need of each other: cards for datagrams, and addresses of
// planes.
func (v *Virtual) exchangeAddresses(ctx context.Context, j *Job) error {
	var err error
	if j.Size <= mostAsked {
		_, err = exchangeAll(ctx, j, "golci.udp", json.RawMessage(v.Card), unchecked, true)
	} else {
		_, err = gatherValues(ctx, j, "golci.udp", v.Card)
	}
	if err != nil {
		return err
	}
	if err := j.Barrier(ctx); err != nil {
		return err
	}
	far := func(rank int) bool { return !j.Near(rank) }
	_, err = exchangeCircle(ctx, j, "golci.plane", json.RawMessage(v.Addresses), unchecked, far)
	return err
}

func unchecked(json.RawMessage) error { return nil }

// makeCourier makes the end of a gathering whose values do not move.
func (v *Virtual) makeCourier(ctx context.Context, j *Job, key string) (allgatherTransport, error) {
	table, err := Exchange(ctx, j, key, json.RawMessage(v.Addresses), unchecked)
	return &virtualTransport{v: v, ctx: ctx, table: table}, err
}

type virtualTransport struct {
	v     *Virtual
	ctx   context.Context
	table *Table[json.RawMessage]
	err   error // of the first delivery that has failed
}

// deliverSend asks for the address first, as a mesh does for its first message to a rank.
func (c *virtualTransport) deliverSend(s gather.Send) {
	if _, err := c.table.entryOf(c.ctx, s.To); err != nil {
		c.err = err
		return
	}
	c.v.Deliver(s)
}

func (c *virtualTransport) nextPiece(context.Context) (int, gather.Piece, error) {
	if c.err != nil {
		return 0, gather.Piece{}, c.err
	}
	return c.v.Piece()
}

func (c *virtualTransport) keepPost()                       {}
func (c *virtualTransport) delivered(context.Context) error { return c.err }
func (c *virtualTransport) allValues() [][]byte             { return nil }
func (c *virtualTransport) closePost()                      {}

// PieceBytes is how many bytes the messages of a piece take whose values have a length each, and how many these are.
func PieceBytes(p gather.Piece, value int) (bytes, messages int) {
	each := value + 2 // its length before it
	per := postFill/each + 1
	messages = (p.Count + per - 1) / per
	return p.Count*each + messages*postFront, messages
}
