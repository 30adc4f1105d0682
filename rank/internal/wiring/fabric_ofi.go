//go:build ofi && linux && (amd64 || arm64)

package wiring

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/platform/fi"
	"github.com/golci/golci/internal/transport/ofi"
	"github.com/golci/golci/rank/internal/terms"
)

const fabricKey = "golci.ofi" // under which a rank publishes its endpoint

// openFabric connects processes, of any nodes, by libfabric.
func openFabric(ctx context.Context, o *terms.Options, job *boot.Job) (conduit.Conduit, error) {
	l, err := listenFabric(o, job)
	if err != nil {
		return nil, err
	}
	mine := fabricCard{agreement(o, job.Size), l.Info.Provider, l.Name}
	table, err := boot.Exchange(ctx, job, o.KeyName(fabricKey), mine, mine.checkAgainst)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	cards, err := table.All(ctx)
	if err == nil {
		err = job.Barrier(ctx) // nobody sends to a rank that may still give up
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	names := make([][]byte, job.Size)
	for i, c := range cards {
		names[i] = c.Name
	}
	return connectFabric(l, names)
}

// connectFabric keeps a nil conduit out of the interface.
func connectFabric(l *ofi.Listener, names [][]byte) (conduit.Conduit, error) {
	c, err := l.Connect(names)
	if err != nil {
		return nil, fabricError(err)
	}
	return c, nil
}

func listenFabric(o *terms.Options, job *boot.Job) (*ofi.Listener, error) {
	provider, domain := fabricWay(o.Values)
	l, err := ofi.Listen(fi.Want{Provider: provider, Domain: domain}, fabricConfig(o, job))
	if err != nil {
		return nil, fabricError(err)
	}
	return l, nil
}

func fabricConfig(o *terms.Options, job *boot.Job) ofi.Config {
	sum := sha256.Sum256(append([]byte(fabricKey+o.Name), job.Key...))
	return ofi.Config{
		Rank: job.Rank, Size: job.Size, Job: binary.LittleEndian.Uint32(sum[:]),
		Conduit: o.NetworkConfig(job.Size), Connect: settings.InitTimeout.Get(o.Values),
		DeadAfter: settings.DeadAfter.Get(o.Values),
	}
}

// fabricCard is what ranks tell each other: a summary of the settings that have to be the same, and the endpoint.
type fabricCard struct {
	Agreed   uint64
	Provider string
	Name     []byte
}

// checkAgainst compares another rank's card with this one.
func (c fabricCard) checkAgainst(other fabricCard) error {
	switch {
	case other.Agreed != c.Agreed:
		return fmt.Errorf("%w: its settings are others than here, of %s, eager messages or credits", terms.ErrArgument,
			settings.Conduit.Env())
	case other.Provider != c.Provider:
		return fmt.Errorf("%w: libfabric's provider there is %q and here %q; set %s to one that all nodes have",
			terms.ErrArgument, other.Provider, c.Provider, settings.OFIProvider.Env())
	case len(other.Name) == 0:
		return fmt.Errorf("%w: it has no address in libfabric", terms.ErrArgument)
	}
	return nil
}

// joinByFabric connects ranks that share this process by libfabric.
func joinByFabric(o *terms.Options, jobs []*boot.Job) (out []conduit.Conduit, err error) {
	listeners := make([]*ofi.Listener, 0, len(jobs))
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll(out), closeAll(listeners))
			out = nil
		}
	}()
	names := make([][]byte, 0, len(jobs))
	for _, job := range jobs {
		l, err := listenFabric(o, job)
		if err != nil {
			return nil, err
		}
		listeners, names = append(listeners, l), append(names, l.Name)
	}
	for range jobs {
		l := listeners[0]
		listeners = listeners[1:] // Connect closes it if it fails
		c, err := connectFabric(l, names)
		if err != nil {
			return out, err
		}
		out = append(out, c)
	}
	return out, nil
}
