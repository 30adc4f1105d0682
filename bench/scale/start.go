package scale

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"time"

	"github.com/golci/golci/bench/scale/vtime"
	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/job/boot/gather"
	"github.com/golci/golci/internal/job/boot/mesh"
	"github.com/golci/golci/internal/job/boot/pmi"
	"github.com/golci/golci/internal/transport/udp/nic"
)

// start makes all ranks join a job and meet. Each runs the code of a real rank on a coroutine, against the server of a
// real launcher.
func start(ctx context.Context, c Config, n int) (outcome, error) {
	j, err := newStarting(ctx, c, n)
	if err != nil {
		return outcome{}, err
	}
	before := heap()
	o := outcome{time: j.run()}
	for r := range j.ranks {
		if err := j.ranks[r].err; err != nil {
			return o, fmt.Errorf("%w: rank %d: %w", ErrJob, r, err)
		}
	}
	o.ranks, o.launcher = j.net.Sent[:n], j.net.Sent[n].Messages+j.asked
	j.net, j.server = nil, nil
	if grown := heap() - before; grown > 0 {
		o.state = grown / n
	}
	for r := range j.ranks {
		if j.ranks[r].job.Rank != r {
			return o, fmt.Errorf("%w: rank %d believes that it is %d", ErrJob, r, j.ranks[r].job.Rank)
		}
	}
	return o, nil
}

// starting is a job that starts. The launcher is the end behind the last rank.
type starting struct {
	ctx    context.Context
	ranks  []starter
	server *pmi.Server
	net    *vtime.Net[word]
	asked  int64 // lines that came to the launcher
	cpus   []byte
	card   []byte
	at     []byte
}

// word is a line, or a piece of a gathering.
type word struct {
	line  string
	piece gather.Piece
}

// starter is one rank.
type starter struct {
	resume func() (struct{}, bool)
	stop   func()
	heard  []string
	pieces []letter
	job    *boot.Job
	err    error
}

type letter struct {
	from int
	gather.Piece
}

var errStopped = errors.New("the job has come to rest before this rank has started")

func newStarting(ctx context.Context, c Config, n int) (*starting, error) {
	nodes := (n + c.PerNode - 1) / c.PerNode
	server, err := pmi.NewServer(pmi.Config{Size: n, KVSName: "golci", Preset: map[string]string{
		pmi.KeySecret:  hex.EncodeToString(make([]byte, 32)),
		pmi.KeyMapping: fmt.Sprintf("(vector,(0,%d,%d))", nodes, c.PerNode),
	}})
	if err != nil {
		return nil, err
	}
	j := &starting{ctx: ctx, ranks: make([]starter, n), server: server, net: vtime.New[word](n+1, c.Link)}
	j.net.Take = j.take
	return j, j.values(c.PerNode)
}

// values are what a rank on a machine with two networks tells of itself.
func (j *starting) values(cores int) (err error) {
	j.cpus = fmt.Appendf(nil, "0-%d", cores-1)
	a, b := netip.MustParseAddrPort("10.128.200.100:45678"), netip.MustParseAddrPort("192.168.100.100:45678")
	card := struct {
		Agreed uint64
		nic.Endpoint
	}{1 << 63, nic.Endpoint{
		Incarnation: 1 << 63, Public: make([]byte, 32),
		Addrs: []nic.Address{{Addr: a, Bits: 24, MTU: 9000}, {Addr: b, Bits: 24, MTU: 1500}},
	}}
	if j.card, err = json.Marshal(card); err == nil {
		j.at, err = json.Marshal([]netip.AddrPort{a, b})
	}
	return err
}

func (j *starting) run() (last time.Duration) {
	for r := range j.ranks {
		j.begin(r)
	}
	last = j.net.Run()
	for r := range j.ranks {
		j.ranks[r].stop()
		j.ranks[r].resume, j.ranks[r].stop, j.ranks[r].heard = nil, nil, nil
	}
	return last
}

// begin starts a rank's coroutine, which runs until it waits.
func (j *starting) begin(r int) {
	s := &j.ranks[r]
	s.resume, s.stop = iter.Pull(func(yield func(struct{}) bool) {
		wait := func(came func() bool) error {
			for !came() {
				if !yield(struct{}{}) {
					return errStopped
				}
			}
			return nil
		}
		v := j.rank(r, wait)
		s.job, s.err = v.Start(j.ctx)
	})
	s.resume()
}

func (j *starting) rank(r int, wait func(came func() bool) error) *boot.Virtual {
	s, n := &j.ranks[r], len(j.ranks)
	return &boot.Virtual{
		Rank: r, Size: n, Ours: true, CPUs: j.cpus, Card: j.card, Addresses: j.at,
		Say: func(line []byte) { j.net.Send(r, n, len(line), 1, word{line: string(line)}) },
		Hear: func() (pmi.Msg, error) {
			if err := wait(func() bool { return len(s.heard) > 0 }); err != nil {
				return pmi.Msg{}, err
			}
			line := s.heard[0]
			s.heard = s.heard[1:]
			return pmi.Parse([]byte(line))
		},
		Deliver: func(g gather.Send) {
			bytes, messages := boot.PieceBytes(g.Piece, len(j.card))
			j.net.Send(r, g.To, bytes+messages*mesh.Extra, messages, word{piece: g.Piece})
		},
		Piece: func() (int, gather.Piece, error) {
			if err := wait(func() bool { return len(s.pieces) > 0 }); err != nil {
				return 0, gather.Piece{}, err
			}
			l := s.pieces[0]
			s.pieces = s.pieces[1:]
			return l.from, l.Piece, nil
		},
	}
}

// take hands what has come to the launcher, or to a rank.
func (j *starting) take(to, from int, w word) {
	if to == len(j.ranks) {
		j.asked++
		j.answer(from, w.line)
		return
	}
	s := &j.ranks[to]
	if w.line != "" {
		s.heard = append(s.heard, w.line)
	} else {
		s.pieces = append(s.pieces, letter{from, w.piece})
	}
	s.resume()
}

func (j *starting) answer(from int, line string) {
	for _, a := range j.server.Handle(from, []byte(line)) {
		if a.Kind != pmi.Send {
			j.ranks[a.Rank].err = fmt.Errorf("the launcher: %s", a.Text)
			continue
		}
		b, err := a.Msg.Append(nil)
		if err != nil {
			j.ranks[a.Rank].err = err
			continue
		}
		j.net.Send(len(j.ranks), a.Rank, len(b), 1, word{line: string(b)})
	}
}
