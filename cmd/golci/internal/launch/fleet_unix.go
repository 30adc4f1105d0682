//go:build unix

package launch

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/golci/golci/internal/addrs"
	"github.com/golci/golci/internal/authconn"
	"github.com/golci/golci/internal/boot"
)

// fleet is the team of a job on several machines: a helper on each, which calls the head back.
type fleet struct {
	job  *job
	spec *Spec
	all  []*far // the machines to reach; never changed
	far  []*far // those with ranks; only the goroutine of Run touches it
	mark string // of the lines of the script

	listen net.Listener         // nil before gather
	keys   [][]byte             // of the tickets, by machine
	ids    []*authconn.Identity // by machine

	copies  bool                    // the machines get a copy of the program
	program func() (program, error) // what the machines may run as golci; the first call finds out

	calls  chan arrival   // helpers that have called back
	broken chan trouble   // machines that have not come so far
	door   *authconn.Door // shut when no more are taken
	wg     sync.WaitGroup
}

type arrival struct {
	host  int
	link  *link
	hello greeting
}

type trouble struct {
	host int
	err  error
}

func newFleet(j *job) *fleet {
	f := &fleet{
		job: j, spec: j.spec, mark: boot.IDFromKey(boot.NewKey()),
		copies: j.spec.Far.Preload, door: authconn.NewDoor(earlyMost),
	}
	if dir := exposed(f.spec.Argv[0]); dir != "" && !f.copies {
		f.copies = true
		j.detail("every user can write %s, so %s may be another program on other machines: copying it", dir, f.spec.Argv[0])
	}
	f.program = sync.OnceValues(func() (program, error) { return programFor(&j.spec.Far) })
	for i, h := range needed(j.spec.Hosts, j.spec.Ranks) {
		f.far = append(f.far, &far{
			fleet: f, index: i, host: h, guard: j.spec.Guard, ended: make(chan struct{}), ready: make(chan struct{}),
			inOK: make(chan bool, 1), fileOK: make(chan struct{}, 1),
		})
	}
	f.all = f.far
	f.calls = make(chan arrival, len(f.far))
	f.broken = make(chan trouble, 3*len(f.far)) // its conversation, its remote shell, its connection
	return f
}

// programFor says what the machines may run as golci. A path that the user has named is not checked. The path of this
// program is offered with its digest, unless other users may have been there first; then only a copy is offered.
func programFor(r *Far) (program, error) {
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
	if exposed(r.Self) != "" {
		p.path = ""
	}
	return p, nil
}

// gather starts a helper on each machine, waits until all have called back, and deals the ranks out.
func (f *fleet) gather() (places, error) {
	var err error
	if f.keys, err = ticketKeys(boot.NewKey(), len(f.all)); err != nil {
		return places{}, err
	}
	for _, key := range f.keys {
		id, err := newIdentity(key)
		if err != nil {
			return places{}, err
		}
		f.ids = append(f.ids, id)
	}
	if f.listen, err = net.Listen("tcp", f.spec.Far.Listen); err != nil {
		return places{}, err
	}
	f.wg.Go(func() {
		f.door.Accept(f.listen, func(c net.Conn) { f.wg.Go(func() { f.greet(c) }) })
	})
	at, err := headAddrs(f.listen.Addr())
	if err != nil {
		return places{}, err
	}
	for i, m := range f.far {
		if err := m.launch(); err != nil {
			return places{}, fmt.Errorf("host %s: %w", m.host.Name, err)
		}
		t := &ticket{
			Protocol: protocol, Host: i, Name: m.host.Name, Addrs: at, Key: f.keys[i],
			Silence: f.spec.Far.Silence,
		}
		invited := make(chan struct{})
		f.wg.Go(func() {
			defer close(invited)
			if err := m.invite(t); err != nil && !errors.Is(err, errShell) {
				f.broken <- trouble{i, err}
			}
		})
		go func() {
			<-m.ended
			select {
			case <-invited: // which may know more
			case <-time.After(byeTime):
			}
			f.broken <- trouble{i, m.shellEnd()}
		}()
	}
	if err := f.assemble(); err != nil {
		return places{}, err
	}
	f.close()
	return f.deal()
}

// startSteps is the number of beats of this process's clock in which the time for the helpers is measured. So a head
// that was itself stopped meanwhile still gives them some time.
const startSteps = 20

// assemble waits for all helpers.
func (f *fleet) assemble() error {
	limit := time.NewTicker(max(f.spec.Far.Start/startSteps, 1))
	defer limit.Stop()
	for here, steps := 0, 0; here < len(f.far); {
		select {
		case a := <-f.calls:
			m := f.far[a.host]
			if m.link != nil {
				a.link.close()
				continue
			}
			m.link, m.cores = a.link, a.hello.Cores
			here++
			f.job.detail("%s: golci is there, process %d, %d cores", m.host.Name, a.hello.PID, a.hello.Cores)
		case t := <-f.broken:
			return fmt.Errorf("host %s: %w", f.far[t.host].host.Name, t.err)
		case sig := <-f.spec.Signals:
			if s, ok := sig.(syscall.Signal); ok && EndsJob(s) {
				return startError{128 + int(s), fmt.Errorf("%s while the hosts were being reached", signalName(s))}
			}
		case <-limit.C:
			if steps++; steps < startSteps {
				continue
			}
			return fmt.Errorf("no answer within %v from %s", f.spec.Far.Start, f.absent())
		}
	}
	return nil
}

// absent names the machines that have not called back.
func (f *fleet) absent() string {
	var names []string
	for _, m := range f.far {
		if m.link == nil {
			names = append(names, m.host.Name)
		}
	}
	return list(names)
}

// deal fills the machines with ranks, in their order. Those that get none are let go.
func (f *fleet) deal() (places, error) {
	slots := make([]int, len(f.far))
	for i, m := range f.far {
		if slots[i] = m.host.Slots; slots[i] == 0 {
			slots[i] = m.cores
		}
	}
	counts, err := dealRanks(slots, f.spec.Ranks)
	if err != nil {
		return places{}, startError{2, err}
	}
	var p places
	names := []string{}
	for i, m := range f.far {
		m.first, m.count = p.size, counts[i]
		if m.count == 0 {
			f.far = f.all[:i] // machines are filled in order: those that follow are empty, too
			releaseAll(f.all[i:])
			break
		}
		p.size += m.count
		p.nodes = append(p.nodes, m.count)
		for range m.count {
			names = append(names, m.host.Name)
		}
	}
	p.name = func(rank int) string { return fmt.Sprintf("rank %d on %s", rank, names[rank]) }
	return p, nil
}

// start gives every helper its task. Later failures there are reported to the job.
func (f *fleet) start(j *job) error {
	for _, m := range f.far {
		m.prepare()
	}
	if err := f.preload(); err != nil {
		return err
	}
	for _, m := range f.far {
		m.link.send(frameStart, 0, encode(m.task()))
	}
	if j.spec.Stdin != nil {
		go f.far[0].feed(j.spec.Stdin)
	}
	return nil
}

// preload copies the program to all machines at once.
func (f *fleet) preload() error {
	errs := make([]error, len(f.far))
	var wg sync.WaitGroup
	for i, m := range f.far {
		wg.Go(func() {
			if err := m.preload(); err != nil {
				errs[i] = fmt.Errorf("host %s: %w", m.host.Name, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (f *fleet) kill(sig syscall.Signal) {
	for _, m := range f.far {
		m.kill(sig)
	}
}

func (f *fleet) pause() {
	for _, m := range f.far {
		m.link.send(framePause, 0, nil)
	}
	for _, m := range f.far {
		m.link.flush(time.Second)
	}
}

// close takes no more calls: all helpers are there, or the job is over.
func (f *fleet) close() {
	f.door.Close()
	if f.listen != nil {
		f.listen.Close()
	}
}

func (f *fleet) end() {
	f.close()
	releaseAll(f.far)
	f.wg.Wait()
	for {
		select {
		case a := <-f.calls: // it came when nobody waited any more
			a.link.close()
		default:
			return
		}
	}
}

func releaseAll(machines []*far) {
	var wg sync.WaitGroup
	for _, m := range machines {
		wg.Go(m.release)
	}
	wg.Wait()
}

// earlyMost bounds the connections that have not proved anything yet, so that strangers cannot exhaust the head.
const earlyMost = 2 * maxHosts

// greet finds out which machine calls. A stranger learns only that a program listens.
func (f *fleet) greet(raw net.Conn) {
	c, host, err := admit(raw, f.ids)
	if kept := f.door.Leave(raw); err != nil || !kept {
		raw.Close()
		return
	}
	l := newLink(c, f.spec.Far.Silence)
	f.all[host].listen(l)
}

// headAddrs lists the addresses at which the helpers try to find the head: that of the listener, or all of this
// machine's.
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

// list writes at most a few names.
func list(names []string) string {
	const most = 8
	text := ""
	for i, n := range names {
		if i == most {
			return fmt.Sprintf("%s and %d more", text, len(names)-most)
		}
		if i > 0 {
			text += ", "
		}
		text += n
	}
	return text
}
