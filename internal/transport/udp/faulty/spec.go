package faulty

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/golci/golci/internal/transport/badnet"
)

// Faults says what happens to the datagrams that a socket sends. The zero value changes nothing.
type Faults struct {
	badnet.Faults
	// From and To limit the faults to datagrams from and to these ranks; empty: all.
	From, To []int
	// Rank is the sender's own.
	Rank int
	// Who tells which rank an address is of; -1: none. If it is nil, destinations are numbered as they are first sent
	// to, from 0, and these numbers stand for ranks. It is called in Send, once for each address.
	Who func(netip.AddrPort) int
}

// defaultQueue is how many datagrams are held for each destination unless asked otherwise.
const defaultQueue = 4096

// Parse reads a setting: items NAME=VALUE with commas between, with the names of badnet.Faults.Set and besides "from"
// and "to", whose value is one rank or several with "+" between; see Within for ranks that there are not. "" is no
// faults. The seed is 1 where none is given. The error matches badnet.ErrFaults.
//
//	loss=0.1,dup=0.05,reorder=0.1,seed=7,cut=2s,heal=2s,to=1+3
func Parse(spec string) (Faults, error) {
	if strings.TrimSpace(spec) == "" {
		return Faults{}, nil
	}
	f := Faults{Faults: badnet.Faults{Seed: 1}}
	err := badnet.Fields(spec, func(name, value string) (err error) {
		switch name {
		case "from":
			f.From, err = ranks(name, value)
		case "to":
			f.To, err = ranks(name, value)
		default:
			err = f.Set(name, value)
		}
		return err
	})
	if err == nil {
		_, err = badnet.New(f.Faults)
	}
	if err != nil {
		return Faults{}, err
	}
	return f, nil
}

func ranks(name, value string) (list []int, err error) {
	for s := range strings.SplitSeq(value, "+") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%w: %s=%q is not a list of ranks such as 1+3", badnet.ErrFaults, name, value)
		}
		list = append(list, n)
	}
	return list, nil
}

// Within checks that a job of size ranks has all ranks that From and To name: faults on the way to nobody would pass
// for a network without any. The error matches badnet.ErrFaults and names the first that it has not.
func (f Faults) Within(size int) error {
	for _, list := range []struct {
		name  string
		ranks []int
	}{{"from", f.From}, {"to", f.To}} {
		for _, r := range list.ranks {
			if r >= size {
				return fmt.Errorf("%w: %s=%d, and the job has ranks 0 to %d", badnet.ErrFaults, list.name, r, size-1)
			}
		}
	}
	return nil
}

// isNone says whether nothing happens to any datagram of this sender.
func (f Faults) isNone() bool {
	if len(f.From) > 0 && !slices.Contains(f.From, f.Rank) {
		return true
	}
	what := f.Faults
	what.Seed, what.Burst, what.Queue, what.ReorderBy, what.HealAfter = 0, 0, 0, 0, 0 // these do nothing by themselves
	return what == badnet.Faults{}
}

// towards gives the faults on the way to one address, the nth of a rank: each way has dice of its own, the same in
// each run.
func (f *Faults) towards(rank, nth int) badnet.Faults {
	if len(f.To) > 0 && !slices.Contains(f.To, rank) {
		return badnet.Faults{}
	}
	way := f.Faults
	way.Seed = badnet.Seed(way.Seed, uint64(f.Rank), uint64(rank), uint64(nth))
	if way.Queue == 0 {
		way.Queue = defaultQueue
	}
	return way
}
