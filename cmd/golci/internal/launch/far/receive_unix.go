//go:build unix

package far

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/cmd/golci/internal/launch"
	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/job/boot/pmi"
)

var errFirst = errors.New("the first word is no greeting")

// listenTo reads the frames of the helper, from its greeting to its end. It runs in a goroutine of the cluster.
func (m *machine) listenTo(l *link) {
	greeted := false
	why := l.readFrames(func(in frame) error {
		if greeted {
			return m.takeFrame(in)
		}
		var g greeting
		if in.kind != frameHello || json.Unmarshal(in.data, &g) != nil || g.Cores < 1 {
			return errFirst
		}
		greeted = true
		m.cluster.calls <- arrival{m.index, l, g}
		return nil
	})
	if !greeted {
		l.closeLink()
		return
	}
	m.hangUp(why)
}

// makeTables makes the tables of the ranks; the helper has nothing to say of them before its task.
func (m *machine) makeTables() error {
	m.conns = make([]*conn, m.count)
	m.takes = make(chan outputItem, (streams+1)*m.count) // a piece of each stream, and the end
	j := m.cluster.job
	for i := range m.count {
		rank := m.first + i
		m.conns[i] = newConn(m.link, rank)
		j.Attach(rank, m.conns[i])
		for stream := 1; stream < streamPart; stream++ {
			s, err := j.Output(rank, stream)
			if err != nil {
				return fmt.Errorf("rank %d on %s: %w", rank, m.host.Name, err)
			}
			m.sinks = append(m.sinks, s)
		}
		m.sinks = append(m.sinks, j.Part(rank))
	}
	close(m.ready)
	m.cluster.wg.Go(m.writeOutput)
	m.cluster.wg.Go(func() {
		select {
		case <-m.ended:
			m.loseMachine(m.shellEnd())
		case <-m.link.gone: // perhaps before the tables were there
			m.loseMachine(m.link.reason())
		}
	})
	return nil
}

// takeFrame takes one frame from the helper. It checks everything in it: the helper may be on a faulty machine.
func (m *machine) takeFrame(in frame) error {
	select {
	case <-m.ready:
	default:
		return fmt.Errorf("%w: kind %d before its task", errFrame, in.kind)
	}
	local := in.num - m.first
	known := local >= 0 && local < m.count
	switch {
	case in.kind == frameNote:
		m.cluster.job.Detail("%s: %s", m.host.Name, in.data)
	case in.kind == frameFailed:
		return fmt.Errorf("%w: %s", errTask, in.data)
	case in.kind == frameFileOK:
		signal(m.fileOK, struct{}{})
	case in.kind == frameInOK:
		signal(m.inOK, in.num == 0)
	case in.kind == framePMI && known:
		return m.conns[local].feedBytes(in.data)
	case in.kind == framePMIEnd && known:
		m.conns[local].endConn()
	case in.kind == frameOut && known && len(in.data) > 1 && m.takesStream(in.data[0]):
		return m.queueOutput(outputItem{rank: in.num, stream: int(in.data[0]), data: in.data[1:]})
	case in.kind == frameExit && known:
		return m.rankExited(in)
	default:
		return fmt.Errorf("%w: kind %d, number %d", errFrame, in.kind, in.num)
	}
	return nil
}

// takesStream tells whether a rank may send on that stream.
func (m *machine) takesStream(stream byte) bool {
	return stream >= 1 && stream <= streams && (stream != streamPart || m.cluster.job.Spec().Parts != "")
}

var errTask = errors.New("cannot start the ranks")

// signal puts v into a channel with one place, which is free by the protocol.
func signal[T any](c chan T, v T) {
	select {
	case c <- v:
	default:
	}
}

// queueOutput hands something to output, without waiting: there is room for all that the protocol allows.
func (m *machine) queueOutput(t outputItem) error {
	select {
	case m.takes <- t:
		return nil
	default:
		return fmt.Errorf("%w: rank %d writes without being asked", errFrame, t.rank)
	}
}

func (m *machine) rankExited(in frame) error {
	var e exitNote
	if err := json.Unmarshal(in.data, &e); err != nil {
		return fmt.Errorf("%w: %w", errFrame, err)
	}
	m.conns[in.num-m.first].endConn()
	st := launch.Status{Code: e.Code, Signal: unix.SignalNum(e.Signal), Core: e.Core, Own: e.Own}
	if e.Signal != "" && st.Signal == 0 { // one that is not known here
		st.Code = 1
	}
	return m.queueOutput(outputItem{rank: in.num, status: st})
}

// writeOutput is the goroutine that writes the output of the ranks, and then reports their ends.
func (m *machine) writeOutput() {
	for {
		select {
		case t := <-m.takes:
			m.writeTaken(t)
		case <-m.link.gone:
			m.drainOutput()
			return
		}
	}
}

// drainOutput writes the output that came before the end of the link, and ends the streams.
func (m *machine) drainOutput() {
	for len(m.takes) > 0 { // nobody but output takes from it
		m.writeTaken(<-m.takes)
	}
	for _, s := range m.sinks {
		s.Done()
	}
}

func (m *machine) writeTaken(t outputItem) {
	local := t.rank - m.first
	if t.stream > 0 {
		_, _ = m.sinks[streams*local+t.stream-1].To.Write(t.data) // if nobody takes it the rank is not to notice
		m.link.sendFrame(frameOutOK, t.rank, []byte{byte(t.stream)})
		return
	}
	for _, s := range m.sinks[streams*local : streams*(local+1)] {
		s.Done()
	}
	j := m.cluster.job
	select {
	case <-j.Drained(t.rank): // what it has said last, an abort or a finalize, counts before its exit
	case <-j.Over():
	}
	j.Ended(t.rank, t.status)
}

func (m *machine) hangUp(why error) {
	select {
	case <-m.ready:
	default:
		m.cluster.missing <- machineError{m.index, fmt.Errorf("its connection has ended: %w", why)}
		return
	}
	m.loseMachine(why)
}

var errHelper = errors.New("golci there has ended")

// loseMachine reports the loss of the machine, once; while the job ends nobody listens.
func (m *machine) loseMachine(why error) {
	m.once.Do(func() {
		for _, c := range m.conns {
			c.endConn()
		}
		var ranks []int
		for r := range m.count {
			ranks = append(ranks, m.first+r)
		}
		if errors.Is(why, io.EOF) || errors.Is(why, unix.ECONNRESET) {
			why = errHelper
		}
		code := 1
		text := fmt.Sprintf("host %s is lost with rank(s) %s: %v", m.host.Name,
			pmi.FormatRanks(ranks, pmi.SafeValue), why)
		if errors.Is(why, errTask) {
			code, text = launch.NotStarted, fmt.Sprintf("host %s: %v", m.host.Name, why)
		}
		m.link.failLink(why)
		m.cluster.job.Lost(text, code, ranks)
	})
}

func (m *machine) task() task {
	s := m.cluster.job.Spec()
	dir, _ := os.Getwd() // "" if there is none any more
	cmds := m.cluster.commandsOf(m)
	return task{
		First: m.first, Size: m.cluster.size, Commands: taskCommands(cmds, m.copied(cmds)),
		Env: append(passedEnv(os.Environ()), s.Env...), Dir: dir, Bind: s.Bind,
		JobID: m.cluster.job.ID(), Here: m.host.isLocal(), Parts: s.Parts != "",
	}
}

// copied lists the programs that the machine gets a copy of.
func (m *machine) copied(cmds []boot.Command) []string {
	if m.host.isLocal() {
		return nil
	}
	return copiedPrograms(cmds, m.cluster.copies)
}

// preload sends the programs.
func (m *machine) preload() error {
	for i, path := range m.copied(m.cluster.commandsOf(m)) {
		if err := m.sendProgram(i+1, path); err != nil {
			return err
		}
	}
	return nil
}

// sendProgram sends a program, a piece at a time, so that the connection stays free for the rest.
func (m *machine) sendProgram(number int, path string) error {
	src, err := os.Open(path)
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
		m.link.sendFrame(frameFile, number, buf[:n])
		select {
		case <-m.fileOK:
		case <-m.link.gone:
			return fmt.Errorf("its connection has ended: %w", m.link.reason())
		case <-time.After(m.cluster.cfg.Start):
			return fmt.Errorf("it has not taken the program within %v", m.cluster.cfg.Start)
		}
		if err != nil {
			return nil
		}
	}
}

// feedInput passes the standard input on to rank 0, a piece at a time. It may wait for input to the end of the process.
func (m *machine) feedInput(src *os.File) {
	buf := make([]byte, chunk)
	for {
		n, err := src.Read(buf)
		if n > 0 {
			m.link.sendFrame(frameIn, 0, buf[:n])
			select {
			case more := <-m.inOK:
				if !more {
					return
				}
			case <-m.link.gone:
				return
			}
		}
		if err != nil {
			m.link.sendFrame(frameIn, 0, nil)
			return
		}
	}
}
