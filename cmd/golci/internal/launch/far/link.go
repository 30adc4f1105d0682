package far

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// beat is the time between two pings, and the unit in which silence is counted. Each side counts beats of its own
// clock. So a side that was itself stopped does not take the other for dead.
const beat = time.Second

// link is the connection between the head and the helper of one machine, after both have proved themselves. Sending
// never blocks. The protocol bounds what is under way: streams and files wait for the other side's acknowledgement.
type link struct {
	conn  net.Conn
	limit int           // beats of silence after which the other side counts as lost
	beat  time.Duration // see beat above

	silent atomic.Int32 // beats since the last frame
	paused atomic.Bool  // the other side has said that it will be silent; until its next frame

	mu     sync.Mutex
	queue  [][]byte // encoded frames that wait to be written; guarded by mu
	closed bool     // guarded by mu
	why    error    // the first reason for the end; guarded by mu
	wake   *sync.Cond

	gone chan struct{} // closed at the end
	wg   sync.WaitGroup
}

var errSilent = errors.New("nothing has been heard from it")

// newLink takes conn over. The link must be closed, and read by one goroutine meanwhile.
func newLink(conn net.Conn, silence time.Duration) *link {
	return startLink(conn, max(2, int(silence/beat)), beat)
}

func startLink(conn net.Conn, limit int, beat time.Duration) *link {
	l := &link{conn: conn, limit: limit, beat: beat, gone: make(chan struct{})}
	l.wake = sync.NewCond(&l.mu)
	l.wg.Go(l.writeFrames)
	l.wg.Go(l.sendBeats)
	return l
}

// sendFrame queues a frame; after the end of the link it does nothing.
func (l *link) sendFrame(k kind, num int, data []byte) {
	b := frame{k, num, data}.appendTo(make([]byte, 0, 4+frameFront+len(data)))
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.queue = append(l.queue, b)
		l.wake.Broadcast()
	}
}

// writeFrames is the goroutine that writes the queued frames, as many at once as there are.
func (l *link) writeFrames() {
	for {
		l.mu.Lock()
		for len(l.queue) == 0 && !l.closed {
			l.wake.Wait()
		}
		if l.closed {
			l.mu.Unlock()
			return
		}
		batch := l.queue
		l.mu.Unlock()
		for _, b := range batch {
			if _, err := l.conn.Write(b); err != nil {
				l.failLink(err)
				return
			}
		}
		l.mu.Lock()
		if !l.closed { // or there is none any more
			l.queue = l.queue[len(batch):]
		}
		l.wake.Broadcast()
		l.mu.Unlock()
	}
}

// flushQueue waits until all that was queued has been written, for d at most.
func (l *link) flushQueue(d time.Duration) {
	t := time.AfterFunc(d, l.wake.Broadcast)
	defer t.Stop()
	end := time.Now().Add(d)
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) > 0 && !l.closed && time.Now().Before(end) {
		l.wake.Wait()
	}
}

// sendBeats is the goroutine that keeps the other side from thinking this one dead, and watches it in turn.
func (l *link) sendBeats() {
	t := time.NewTicker(l.beat)
	defer t.Stop()
	for {
		select {
		case <-l.gone:
			return
		case <-t.C:
		}
		l.sendFrame(framePing, 0, nil)
		if n := l.silent.Add(1); int(n) > l.limit && !l.paused.Load() {
			l.failLink(fmt.Errorf("%w for %v", errSilent, time.Duration(n)*l.beat))
		}
	}
}

// readFrames calls take for every frame but pings, until the link ends, and returns the reason.
func (l *link) readFrames(take func(frame) error) error {
	r := bufio.NewReaderSize(l.conn, 64<<10)
	for {
		f, err := readFrame(r)
		if err == nil {
			l.silent.Store(0)
			l.paused.Store(f.kind == framePause)
			if f.kind == framePing || f.kind == framePause {
				continue
			}
			err = take(f)
		}
		if err != nil {
			l.failLink(err)
			return l.reason()
		}
	}
}

func (l *link) failLink(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.closed, l.why = true, why
	l.queue = nil
	close(l.gone)
	l.wake.Broadcast()
	_ = l.conn.SetDeadline(time.Now()) // or closing would wait for a writer
	l.conn.Close()
}

var errClosed = errors.New("closed")

// closeLink ends the link and waits for its goroutines. Queued frames are lost.
func (l *link) closeLink() {
	l.failLink(errClosed)
	l.wg.Wait()
}

func (l *link) reason() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.why
}
