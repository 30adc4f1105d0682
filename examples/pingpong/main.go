// Pingpong lets the ranks exchange messages in pairs, 0 with 1, 2 with 3 and so on. Many light-weight threads do so
// at once: thread i of one rank with thread i of the other, under tag i.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/golci/golci/examples/internal/rank"
	"github.com/golci/golci/mpi"
)

func main() {
	// Caught to the end of the process: a rank that is done waits for the others, and must not die of their signal.
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	rank.Main(parse, func(c *mpi.Comm, o options) error { return pingpong(ctx, c, o, os.Stdout) })
}

type options struct {
	threads int  // of each rank
	size    int  // bytes of a message
	count   int  // messages that a thread sends, unless forever
	forever bool // flood until a signal
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("pingpong", flag.ContinueOnError)
	f.IntVar(&o.threads, "threads", 64, "light-weight threads of each rank")
	f.IntVar(&o.size, "size", 8, "bytes of a message")
	f.IntVar(&o.count, "count", 10000, "messages that each thread sends and gets back")
	f.BoolVar(&o.forever, "forever", false, "flood in one direction, with a line every second, until SIGINT or SIGTERM")
	if err := rank.Parse(f, "pingpong [flags]: messages between the threads of pairs of ranks", args, 0); err != nil {
		return o, err
	}
	if o.threads >= mpi.TagUB {
		return o, fmt.Errorf("-threads %d: want fewer than %d, one tag each and one more", o.threads, mpi.TagUB)
	}
	return o, cmp.Or(rank.AtLeast("threads", o.threads, 1), rank.AtLeast("size", o.size, 0),
		rank.AtLeast("count", o.count, 1))
}

// pingpong is one rank's part. The end of ctx ends a flood.
func pingpong(ctx context.Context, c *mpi.Comm, o options, w io.Writer) error {
	partner := c.Rank() ^ 1
	if partner >= c.Size() {
		partner = mpi.ProcNull
		fmt.Fprintf(w, "rank %d of %d has no partner and idles\n", c.Rank(), c.Size())
	}
	if !o.forever {
		return bounce(c, o, partner, w)
	}
	if partner == mpi.ProcNull {
		return nil
	}
	return flood(ctx, c, o, partner, w)
}
