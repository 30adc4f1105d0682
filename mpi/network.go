package mpi

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/boot"
	"github.com/golci/golci/internal/conduit/mixed"
	"github.com/golci/golci/internal/conduit/shm"
	"github.com/golci/golci/internal/conduit/udp"
	"github.com/golci/golci/internal/conduit/udp/faulty"
	"github.com/golci/golci/internal/conduit/udp/nic"
	"github.com/golci/golci/internal/conduit/udp/seal"
	"github.com/golci/golci/internal/settings"
)

// endpointKey is under what a rank publishes where it receives datagrams.
const endpointKey = "golci.udp"

// openNetwork connects ranks of several nodes, or of one if the setting asks for it: through shared memory within a node,
// through datagrams beyond.
func openNetwork(ctx context.Context, job *boot.Job, o *options) (conduit.Conduit, error) {
	if err := reaches(job, settings.Conduit.Get(o.values)); err != nil {
		return nil, err
	}
	far, err := openDatagrams(ctx, job, o)
	if err != nil {
		return nil, err
	}
	if settings.Conduit.Get(o.values) == udp.Name || len(job.LocalRanks) == 1 {
		return far, nil
	}
	near, err := openShared(job, o)
	if err != nil {
		return nil, errors.Join(err, far.Close())
	}
	c, err := mixed.New(near, far, job.Near)
	if err != nil {
		return nil, errors.Join(err, near.Close(), far.Close())
	}
	return c, nil
}

// reaches refuses a conduit that does not lead to all ranks: the setting names one, and another is not taken in its place. Where
// the ranks are on several nodes no rank has all of them on its own, so every rank finds this, before it waits for any other.
func reaches(job *boot.Job, name string) error {
	if name != shm.Name || !elsewhere(job) {
		return nil
	}
	for r := range job.Size {
		if !job.Near(r) {
			return fmt.Errorf("%w: %s=%s joins ranks of one node, and rank %d and rank %d are on different nodes; set it to auto, which takes "+
				"datagrams between nodes", ErrArgument, settings.Conduit.Env(), name, job.Rank, r)
		}
	}
	return nil
}

func openDatagrams(ctx context.Context, job *boot.Job, o *options) (conduit.Conduit, error) {
	lc, err := listenConfig(o, job.Size)
	if err != nil {
		return nil, err
	}
	lc.Loopback = len(job.LocalRanks) == job.Size
	l, err := udp.Listen(lc)
	if err != nil {
		return nil, err
	}
	table, err := boot.Exchange(ctx, job, endpointKey, l.Endpoint(), endpoints(agreement(o, job.Size)))
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	all, err := table.All(ctx)
	if err == nil {
		err = job.Barrier(ctx) // the time of who is silent begins for all at once
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	cfg, err := datagramConfig(o, job.Size)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	cfg.Rank, cfg.Size, cfg.Key = job.Rank, job.Size, job.Key
	return l.Connect(all, cfg)
}

// endpoints is the codec of what ranks tell each other: where they receive, behind a summary of the settings that have to be the
// same.
func endpoints(agreed uint64) boot.Codec[nic.Endpoint] {
	return boot.Codec[nic.Endpoint]{
		Append: func(dst []byte, v nic.Endpoint) ([]byte, error) {
			return nic.Append(binary.BigEndian.AppendUint64(dst, agreed), v)
		},
		Parse: func(b []byte) (nic.Endpoint, error) {
			if len(b) < 8 {
				return nic.Endpoint{}, fmt.Errorf("%w: endpoint of %d bytes", ErrArgument, len(b))
			}
			if binary.BigEndian.Uint64(b) != agreed {
				return nic.Endpoint{}, fmt.Errorf("%w: its settings are others than here, of %s, %s, eager messages or credits",
					ErrArgument, settings.Conduit.Env(), settings.UDPSecurity.Env())
			}
			return nic.Parse(b[8:])
		},
	}
}

// agreement sums up the settings that must be the same on all ranks.
func agreement(o *options, size int) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, settings.Conduit.Get(o.values), settings.UDPSecurity.Get(o.values), terms(o, size), record(o, size))
	return h.Sum64()
}

func listenConfig(o *options, size int) (udp.ListenConfig, error) {
	mode, err := securityMode(o)
	if err != nil {
		return udp.ListenConfig{}, err
	}
	spec := settings.UDPFaults.Get(o.values)
	if spec == "off" {
		spec = ""
	}
	faults, err := faulty.Parse(spec)
	if err == nil {
		err = faults.Within(size)
	}
	if err != nil {
		return udp.ListenConfig{}, fmt.Errorf("%w: %s: %w", ErrArgument, settings.UDPFaults.Env(), err)
	}
	buffer := int(settings.UDPBuffer.Get(o.values))
	if buffer == 0 {
		buffer = min(max(4<<20, 2*terms(o, size).PerPeer*conduit.CreditBytes*size), 64<<20)
	}
	return udp.ListenConfig{Interfaces: settings.UDPInterfaces.Get(o.values), Mode: mode, Buffer: buffer, Faults: faults}, nil
}

func securityMode(o *options) (seal.Mode, error) {
	mode, err := seal.ParseMode(settings.UDPSecurity.Get(o.values))
	if err != nil {
		return mode, fmt.Errorf("%w: %s: %w", ErrArgument, settings.UDPSecurity.Env(), err)
	}
	return mode, nil
}

func datagramConfig(o *options, size int) (udp.Config, error) {
	mode, err := securityMode(o)
	if err != nil {
		return udp.Config{}, err
	}
	dead := settings.UDPDeadAfter.Get(o.values)
	return udp.Config{
		Mode: mode, Conduit: conduitConfig(o, size), MinRTO: settings.UDPMinRTO.Get(o.values), KeepAlive: dead / 10, DeadAfter: dead,
	}, nil
}

// joinByDatagrams connects ranks that share this process by datagrams.
func joinByDatagrams(n int, key []byte, o *options) ([]conduit.Conduit, error) {
	listeners := make([]*udp.Listener, 0, n)
	all := make([]nic.Endpoint, 0, n)
	shut := func(err error) error {
		for _, l := range listeners {
			err = errors.Join(err, l.Close())
		}
		return err
	}
	for range n {
		lc, err := listenConfig(o, n)
		if err != nil {
			return nil, shut(err)
		}
		lc.Loopback = true
		l, err := udp.Listen(lc)
		if err != nil {
			return nil, shut(err)
		}
		listeners, all = append(listeners, l), append(all, l.Endpoint())
	}
	var out []conduit.Conduit
	for r := range n {
		cfg, err := datagramConfig(o, n)
		if err == nil {
			cfg.Rank, cfg.Size, cfg.Key = r, n, key
			var c conduit.Conduit
			if c, err = listeners[0].Connect(all, cfg); err == nil {
				out = append(out, c)
			}
			listeners = listeners[1:]
		}
		if err != nil {
			for _, c := range out {
				err = errors.Join(err, c.Close())
			}
			return nil, shut(err)
		}
	}
	return out, nil
}

func openShared(job *boot.Job, o *options) (conduit.Conduit, error) {
	return shm.New(sharedConfig(job, o))
}

func sharedConfig(job *boot.Job, o *options) shm.Config {
	return shm.Config{
		Rank: job.Rank, Size: job.Size, JobID: job.JobID, Key: string(job.Key), Local: job.LocalRanks,
		Timeout: settings.InitTimeout.Get(o.values), Conduit: conduitConfig(o, job.Size),
	}
}

// elsewhere tells whether some ranks are on other nodes.
func elsewhere(job *boot.Job) bool {
	return len(job.LocalRanks) < job.Size
}
