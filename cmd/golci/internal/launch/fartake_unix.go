//go:build unix

package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/internal/boot"
	"github.com/golci/golci/internal/boot/pmi"
)

var errFirst = errors.New("the first word is no greeting")

// listen reads the frames of the helper, from its greeting to its end. It runs in a goroutine of the fleet.
func (f *far) listen(l *link) {
	greeted := false
	why := l.read(func(m frame) error {
		if greeted {
			return f.take(m)
		}
		var g greeting
		if m.kind != frameHello || json.Unmarshal(m.data, &g) != nil || g.Cores < 1 {
			return errFirst
		}
		greeted = true
		f.fleet.calls <- arrival{f.index, l, g}
		return nil
	})
	if !greeted {
		l.close()
		return
	}
	f.hangUp(why)
}

// prepare makes the tables of the ranks; the helper has nothing to say of them before its task.
func (f *far) prepare() {
	f.conns = make([]*farConn, f.count)
	f.takes = make(chan taken, 3*f.count) // a piece of each stream, and the end
	for i := range f.count {
		rank := f.first + i
		f.conns[i] = newFarConn(f.link, rank)
		f.fleet.job.srv.Attach(rank, f.conns[i])
		f.sinks = append(f.sinks, f.fleet.job.sink(rank, 1), f.fleet.job.sink(rank, 2))
	}
	close(f.ready)
	f.fleet.wg.Go(f.output)
	f.fleet.wg.Go(func() {
		select {
		case <-f.ended:
			f.lose(f.shellEnd())
		case <-f.link.gone: // perhaps before the tables were there
			f.lose(f.link.reason())
		}
	})
}

// take takes one frame from the helper. It checks everything in it: the helper may be on a faulty machine.
func (f *far) take(m frame) error {
	select {
	case <-f.ready:
	default:
		return fmt.Errorf("%w: kind %d before its task", errFrame, m.kind)
	}
	local := m.num - f.first
	known := local >= 0 && local < f.count
	switch {
	case m.kind == frameNote:
		f.fleet.job.detail("%s: %s", f.host.Name, m.data)
	case m.kind == frameFailed:
		return fmt.Errorf("%w: %s", errTask, m.data)
	case m.kind == frameFileOK:
		signal(f.fileOK, struct{}{})
	case m.kind == frameInOK:
		signal(f.inOK, m.num == 0)
	case m.kind == framePMI && known:
		return f.conns[local].feed(m.data)
	case m.kind == framePMIEnd && known:
		f.conns[local].end()
	case m.kind == frameOut && known && len(m.data) > 1 && (m.data[0] == 1 || m.data[0] == 2):
		return f.queue(taken{rank: m.num, stream: int(m.data[0]), data: m.data[1:]})
	case m.kind == frameExit && known:
		return f.exited(m)
	default:
		return fmt.Errorf("%w: kind %d, number %d", errFrame, m.kind, m.num)
	}
	return nil
}

// errTask: the helper could not start its ranks.
var errTask = errors.New("cannot start the ranks")

// signal puts v into a channel with one place, which is free by the protocol.
func signal[T any](c chan T, v T) {
	select {
	case c <- v:
	default:
	}
}

// queue hands something to output, without waiting: there is room for all that the protocol allows.
func (f *far) queue(t taken) error {
	select {
	case f.takes <- t:
		return nil
	default:
		return fmt.Errorf("%w: rank %d writes without being asked", errFrame, t.rank)
	}
}

func (f *far) exited(m frame) error {
	var e exitNote
	if err := json.Unmarshal(m.data, &e); err != nil {
		return fmt.Errorf("%w: %w", errFrame, err)
	}
	f.conns[m.num-f.first].end()
	st := status{code: e.Code, signal: unix.SignalNum(e.Signal), core: e.Core}
	if e.Signal != "" && st.signal == 0 { // one that is not known here
		st.code = 1
	}
	return f.queue(taken{rank: m.num, status: st})
}

// output is the goroutine that writes the output of the ranks, and then reports their ends.
func (f *far) output() {
	for {
		select {
		case t := <-f.takes:
			f.write(t)
			continue
		default:
		}
		select {
		case t := <-f.takes:
			f.write(t)
		case <-f.link.gone:
			f.drain()
			return
		}
	}
}

// drain writes the output that came before the end of the link, and ends the streams.
func (f *far) drain() {
	for {
		select {
		case t := <-f.takes:
			f.write(t)
			continue
		default:
		}
		break
	}
	for _, s := range f.sinks {
		if s.done != nil {
			_ = s.done()
		}
	}
}

func (f *far) write(t taken) {
	local := t.rank - f.first
	if t.stream > 0 {
		_, _ = f.sinks[2*local+t.stream-1].to.Write(t.data) // if nobody takes it the rank is not to notice
		f.link.send(frameOutOK, t.rank, []byte{byte(t.stream)})
		return
	}
	for _, s := range f.sinks[2*local : 2*local+2] {
		if s.done != nil {
			_ = s.done()
		}
	}
	j := f.fleet.job
	select {
	case <-j.heard[t.rank]: // what it has said last, an abort or a finalize, counts before its exit
	case <-j.over:
	}
	select {
	case j.exits <- ended{t.rank, t.status}:
	case <-j.over:
	}
}

// hangUp is called when the link has ended.
func (f *far) hangUp(why error) {
	select {
	case <-f.ready:
	default:
		f.fleet.broken <- trouble{f.index, fmt.Errorf("its connection has ended: %w", why)}
		return
	}
	f.lose(why)
}

// errHelper: the connection was closed from the other side.
var errHelper = errors.New("golci there has ended")

// lose reports the loss of the machine, once; while the job ends nobody listens.
func (f *far) lose(why error) {
	f.once.Do(func() {
		for _, c := range f.conns {
			c.end()
		}
		var ranks []int
		for r := range f.count {
			ranks = append(ranks, f.first+r)
		}
		l := loss{code: 1, ranks: ranks}
		switch {
		case errors.Is(why, errTask):
			l.code, l.text = codeOf(why), fmt.Sprintf("host %s: %v", f.host.Name, why)
		default:
			l.text = fmt.Sprintf("host %s is lost with rank(s) %s: %v", f.host.Name, pmi.FormatRanks(ranks, pmi.SafeValue), plainly(why))
		}
		f.link.fail(why)
		f.fleet.job.losses <- l
	})
}

// plainly puts the end of a connection in words.
func plainly(why error) error {
	if errors.Is(why, io.EOF) || errors.Is(why, unix.ECONNRESET) {
		return errHelper
	}
	return why
}

// task makes the task of the helper.
func (f *far) task() task {
	s := f.fleet.spec
	t := task{
		First: f.first, Count: f.count, Size: f.fleet.job.places.size, Argv: append([]string{}, s.Argv...),
		Env: append(cleanEnv(passedEnv(os.Environ())), s.Env...), Dir: workingDir(), Bind: s.Bind,
		JobID: boot.IDFromKey(f.fleet.job.key), Here: f.host.local(),
	}
	if f.preloads() {
		t.Base, t.Argv[0] = filepath.Base(t.Argv[0]), ""
	}
	return t
}

// preloads says whether the machine gets a copy of the program.
func (f *far) preloads() bool { return f.fleet.copies && !f.host.local() }

// preload sends the program, a piece at a time, so that the connection stays free for the rest.
func (f *far) preload() error {
	if !f.preloads() {
		return nil
	}
	src, err := os.Open(f.fleet.spec.Argv[0])
	if err != nil {
		return err
	}
	defer src.Close()
	buf := make([]byte, maxPayload)
	for {
		n, err := io.ReadFull(src, buf)
		if n == 0 {
			return nil // the end, or what cannot be read: the task then fails there
		}
		f.link.send(frameFile, 0, buf[:n])
		select {
		case <-f.fileOK:
		case <-f.link.gone:
			return fmt.Errorf("its connection has ended: %w", f.link.reason())
		case <-time.After(f.fleet.spec.Far.Start):
			return fmt.Errorf("it has not taken the program within %v", f.fleet.spec.Far.Start)
		}
		if err != nil {
			return nil
		}
	}
}

// feed passes the standard input on to rank 0, a piece at a time. It may be left waiting for input at the end of the
// process.
func (f *far) feed(src *os.File) {
	buf := make([]byte, chunk)
	for {
		n, err := src.Read(buf)
		if n > 0 {
			f.link.send(frameIn, 0, buf[:n])
			select {
			case more := <-f.inOK:
				if !more {
					return
				}
			case <-f.link.gone:
				return
			}
		}
		if err != nil {
			f.link.send(frameIn, 0, nil)
			return
		}
	}
}
