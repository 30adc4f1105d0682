package boot

import (
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/golci/golci/internal/job/boot/pmi"
	"github.com/golci/golci/internal/observe/settings"
)

// Option changes how Join works.
type Option func(*options)

type options struct {
	env     lookup
	timeout time.Duration
	lost    func(*Job) // of WithLost
	debug   bool
}

// WithEnv reads the environment through get instead of os.LookupEnv.
func WithEnv(get func(name string) (string, bool)) Option { return func(o *options) { o.env = get } }

// WithLost sets f to be called, from a goroutine of its own, when the launcher goes away before Finalize. No rank
// should outlive its launcher. Without it the job's operations fail with ErrLost, and nothing more happens.
func WithLost(f func(*Job)) Option { return func(o *options) { o.lost = f } }

// lingerTime is how long a serving rank goes on serving after its Join has failed, so that the others also learn the
// missing ranks.
const lingerTime = 500 * time.Millisecond

// joined is set by the first Join that takes the launcher's connection. A process has only one such connection and one
// descriptor for it.
var joined atomic.Bool

// Join finds the launcher and joins its job, or makes a job of one rank when there is none. It returns when every rank
// has come; it blocks the calling goroutine. It ends at the latest after GOLCI_INIT_TIMEOUT, with an error that wraps
// ErrMissing. The error names the missing ranks, as far as the launcher reports them. Other errors: errEnv, errTwice,
// ErrLost, and those of the settings.
func Join(ctx context.Context, opts ...Option) (*Job, error) {
	o := options{env: os.LookupEnv}
	for _, f := range opts {
		f(&o)
	}
	set, err := settings.Parse(o.env)
	if err != nil {
		return nil, err
	}
	o.debug = settings.Debug.Get(set)
	o.timeout = settings.InitTimeout.Get(set)
	p, err := detectLauncher(o.env)
	if err != nil {
		return nil, err
	}
	o.traceStep("launcher %s, rank %d of %d", p.launcher, p.rank, p.size)
	if p.launcher == LauncherSingle || p.launcher == LauncherEnv && p.size == 1 {
		tellMisspelt(p.launcher, 0)
		return memoryJobs(1, p.launcher)[0], nil
	}
	if !joined.CompareAndSwap(false, true) {
		return nil, errTwice
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	j, err := joinPlace(ctx, p, o)
	if err == nil {
		tellMisspelt(j.Launcher, j.Rank)
	}
	return j, err
}

// told is set when variables that look like misspelt settings have been reported.
var told atomic.Bool

// tellMisspelt reports, once in a job, variables whose names are almost those of settings. golci run has already
// reported those of its ranks.
func tellMisspelt(launcher string, rank int) {
	if rank != 0 || launcher == LauncherGolci || told.Swap(true) {
		return
	}
	for _, text := range settings.Misspelt(os.Environ()) {
		fmt.Fprintln(os.Stderr, "golci:", text)
	}
}

// traceStep reports one step when GOLCI_DEBUG asks for it.
func (o *options) traceStep(format string, args ...any) {
	if o.debug {
		fmt.Fprintf(os.Stderr, "golci: boot: "+format+"\n", args...)
	}
}

// joinPlace connects to the server of p and joins through it.
func joinPlace(ctx context.Context, p envPlace, o options) (*Job, error) {
	if p.pmix {
		return joinPMIx(ctx, p, o)
	}
	conn, cleanup, err := connectServer(ctx, p)
	if err != nil {
		return nil, err
	}
	o.traceStep("connected")
	return joinConn(ctx, conn, cleanup, p, o)
}

// joinConn holds the opening conversation over conn, which it owns from now on.
func joinConn(ctx context.Context, conn net.Conn, cleanup cleanup, p envPlace, o options) (*Job, error) {
	w := newWire(conn, p.size, p.ours)
	w.cleanup = cleanup
	<-w.turn
	j, err := w.openWire(ctx, &p)
	w.giveTurn()
	if err == nil {
		o.traceStep("rank %d of %d, key space %s, waiting for the others", j.Rank, j.Size, w.kvs)
		err = w.meetAll(ctx, j)
	}
	if err != nil {
		w.abandonTalk()
		return nil, err
	}
	j.patience, j.loss = o.timeout, p.lossText()
	o.traceStep("job %s is complete; on this node: %v", j.JobID, j.LocalRanks)
	if o.lost != nil {
		f := func() { o.lost(j) }
		w.onLost.Store(&f)
		select {
		case <-w.gone:
			w.tellLost()
		default:
		}
	}
	return j, nil
}

// lossText is a sentence about the end of the connection to the server.
func (p *envPlace) lossText() string {
	switch {
	case len(p.root.addrs) == 0 && p.meeting == "":
		return ""
	case len(p.root.addrs) == 0:
		return "a rank has gone, which ends the job; if it is not named above, it is the one that served the others"
	case p.rank == 0:
		return "a rank has gone, which ends the job"
	}
	return "rank 0 at " + strings.Join(p.root.addrs, " or ") + ", which serves the job, has gone or has ended it"
}

// connectServer returns a connection on which the server knows, or will be told by open, which rank speaks.
func connectServer(ctx context.Context, p envPlace) (net.Conn, cleanup, error) {
	switch {
	case p.fd >= 0:
		c, err := connFromFD(p.fd)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: PMI_FD=%d: %w; inherited from a rank that is not this process?",
				errEnv, p.fd, err)
		}
		return c, nil, nil
	case p.port != "":
		var d net.Dialer
		c, err := d.DialContext(ctx, "tcp", p.port)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: PMI_PORT: %w", errEnv, err)
		}
		return c, nil, nil
	case len(p.root.addrs) > 0:
		return meetAtRoot(ctx, p)
	}
	return joinNode(ctx, p)
}

// openWire holds the conversation up to the name of the key space. The turn is taken.
func (w *pmiStore) openWire(ctx context.Context, p *envPlace) (*Job, error) {
	if p.port != "" {
		if err := w.initAck(ctx, p); err != nil {
			return nil, err
		}
	}
	if p.size < 1 || p.size > maxSize || p.rank < 0 || p.rank >= p.size {
		return nil, fmt.Errorf("%w: rank %d of %d, want a job of 1 to %d ranks", errEnv, p.rank, p.size, maxSize)
	}
	if _, err := w.callServer(ctx, pmi.M("init", "pmi_version", "1", "pmi_subversion", "1")); err != nil {
		return nil, err
	}
	m, err := w.callServer(ctx, pmi.M("get_maxes"))
	if err != nil {
		return nil, err
	}
	if n, err := m.Int("vallen_max"); err == nil && n > 64 {
		w.maxVal = min(w.maxVal, n-1) // some servers count a final NUL
	}
	if m, err = w.callServer(ctx, pmi.M("get_my_kvsname")); err != nil {
		return nil, err
	}
	w.kvs = m.Str("kvsname")
	return &Job{Rank: p.rank, Size: p.size, Mates: p.size, Late: p.size, Launcher: p.launcher, store: w}, nil
}

// mostSets bounds the lines in which a server gives rank and size; it needs three.
const mostSets = 64

// initAck opens port mode, where the server tells rank and size.
func (w *pmiStore) initAck(ctx context.Context, p *envPlace) error {
	if _, err := w.callServer(ctx, pmi.M("initack", "pmiid", p.id)); err != nil {
		return err
	}
	for range mostSets {
		m, err := w.nextLine(ctx)
		if err != nil {
			return err
		}
		if m.Cmd != "set" {
			return fmt.Errorf("%w: %s", pmi.ErrReply, m)
		}
		if v, err := m.Int("size"); err == nil {
			p.size, w.size = v, v
		}
		if v, err := m.Int("rank"); err == nil {
			p.rank = v
		}
		if _, last := m.Get("debug"); last {
			return nil
		}
	}
	return fmt.Errorf("%w: %d lines in answer to initack", pmi.ErrReply, mostSets)
}

// meetAll waits for all ranks and fills in the data that they share.
func (w *pmiStore) meetAll(ctx context.Context, j *Job) error {
	nodes, err := w.nodesOf(ctx, j.Size)
	if err != nil {
		return err
	}
	if !w.ours && j.Rank == 0 {
		if err := j.store.putValue(ctx, 0, "key", NewKey()); err != nil {
			return err
		}
	}
	if nodes == nil {
		if err := j.store.putValue(ctx, j.Rank, "host", hostID()); err != nil {
			return err
		}
	}
	leave := w.announceRank(j.Rank, nodes)
	err = j.Fence(ctx)
	leave()
	if err != nil {
		return err
	}
	if j.Key, err = w.secret(ctx); err != nil {
		return err
	}
	if len(j.Key) != keyBytes {
		return fmt.Errorf("%w: the job's key has %d bytes, want %d", pmi.ErrReply, len(j.Key), keyBytes)
	}
	j.JobID = IDFromKey(j.Key)
	if nodes == nil && w.ours {
		if nodes, err = w.nodesOf(ctx, j.Size); err != nil { // the server may know since all have come
			return err
		}
	}
	if nodes == nil {
		if nodes, err = hostNodes(ctx, j); err != nil {
			return err
		}
	}
	j.LocalRanks = nodes.Mates(j.Rank)
	if w.ours {
		err = w.roomOf(ctx, j)
	}
	return err
}

// placement says which rank is on which node.
type placement interface {
	Node(rank int) int
	Mates(rank int) []int // on the same node, ascending, this one included
}

// nodesOf asks the launcher which rank is on which node; nil when it does not say.
func (w *pmiStore) nodesOf(ctx context.Context, size int) (placement, error) {
	if err := w.takeTurn(ctx); err != nil {
		return nil, err
	}
	defer w.giveTurn()
	text, err := w.getRaw(ctx, pmi.KeyMapping)
	if err != nil && w.lost != nil {
		return nil, err
	}
	nodes, err := pmi.ParseMapping(text, size)
	if err != nil || nodes == nil {
		return nil, nil // none, or a form not known here: the ranks find out by their hosts' names
	}
	return nodes, nil
}

func (w *pmiStore) secret(ctx context.Context) ([]byte, error) {
	if !w.ours {
		return w.getValue(ctx, 0, "key")
	}
	if err := w.takeTurn(ctx); err != nil {
		return nil, err
	}
	defer w.giveTurn()
	text, err := w.getRaw(ctx, pmi.KeySecret)
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(text)
	if err != nil { // which would show some of the key
		return nil, fmt.Errorf("%w: the job's key is not hexadecimal, %d bytes", pmi.ErrReply, len(text))
	}
	return key, nil
}

// hosts are the nodes of all ranks, by rank.
type hosts []int

func (h hosts) Node(rank int) int { return h[rank] }

func (h hosts) Mates(rank int) (out []int) {
	for r, n := range h {
		if n == h[rank] {
			out = append(out, r)
		}
	}
	return out
}

// hostNodes numbers the ranks' nodes by the host identities they have put. It asks for each rank: only a launcher that
// does not tell the nodes makes it so dear.
func hostNodes(ctx context.Context, j *Job) (placement, error) {
	number := map[string]int{}
	nodes := make(hosts, j.Size)
	for r := range nodes {
		id, err := j.store.getValue(ctx, r, "host")
		if err != nil {
			return nil, err
		}
		n, ok := number[string(id)]
		if !ok {
			n = len(number)
			number[string(id)] = n
		}
		nodes[r] = n
	}
	return nodes, nil
}

// hostID tells machines apart: the kernel's boot identity where there is one, since names may repeat. Containers count
// as machines if their networks are apart: ranks of a node meet at sockets that are the network's.
func hostID() []byte {
	name, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	net, _ := os.Readlink("/proc/self/ns/net")
	return []byte(name + " " + strconv.Itoa(len(boot)) + " " + string(boot) + " " + net)
}
