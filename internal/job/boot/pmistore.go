package boot

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golci/golci/internal/job/boot/pmi"
)

// whoTimeout bounds the request for the missing ranks, after the time for the barrier itself is over.
const whoTimeout = time.Second

// writeTimeout bounds the sending of one line to a launcher that does not read.
const writeTimeout = 5 * time.Second

// pmiStore is the store behind a PMI-1 server at the other end of a connection.
type pmiStore struct {
	conn    net.Conn
	ours    bool                       // the server answers pmi.CmdWho
	size    int                        // ranks in the job
	missing func() (ranks, why string) // the missing ranks, for a server that does not report them; may be nil
	// virtual replaces the connection and the reader, for a rank whose time is virtual; else nil.
	virtual *Virtual

	turn    chan struct{} // holds one token; whoever takes it may use the fields up to the blank line
	kvs     string        // name of the key space
	maxVal  int           // longest value the server takes
	lost    error         // why the conversation is out of step for good
	cleanup cleanup       // run once at the end; may be nil

	replies chan pmi.Msg  // from the reader
	gone    chan struct{} // closed by the reader when the connection has ended
	quit    chan struct{} // closed to make the reader give up a reply nobody waits for
	closing atomic.Bool   // the end of the connection is expected from now on
	aborted atomic.Bool   // this rank has aborted the job
	over    sync.Once     // the end of the connection, however it comes
	onLost  atomic.Pointer[func()]
}

func newWire(conn net.Conn, size int, ours bool) *pmiStore {
	w := &pmiStore{
		conn: conn, ours: ours, size: size, maxVal: pmi.SafeValue,
		turn: make(chan struct{}, 1), replies: make(chan pmi.Msg), gone: make(chan struct{}), quit: make(chan struct{}),
	}
	w.turn <- struct{}{}
	go w.readLines()
	return w
}

// readLines passes each line to its waiter. It is the only goroutine of a wire and ends with the connection.
func (w *pmiStore) readLines() {
	defer func() {
		close(w.gone)
		w.tellLost()
	}()
	r := bufio.NewReaderSize(w.conn, pmi.MaxRead)
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return
		}
		m, err := pmi.Parse(line)
		if err != nil {
			return
		}
		select {
		case w.replies <- m:
		case <-w.quit:
			return
		}
	}
}

// tellLost calls the hook, once, if the connection has ended unexpectedly. The reader calls it at its end. The function
// that sets the hook calls it afterwards, so that an end in between is not missed.
func (w *pmiStore) tellLost() {
	if w.closing.Load() {
		return
	}
	if f := w.onLost.Swap(nil); f != nil {
		(*f)()
	}
}

func (w *pmiStore) takeTurn(ctx context.Context) error {
	select {
	case <-w.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := w.checkUsable(); err != nil {
		w.giveTurn()
		return err
	}
	return nil
}

// checkUsable is called with the turn taken.
func (w *pmiStore) checkUsable() error {
	if w.aborted.Load() {
		return ErrAborted
	}
	return w.lost
}

func (w *pmiStore) giveTurn() { w.turn <- struct{}{} }

// sendMsg and the functions below it are called with the turn taken.
func (w *pmiStore) sendMsg(m pmi.Msg) error {
	line, err := m.Append(nil)
	if err != nil {
		return err
	}
	if len(line) > pmi.MaxSend && m.Cmd != pmi.CmdSpawn { // which only servers of ours get
		return fmt.Errorf("%w: %s of %d bytes", pmi.ErrLineTooLong, m.Cmd, len(line))
	}
	if w.virtual != nil {
		w.virtual.Say(line)
		return nil
	}
	_ = w.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err := w.conn.Write(line); err != nil {
		if w.aborted.Load() { // by another goroutine, which has closed the connection
			return w.failWire(ErrAborted)
		}
		return w.failWire(fmt.Errorf("%w: %w", ErrLost, err))
	}
	return nil
}

// nextLine waits for one line.
func (w *pmiStore) nextLine(ctx context.Context) (pmi.Msg, error) {
	if w.virtual != nil {
		return w.virtual.Hear()
	}
	select {
	case m := <-w.replies:
		return m, nil
	case <-w.gone:
		if w.aborted.Load() {
			return pmi.Msg{}, w.failWire(ErrAborted)
		}
		return pmi.Msg{}, w.failWire(ErrLost)
	case <-ctx.Done():
		return pmi.Msg{}, ctx.Err()
	}
}

// awaitAnswer waits for the answer to a request. That to pmi.CmdWho comes late if the barrier has ended first after
// all.
func (w *pmiStore) awaitAnswer(ctx context.Context) (pmi.Msg, error) {
	m, err := w.nextLine(ctx)
	for err == nil && m.Cmd == pmi.CmdMissing {
		m, err = w.nextLine(ctx)
	}
	return m, err
}

// callServer sends m and returns its answer. When ctx ends first, the conversation is out of step for good.
func (w *pmiStore) callServer(ctx context.Context, m pmi.Msg) (pmi.Msg, error) {
	if err := w.sendMsg(m); err != nil {
		return pmi.Msg{}, err
	}
	answer, err := w.awaitAnswer(ctx)
	if err != nil {
		return pmi.Msg{}, w.failWire(fmt.Errorf("golci: no answer to %s: %w", m.Cmd, err))
	}
	if err = pmi.CheckAnswer(m.Cmd, answer); errors.Is(err, pmi.ErrReply) {
		w.failWire(err)
	}
	return answer, err
}

// failWire keeps the first reason why the conversation cannot go on, and returns err.
func (w *pmiStore) failWire(err error) error {
	if w.lost == nil {
		w.lost = err
	}
	return err
}

func (w *pmiStore) fence(ctx context.Context) error {
	if err := w.takeTurn(ctx); err != nil {
		return err
	}
	defer w.giveTurn()
	return w.barrier(ctx)
}

func (w *pmiStore) barrier(ctx context.Context) error {
	if err := w.sendMsg(pmi.M("barrier_in")); err != nil {
		return err
	}
	m, err := w.awaitAnswer(ctx)
	if err != nil && ctx.Err() != nil {
		return w.tooLate(ctx.Err())
	}
	if err != nil {
		return err
	}
	return w.barrierEnded(m)
}

// barrierEnded takes the answer to the barrier. If a server of ours has ended the barrier because a rank will not come,
// it names the missing ranks.
func (w *pmiStore) barrierEnded(m pmi.Msg) error {
	err := pmi.CheckAnswer("barrier_in", m)
	if err == nil {
		return nil
	}
	if ranks, ok := m.Get(pmi.FieldRanks); ok {
		err = &MissingError{Size: w.size, Ranks: ranks, Ended: true, Err: err}
	}
	return w.failWire(err)
}

// tooLate asks for the ranks missing from a barrier that has run out of time. If the barrier ends meanwhile after all,
// that counts.
func (w *pmiStore) tooLate(cause error) error {
	e := &MissingError{Size: w.size, Err: cause}
	if w.ours {
		m, err := w.askWho()
		if err == nil && m.Cmd != pmi.CmdMissing {
			return w.barrierEnded(m)
		}
		e.Ranks = m.Str(pmi.FieldRanks)
	} else if w.missing != nil {
		e.Ranks, e.Note = w.missing()
	} else {
		e.Note = "this launcher does not tell which"
	}
	return w.failWire(e)
}

func (w *pmiStore) askWho() (pmi.Msg, error) {
	ctx, cancel := context.WithTimeout(context.Background(), whoTimeout)
	defer cancel()
	_ = w.sendMsg(pmi.M(pmi.CmdWho)) // if it fails the answer to the barrier may still be there to read
	return w.nextLine(ctx)
}

// wireKey names one piece of a value in the launcher's key space.
func wireKey(rank int, key string, piece int) string {
	return "golci." + strconv.Itoa(rank) + "." + key + "." + strconv.Itoa(piece)
}

// putValue cuts value into pieces that fit a line; the first one says how many there are.
func (w *pmiStore) putValue(ctx context.Context, rank int, key string, value []byte) error {
	if err := w.takeTurn(ctx); err != nil {
		return err
	}
	defer w.giveTurn()
	text := base64.RawURLEncoding.EncodeToString(value)
	per := w.maxVal - 8 // room for the count in the first piece
	pieces := max(1, (len(text)+per-1)/per)
	for i := range pieces {
		part := text[i*per : min(len(text), (i+1)*per)]
		if i == 0 {
			part = strconv.Itoa(pieces) + ":" + part
		}
		m := pmi.M("put", "kvsname", w.kvs, "key", wireKey(rank, key, i), "value", part)
		if _, err := w.callServer(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func (w *pmiStore) getValue(ctx context.Context, rank int, key string) ([]byte, error) {
	if err := w.takeTurn(ctx); err != nil {
		return nil, err
	}
	defer w.giveTurn()
	first, err := w.getRaw(ctx, wireKey(rank, key, 0))
	if err != nil {
		return nil, err
	}
	count, text, ok := strings.Cut(first, ":")
	pieces, err := strconv.Atoi(count)
	if !ok || err != nil || pieces < 1 || pieces > mostText {
		return nil, badValue(rank, key, "no number of its pieces before it", len(first))
	}
	all := []byte(text)
	for i := 1; i < pieces; i++ {
		part, err := w.getRaw(ctx, wireKey(rank, key, i))
		if err != nil {
			return nil, err
		}
		if part == "" || len(all)+len(part) > mostText {
			return nil, badValue(rank, key, fmt.Sprintf("a piece of %d bytes", len(part)), len(all))
		}
		all = append(all, part...)
	}
	value, err := base64.RawURLEncoding.AppendDecode(nil, all)
	if err != nil || len(value) > maxValue {
		return nil, badValue(rank, key, "no base64 of a value", len(all))
	}
	return value, nil
}

// mostText is the length of the longest value as it travels.
var mostText = base64.RawURLEncoding.EncodedLen(maxValue)

// badValue does not show the value, which may be the job's key.
func badValue(rank int, key, what string, length int) error {
	return fmt.Errorf("%w: key %q of rank %d: %s, %d bytes so far", pmi.ErrReply, key, rank, what, length)
}

// getRaw reads one key of the launcher's key space.
func (w *pmiStore) getRaw(ctx context.Context, key string) (string, error) {
	m, err := w.callServer(ctx, pmi.M("get", "kvsname", w.kvs, "key", key))
	if errors.Is(err, pmi.ErrRefuse) {
		return "", fmt.Errorf("%w: %q: %w", ErrNoKey, key, err)
	}
	return m.Str("value"), err
}

func (w *pmiStore) lostServer() <-chan struct{} { return w.gone }
