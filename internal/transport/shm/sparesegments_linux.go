package shm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/job/authconn"
	"github.com/golci/golci/internal/transport/ring"
)

// A job may have room for ranks that start later. Their segments are there from the beginning, in one more memfd, the
// annex, so that no rank's way to another one ever changes. The job's first rank makes it, and each rank keeps it open.
// A late rank calls all ranks that have started before, as in the exchange. It gets their memory and the annex. A rank
// that nobody answers for has ended.
//
// An answer to a late rank is in three packets: the answering rank's own memory (none from a late one), the annex, and
// the word that the answering rank has noted the newcomer.

// memory is what a rank has of the segments.
type memory struct {
	own           *os.File // this rank's memfd; nil for a late rank
	mine          *mapping // of own
	spareSegments *os.File // the segments of the late ranks; nil without room, and until it has come
	shared        *mapping // of annex
	listener      *net.UnixListener
}

// makeMemory makes this rank's segment, and the annex if this is the rank that makes it.
func (x *exchange) makeMemory() (err error) {
	if x.cfg.late(x.cfg.Rank) {
		return nil
	}
	if x.own, x.mine, err = newMemory(x.cfg.Rank, x.g.Size()); err != nil {
		return err
	}
	if _, err = ring.NewSegment(x.mine.mem, x.g, x.cfg.Rank); err == nil && x.cfg.hasLateRoom() && x.cfg.Rank == 0 {
		err = x.makeSpareSegments()
	}
	if err != nil {
		x.dropMappings()
	}
	return err
}

func (x *exchange) makeSpareSegments() (err error) {
	if x.spareSegments, x.shared, err = newMemory(x.cfg.Rank, x.spareSegmentsSize()); err != nil {
		return fmt.Errorf("shm: memory for %d more ranks: %w", x.cfg.Size-x.cfg.Late, err)
	}
	for r := x.cfg.Late; r < x.cfg.Size && err == nil; r++ {
		_, err = ring.NewSegment(x.annexed(r), x.g, r)
	}
	return err
}

func newMemory(rank, size int) (*os.File, *mapping, error) {
	f, err := createMemory(rank, size)
	if err != nil {
		return nil, nil, err
	}
	m, err := mapMemory(f, size)
	if err != nil {
		return nil, nil, closing(f, err)
	}
	return f, m, nil
}

func (x *exchange) spareSegmentsSize() int { return (x.cfg.Size - x.cfg.Late) * x.g.Size() }

// annexed is the segment of a late rank.
func (x *exchange) annexed(rank int) []byte {
	at := (rank - x.cfg.Late) * x.g.Size()
	return x.shared.mem[at:][:x.g.Size():x.g.Size()]
}

// segment is that of a rank, which l leads to if it is another one that has started with the job.
func (x *exchange) segment(rank int, l *link) (*ring.Segment, error) {
	switch {
	case x.cfg.late(rank):
		return ring.AttachSegment(x.annexed(rank), x.g, rank)
	case rank == x.cfg.Rank:
		return ring.AttachSegment(x.mine.mem, x.g, rank)
	case l == nil: // it has ended: what is sent to it goes nowhere
		return ring.NewSegment(x.nowhere(), x.g, rank)
	}
	return ring.AttachSegment(l.mem.mem, x.g, rank)
}

// nowhere is memory of the size of a segment that nobody reads.
func (x *exchange) nowhere() []byte { return make([]byte, x.g.Size()) }

// mappings are all that the end has to give back.
func (x *exchange) mappings(links map[int]*link) (all []*mapping) {
	for _, m := range []*mapping{x.mine, x.shared} {
		if m != nil {
			all = append(all, m)
		}
	}
	for _, l := range links {
		if l.mem != nil {
			all = append(all, l.mem)
		}
	}
	x.mine, x.shared = nil, nil
	return all
}

// releaseFiles closes what the end has not taken over.
func (x *exchange) releaseFiles() {
	closeFiles(x.own, x.spareSegments)
	if x.listener != nil {
		_ = x.listener.Close() // nobody calls
	}
	x.dropMappings()
}

// dropMappings gives mappings back that nobody uses.
func (x *exchange) dropMappings() {
	for _, m := range []*mapping{x.mine, x.shared} {
		if m != nil {
			m.unmap()
		}
	}
	x.mine, x.shared = nil, nil
}

// swapSpareSegments hands the annex from the rank that makes it to the others that start with the job.
func (x *exchange) swapSpareSegments(c *net.UnixConn, peer int) error {
	switch {
	case !x.cfg.hasLateRoom():
		return nil
	case x.cfg.Rank == 0:
		return sendPacket(c, []byte{1}, x.spareSegments)
	case peer == 0:
		return x.takeSpareSegments(c, peer)
	}
	return nil
}

// takeSpareSegments receives the annex. The first one counts: all are the same.
func (x *exchange) takeSpareSegments(c *net.UnixConn, peer int) error {
	_, f, err := receivePacket(c)
	if err == nil && f == nil {
		err = fmt.Errorf("rank %d sent no memory of late ranks", peer)
	}
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.spareSegments != nil {
		closeFiles(f)
		return nil
	}
	m, err := mapMemory(f, x.spareSegmentsSize())
	if err != nil {
		return closing(f, fmt.Errorf("shm: rank %d: memory of late ranks: %w", x.cfg.Rank, err))
	}
	x.spareSegments, x.shared = f, m
	return nil
}

// enterLate is a late rank's part in the meeting with a rank that has been there before.
func (x *exchange) enterLate(l *link) error {
	_, f, err := receivePacket(l.conn)
	if err != nil {
		return err
	}
	if !x.cfg.late(l.rank) {
		if f == nil {
			return fmt.Errorf("rank %d sent no memory", l.rank)
		}
		l.mem, err = mapMemory(f, x.g.Size())
	}
	closeFiles(f)
	if err == nil {
		err = x.takeSpareSegments(l.conn, l.rank)
	}
	if err == nil {
		_, f, err = receivePacket(l.conn)
		closeFiles(f)
	}
	if err != nil && l.mem != nil {
		l.mem.unmap()
	}
	return err
}

// welcome answers a late rank that starts together with this one. The exchange notes it.
func (x *exchange) welcome(l *link) error {
	if err := x.handMemory(l.conn, x.own, x.spareSegmentsFile()); err != nil {
		return err
	}
	return sendPacket(l.conn, []byte{2}, nil)
}

// spareSegmentsFile waits for the annex, which a rank that has started before gives this one.
func (x *exchange) spareSegmentsFile() (f *os.File) {
	for f == nil {
		x.mu.Lock()
		f = x.spareSegments
		x.mu.Unlock()
		if f == nil && !authconn.Pause(x.ctx, firstPause) {
			break
		}
	}
	return f
}

// handMemory gives a late rank the memory of this one, if it has some of its own, and the annex.
func (x *exchange) handMemory(c *net.UnixConn, own, annex *os.File) error {
	if annex == nil {
		return errors.New("there is no memory of late ranks")
	}
	if err := sendPacket(c, []byte{0}, own); err != nil {
		return err
	}
	return sendPacket(c, []byte{1}, annex)
}

// lateAcceptor takes the calls of ranks that start later.
type lateAcceptor struct {
	x                  *exchange
	listener           *net.UnixListener
	own, spareSegments *os.File
	ctx                context.Context
	cancel             context.CancelFunc
}

// openDoor opens the door, which Close closes. It takes the files over from x.
func (e *rankMemory) openDoor(x *exchange) {
	d := &lateAcceptor{x: x, listener: x.listener, own: x.own, spareSegments: x.spareSegments}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	x.listener, x.own, x.spareSegments = nil, nil, nil
	e.door = d
	_ = d.listener.SetDeadline(time.Time{}) // which runExchange has set
	e.wg.Go(func() { e.answerCalls(d) })
}

// closeDoor closes the listener, which ends answerCalls, and ends the meetings with late ranks that are under way. A
// nil lateAcceptor does nothing. The files of d stay open: rankMemory.closeDoor closes them.
func (d *lateAcceptor) closeDoor() {
	if d != nil {
		d.cancel()
		_ = d.listener.Close() // ends answerCalls
	}
}

// answerCalls takes calls until the door is closed.
func (e *rankMemory) answerCalls(d *lateAcceptor) {
	for {
		c, err := d.listener.AcceptUnix()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // no descriptors, perhaps: the caller waits
			time.Sleep(lastPause)
		default:
			e.wg.Go(func() { e.receiveLate(d, c) })
		}
	}
}

// receiveLate meets a late rank. A stranger is sent away.
func (e *rankMemory) receiveLate(d *lateAcceptor, c *net.UnixConn) {
	stop := context.AfterFunc(d.ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	_ = c.SetDeadline(time.Now().Add(callTime))
	l, err := d.meetAt(c)
	if err == nil {
		err = e.admit(d, l)
	}
	if !stop() || err != nil {
		_ = c.Close() // the caller finds out
	}
}

// callTime is how long a caller may take to prove itself.
const callTime = 10 * time.Second

func (d *lateAcceptor) meetAt(c *net.UnixConn) (*link, error) {
	l, h, err := d.x.knownCaller(c)
	if err != nil {
		return nil, err
	}
	if !d.x.cfg.late(h.from) || d.x.cfg.mate(h.from) {
		return nil, fmt.Errorf("rank %d is no late rank", h.from)
	}
	return l, d.x.greet(c, h.from)
}

// knownCaller takes the hello of a caller.
func (x *exchange) knownCaller(c *net.UnixConn) (*link, hello, error) {
	pid, err := authconn.SameUser(c)
	if err != nil {
		return nil, hello{}, err
	}
	h, err := x.hearHello(c, anyone)
	return &link{rank: h.from, conn: c, fence: h.fence, pid: pid}, h, err
}

// admit notes a late rank, and tells it so. Memory that was allocated before follows; what is allocated later comes
// after it.
func (e *rankMemory) admit(d *lateAcceptor, l *link) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if d.ctx.Err() != nil {
		return conduit.ErrClosed
	}
	if err := d.x.handMemory(l.conn, d.own, d.spareSegments); err != nil {
		return err
	}
	if err := l.conn.SetDeadline(time.Time{}); err != nil {
		return err
	}
	e.reach(l)
	e.conns = append(e.conns, l.conn)
	e.wg.Go(func() { e.watchPeer(l.rank, l.conn) })
	_ = sendPacket(l.conn, []byte{2}, nil) // if it has gone the watcher tells
	for _, g := range e.shared.own {
		_ = sendPacket(l.conn, g.packet, g.file)
	}
	return nil
}

// closeDoor closes the files that late ranks get.
func (e *rankMemory) closeDoor() {
	if e.door == nil {
		return
	}
	closeFiles(e.door.own, e.door.spareSegments)
	for _, g := range e.shared.own {
		closeFiles(g.file)
	}
	e.shared.own = nil
}
