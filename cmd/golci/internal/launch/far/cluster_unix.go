//go:build unix

package far

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/golci/golci/cmd/golci/internal/launch"
	"github.com/golci/golci/internal/job/authconn"
	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/platform/addrs"
)

// cluster is the team of a job on several machines: a helper on each, which calls the head back.
type cluster struct {
	cfg      *Config
	job      *launch.Job // nil before Gather
	all      []*machine  // the machines to reach; not changed after muster
	machines []*machine  // those with ranks; only the goroutine of launch.Run touches it
	size     int         // ranks of the job
	mark     string      // of the lines of the script

	listen net.Listener         // nil before Gather
	at     []string             // its addresses
	keys   [][]byte             // of the tickets, by machine
	ids    []*authconn.Identity // by machine

	copies  map[string]bool         // programs, as paths here, of which the machines get a copy
	program func() (program, error) // what the machines may run as golci; the first call finds out

	calls   chan arrival      // helpers that have called back
	missing chan machineError // machines that have not come so far
	retries chan int          // machines to call once more
	door    *authconn.Door    // shut when no more are taken
	wg      sync.WaitGroup
}

type arrival struct {
	host  int
	link  *link
	hello greeting
}

type machineError struct {
	host int
	err  error
}

// New makes the team of a job on the machines of cfg.
func New(cfg *Config) launch.Team { return &cluster{cfg: cfg, door: authconn.NewDoor(earlyMost)} }

func (f *cluster) muster(j *launch.Job) {
	s := j.Spec()
	f.job, f.mark = j, boot.IDFromKey(boot.NewKey())
	f.chooseCopies()
	f.program = sync.OnceValues(func() (program, error) { return programFor(f.cfg) })
	for i, h := range neededHosts(f.cfg.Hosts, s.Ranks()) {
		f.all = append(f.all, &machine{
			cluster: f, index: i, host: h, ended: make(chan struct{}), ready: make(chan struct{}),
			retry: retryPolicy{limit: f.cfg.Connect},
			inOK:  make(chan bool, 1), fileOK: make(chan struct{}, 1),
		})
	}
	f.machines = f.all
	f.calls = make(chan arrival, len(f.machines))
	f.retries = make(chan int, len(f.machines))
	// its conversation, its remote shell, its connection: more only after a retry
	f.missing = make(chan machineError, 3*len(f.machines))
}

// chooseCopies finds the programs that the machines get a copy of.
func (f *cluster) chooseCopies() {
	f.copies = map[string]bool{}
	for _, c := range f.job.Spec().Commands {
		path := c.Argv[0]
		if f.copies[path] {
			continue
		}
		f.copies[path] = f.cfg.Preload || slices.Contains(f.cfg.Copies, path)
		if dir := exposedDir(path); dir != "" && !f.copies[path] {
			f.copies[path] = true
			f.job.Detail("every user can write %s, so %s may be another program on other machines: copying it", dir, path)
		}
	}
}

// commandsOf are those of the ranks of m.
func (f *cluster) commandsOf(m *machine) []boot.Command {
	cmds := slices.Clone(f.job.Spec().Commands)
	if cmds[0].N == 0 { // the only one
		cmds[0].N = f.size
	}
	return commandsOf(cmds, m.first, m.count)
}

// programFor says what the machines may run as golci. A path that the user has named is not checked. The path of this
// program is offered with its digest, unless other users may have been there first; then only a copy is offered.
func programFor(r *Config) (program, error) {
	if r.Helper != "" {
		return program{path: r.Helper}, nil
	}
	src, err := os.Open(r.Self)
	if err != nil {
		return program{}, err
	}
	defer src.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, src)
	if err != nil {
		return program{}, err
	}
	p := program{path: r.Self, sum: hex.EncodeToString(sum.Sum(nil)), size: size}
	if exposedDir(r.Self) != "" {
		p.path = ""
	}
	return p, nil
}

// Gather starts a helper on each machine, waits until all have called back, and deals the ranks out.
func (f *cluster) Gather(j *launch.Job) (p launch.Places, err error) {
	f.muster(j)
	if f.keys, err = ticketKeys(boot.NewKey(), len(f.all)); err != nil {
		return p, err
	}
	for _, key := range f.keys {
		id, err := newIdentity(key)
		if err != nil {
			return p, err
		}
		f.ids = append(f.ids, id)
	}
	if f.listen, err = net.Listen("tcp", f.cfg.Listen); err != nil {
		return p, err
	}
	f.wg.Go(func() {
		f.door.Accept(f.listen, func(c net.Conn) { f.wg.Go(func() { f.greetCaller(c) }) })
	})
	if f.at, err = headAddrs(f.listen.Addr()); err != nil {
		return p, err
	}
	for i := range f.machines {
		if err := f.callMachine(i); err != nil {
			return p, err
		}
	}
	if err := f.assemble(); err != nil {
		return p, err
	}
	f.closeCalls()
	return f.dealRanks()
}

// startSteps is the number of beats of this process's clock in which the time for the helpers is measured. So a head
// that was itself stopped meanwhile still gives them some time.
const startSteps = 20

func (f *cluster) assemble() error {
	limit := time.NewTicker(max(f.cfg.Start/startSteps, 1))
	defer limit.Stop()
	for here, steps := 0, 0; here < len(f.machines); {
		select {
		case a := <-f.calls:
			m := f.machines[a.host]
			if m.link != nil {
				a.link.closeLink()
				continue
			}
			m.link, m.cores = a.link, a.hello.Cores
			if m.complaints != nil {
				m.complaints.showThrough(os.Stderr)
			}
			here++
			f.job.Detail("%s: golci is there, process %d, %d cores", m.host.Name, a.hello.PID, a.hello.Cores)
		case t := <-f.missing:
			if f.callAgain(t) {
				continue
			}
			return fmt.Errorf("host %s: %w", f.machines[t.host].host.Name, t.err)
		case i := <-f.retries:
			if err := f.recallMachine(i); err != nil {
				return err
			}
			steps = 0 // the machine's time to answer begins anew
		case sig := <-f.job.Spec().Signals:
			if s, ok := sig.(syscall.Signal); ok && launch.EndsJob(s) {
				return launch.StartError{Code: 128 + int(s), Err: fmt.Errorf("%s while the hosts were being reached", launch.SignalName(s))}
			}
		case <-limit.C:
			if steps++; steps < startSteps {
				continue
			}
			return fmt.Errorf("no answer within %v from %s", f.cfg.Start, f.absentNames())
		}
	}
	return nil
}

// absentNames names some of the machines that have not called back.
func (f *cluster) absentNames() string {
	const most = 8
	var names []string
	for _, m := range f.machines {
		if m.link == nil {
			names = append(names, m.host.Name)
		}
	}
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// dealRanks fills the machines with ranks, in their order. Those that get none are let go.
func (f *cluster) dealRanks() (p launch.Places, err error) {
	slots := make([]int, len(f.machines))
	for i, m := range f.machines {
		if slots[i] = m.host.Slots; slots[i] == 0 {
			slots[i] = m.cores
		}
	}
	counts, err := dealRanks(slots, f.job.Spec().Ranks())
	if err != nil {
		return p, launch.StartError{Code: 2, Err: err}
	}
	names := []string{}
	for i, m := range f.machines {
		m.first, m.count = f.size, counts[i]
		if m.count == 0 {
			f.machines = f.all[:i] // machines are filled in order: those that follow are empty, too
			atOnce(f.all[i:], (*machine).releaseHelper)
			break
		}
		f.size += m.count
		p.Nodes = append(p.Nodes, m.count)
		for range m.count {
			names = append(names, m.host.Name)
		}
	}
	p.Name = func(rank int) string { return fmt.Sprintf("rank %d on %s", rank, names[rank]) }
	return p, nil
}

// Start gives every helper its task. Later failures there are reported to the job.
func (f *cluster) Start() error {
	for _, m := range f.machines {
		if err := m.makeTables(); err != nil {
			return err
		}
	}
	if err := f.preload(); err != nil {
		return err
	}
	for _, m := range f.machines {
		t := m.task()
		if err := sendTask(&t, func(last int, piece []byte) { m.link.sendFrame(frameStart, last, piece) }); err != nil {
			return fmt.Errorf("host %s: %w", m.host.Name, err)
		}
	}
	if in := f.job.Spec().Stdin; in != nil && !f.machines[0].inherits() {
		go f.machines[0].feedInput(in)
	}
	return nil
}

func (f *cluster) preload() error {
	errs := make([]error, len(f.machines))
	atOnce(f.machines, func(m *machine) {
		if err := m.preload(); err != nil {
			errs[m.index] = fmt.Errorf("host %s: %w", m.host.Name, err)
		}
	})
	return errors.Join(errs...)
}

func (f *cluster) Kill(sig syscall.Signal) {
	for _, m := range f.machines {
		m.kill(sig)
	}
}

func (f *cluster) Pause() {
	for _, m := range f.machines {
		m.link.sendFrame(framePause, 0, nil)
	}
	for _, m := range f.machines {
		m.link.flushQueue(time.Second)
	}
}

// closeCalls takes no more calls: all helpers are there, or the job is over.
func (f *cluster) closeCalls() {
	f.door.Close()
	if f.listen != nil {
		f.listen.Close()
	}
}

func (f *cluster) End() {
	f.closeCalls()
	atOnce(f.machines, (*machine).releaseHelper)
	f.wg.Wait()
	for {
		select {
		case a := <-f.calls: // it came when nobody waited any more
			a.link.closeLink()
		default:
			return
		}
	}
}

func atOnce(machines []*machine, f func(*machine)) {
	var wg sync.WaitGroup
	for _, m := range machines {
		wg.Go(func() { f(m) })
	}
	wg.Wait()
}

// earlyMost bounds the connections that have not proved anything yet, so that strangers cannot exhaust the head.
const earlyMost = 2 * MaxHosts

// greetCaller finds out which machine calls. A stranger learns only that a program listens.
func (f *cluster) greetCaller(raw net.Conn) {
	c, host, err := admitHelper(raw, f.ids)
	if kept := f.door.Leave(raw); err != nil || !kept {
		raw.Close()
		return
	}
	l := newLink(c, f.cfg.Silence)
	f.all[host].listenTo(l)
}

// headAddrs lists the addresses at which helpers try to find the head: the listener's, or all of this machine's.
func headAddrs(a net.Addr) ([]string, error) {
	at, ok := a.(*net.TCPAddr)
	if !ok {
		return nil, fmt.Errorf("listening at %v", a)
	}
	if !at.IP.IsUnspecified() {
		return []string{at.String()}, nil
	}
	host, err := addrs.Up()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, a := range addrs.List(host, true) {
		out = append(out, netip.AddrPortFrom(a, uint16(at.Port)).String())
	}
	if name, err := os.Hostname(); err == nil {
		out = append(out, net.JoinHostPort(name, fmt.Sprint(at.Port)))
	}
	return out, nil
}
