package wiring

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/transport/udp"
	"github.com/golci/golci/internal/transport/udp/faulty"
	"github.com/golci/golci/internal/transport/udp/nic"
	"github.com/golci/golci/internal/transport/udp/seal"
	"github.com/golci/golci/rank/internal/terms"
)

const endpointKey = "golci.udp" // under which a rank publishes where it receives datagrams

// openDatagrams connects processes, of any nodes, by datagrams.
func openDatagrams(ctx context.Context, o *terms.Options, job *boot.Job) (conduit.Conduit, error) {
	lc, err := listenConfig(o, job.Size)
	if err != nil {
		return nil, err
	}
	lc.Loopback = len(job.LocalRanks) == job.Size
	l, err := udp.Listen(lc)
	if err != nil {
		return nil, err
	}
	mine := businessCard{agreement(o, job.Size), l.Endpoint()}
	cards, err := boot.ExchangeAll(ctx, job, o.KeyName(endpointKey), mine, mine.checkAgainst)
	if err == nil {
		err = job.Barrier(ctx) // the time of who is silent begins for all at once
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	all := make([]nic.Endpoint, job.Size)
	for i, c := range cards {
		all[i] = c.Endpoint
	}
	return l.Connect(all, datagramConfig(o, job, lc.Mode))
}

// businessCard is what ranks tell each other: where they receive, and a summary of the settings that have to be the
// same.
type businessCard struct {
	Agreed uint64
	nic.Endpoint
}

// checkAgainst compares another rank's card with this one.
func (c businessCard) checkAgainst(other businessCard) error {
	if other.Agreed != c.Agreed {
		return fmt.Errorf("%w: its settings are others than here, of %s, %s, eager messages or credits",
			terms.ErrArgument, settings.Conduit.Env(), settings.UDPSecurity.Env())
	}
	return other.Check()
}

// agreement sums up the settings that must be the same on all ranks.
func agreement(o *terms.Options, size int) uint64 {
	h := fnv.New64a()
	under := o.Pooled(udp.Config{Size: size}).Limits
	fmt.Fprint(h, settings.Conduit.Get(o.Values), settings.UDPSecurity.Get(o.Values), o.Credits(size), o.Record(size),
		under)
	return h.Sum64()
}

func listenConfig(o *terms.Options, size int) (udp.ListenConfig, error) {
	mode, err := seal.ParseMode(settings.UDPSecurity.Get(o.Values))
	if err != nil {
		return udp.ListenConfig{}, fmt.Errorf("%w: %s: %w", terms.ErrArgument, settings.UDPSecurity.Env(), err)
	}
	spec := settings.UDPFaults.Get(o.Values)
	if spec == "off" {
		spec = ""
	}
	faults, err := faulty.Parse(spec)
	if err == nil {
		err = faults.Within(size)
	}
	if err != nil {
		return udp.ListenConfig{}, fmt.Errorf("%w: %s: %w", terms.ErrArgument, settings.UDPFaults.Env(), err)
	}
	buffer := int(settings.UDPBuffer.Get(o.Values))
	if buffer == 0 {
		buffer = min(max(4<<20, 2*o.Credits(size).PerPeer*conduit.CreditBytes*size), 64<<20)
	}
	return udp.ListenConfig{
		Interfaces: settings.UDPInterfaces.Get(o.Values), Mode: mode, Buffer: buffer, Faults: faults,
	}, nil
}

func datagramConfig(o *terms.Options, job *boot.Job, mode seal.Mode) udp.Config {
	dead := settings.DeadAfter.Get(o.Values)
	return o.Pooled(udp.Config{
		Rank: job.Rank, Size: job.Size, Key: job.Key, Mode: mode, MinRTO: o.Tuning.MinRTO,
		KeepAlive: dead / 10, DeadAfter: dead,
	})
}

// joinByDatagrams connects ranks that share this process by datagrams.
func joinByDatagrams(o *terms.Options, jobs []*boot.Job) (out []conduit.Conduit, err error) {
	listeners := make([]*udp.Listener, 0, len(jobs))
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll(out), closeAll(listeners))
			out = nil
		}
	}()
	all := make([]nic.Endpoint, 0, len(jobs))
	lc, err := listenConfig(o, len(jobs))
	if err != nil {
		return nil, err
	}
	lc.Loopback = true
	for range jobs {
		l, err := udp.Listen(lc)
		if err != nil {
			return nil, err
		}
		listeners, all = append(listeners, l), append(all, l.Endpoint())
	}
	for _, job := range jobs {
		l := listeners[0]
		listeners = listeners[1:] // Connect closes it if it fails
		c, err := l.Connect(all, datagramConfig(o, job, lc.Mode))
		if err != nil {
			return out, err
		}
		out = append(out, c)
	}
	return out, nil
}

func closeAll[T io.Closer](all []T) error {
	var errs []error
	for _, c := range all {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
