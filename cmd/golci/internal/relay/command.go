package relay

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/golci/golci/internal/transport/badnet"
)

// Command is golci relay; the tags are those of its command line.
type Command struct {
	Listen    string        `required:"" help:"Address and port that clients send to, on loopback unless an address is given; port 0: a free one, which is printed." placeholder:"ADDR"`
	To        string        `required:"" help:"Address and port of the server they mean." placeholder:"ADDR"`
	Loss      float64       `help:"Part of the packets that are lost, 0 to 1." placeholder:"P"`
	Burst     float64       `default:"1" help:"Packets lost in a row, on average."`
	Dup       float64       `help:"Part of the packets that come twice." placeholder:"P"`
	Reorder   float64       `help:"Part of the packets that others overtake." placeholder:"P"`
	ReorderBy time.Duration `default:"1ms" help:"How much later those come."`
	Delay     time.Duration `help:"Added to each packet, one way." placeholder:"D"`
	Jitter    time.Duration `help:"Random part of the delay, at most; order is kept." placeholder:"D"`
	Corrupt   float64       `help:"Part of the packets of which one bit flips." placeholder:"P"`
	Truncate  float64       `help:"Part of the packets whose end is missing." placeholder:"P"`
	Oneway    bool          `help:"Only what goes to the server suffers."`
	CutAfter  time.Duration `help:"When, after the first packet, all begin to be lost." placeholder:"T"`
	HealAfter time.Duration `help:"For how long; default: for good." placeholder:"T"`
	Seed      uint64        `default:"1" help:"Of everything random."`
}

// Run relays until it is interrupted, and then prints what it did.
func (c *Command) Run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return c.runRelay(ctx, os.Stdout)
}

func (c *Command) runRelay(ctx context.Context, out io.Writer) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	r, err := listenRelay(cfg)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "relaying %v to %v, seed %d\n", r.Addr(), cfg.To, c.Seed)
	err = r.serveClients(ctx)
	if e := r.sumTotals().writeTotals(out); err == nil {
		err = e
	}
	return err
}

func (c *Command) config() (cfg Config, err error) {
	if cfg.Listen, err = resolveAddress(c.Listen); err != nil {
		return cfg, err
	}
	if cfg.To, err = resolveAddress(c.To); err != nil {
		return cfg, err
	}
	cfg.OneWay = c.Oneway
	cfg.Faults = badnet.Faults{
		Seed: c.Seed, Loss: c.Loss, Burst: c.Burst, Dup: c.Dup, Reorder: c.Reorder, ReorderBy: c.ReorderBy, Delay: c.Delay,
		Jitter: c.Jitter, Corrupt: c.Corrupt, Truncate: c.Truncate, CutAfter: c.CutAfter, HealAfter: c.HealAfter,
	}
	return cfg, nil
}

// resolveAddress takes names as well as addresses.
func resolveAddress(s string) (netip.AddrPort, error) {
	a, err := net.ResolveUDPAddr("udp", s)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("relay: %w", err)
	}
	p := a.AddrPort()
	if a.IP == nil { // a relay is open to all who can send to it
		p = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), p.Port())
	}
	return netip.AddrPortFrom(p.Addr().Unmap(), p.Port()), nil
}

func (t Totals) writeTotals(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "clients\t%d, packets of others %d\n", t.Clients, t.Refused)
	fmt.Fprintf(w, "direction\tpackets\tbytes\tdelivered\tbytes\tlost\tcut\toverflow\tduplicated\treordered\tcorrupted\ttruncated\n")
	for _, d := range []struct {
		name string
		c    badnet.Counts
	}{{"to", t.To}, {"from", t.From}} {
		c := d.c
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", d.name, c.Packets, c.Bytes, c.Delivered, c.DeliveredBytes,
			c.Lost, c.Cut, c.Overflowed, c.Duplicated, c.Reordered, c.Corrupted, c.Shortened)
	}
	return w.Flush()
}
