package boot

import (
	"context"
	"errors"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/golci/golci/internal/job/boot/pmi"
)

// abortJob does not wait for its turn. Another goroutine may wait in a fence that will never end, and that may be the
// reason of the abort.
func (w *pmiStore) abortJob(code int, msg string) error {
	if w.closing.Swap(true) {
		return errDone
	}
	m := pmi.M("abort", pmi.FieldCode, strconv.Itoa(code))
	if w.ours {
		m = withText(m, msg)
	}
	return w.sendLast(m)
}

// abortListener is a store whose launcher can be told why a rank ends.
type abortListener interface {
	follows(rank int) error
}

// Follows tells golci run that rank has died, so that this rank may end because of it. The exit code of this rank then
// gives way to that of a rank which fails by itself. It does not wait for an answer, and may be called while another
// goroutine waits in a Fence. Other launchers are not told.
func (j *Job) Follows(rank int) error {
	if f, ok := j.store.(abortListener); ok {
		return f.follows(rank)
	}
	return nil
}

func (w *pmiStore) follows(rank int) error {
	if !w.ours || w.virtual != nil || w.closing.Load() {
		return nil
	}
	line, err := pmi.M(pmi.CmdFollows, pmi.FieldRanks, strconv.Itoa(rank)).Append(nil)
	if err == nil {
		_, err = w.conn.Write(line)
	}
	return err
}

func (w *pmiStore) finalize(ctx context.Context) error {
	select {
	case <-w.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer w.giveTurn()
	if err := w.checkUsable(); err != nil {
		w.abandonTalk()
		if errors.Is(err, errDone) {
			return nil
		}
		return err
	}
	w.closing.Store(true)
	_, err := w.callServer(ctx, pmi.M("finalize"))
	w.lost = errDone
	w.closeWire(ctx)
	return err
}

// abandonTalk gives a conversation up that has failed. A foreign launcher may kill a rank whose connection ends without
// finalize, before the program can report the failure. So such a connection stays open, and only the reader ends.
func (w *pmiStore) abandonTalk() {
	ctx, cancel := context.WithTimeout(context.Background(), lingerTime)
	defer cancel()
	if w.ours {
		w.closeWire(ctx)
		return
	}
	w.over.Do(func() {
		w.closing.Store(true)
		close(w.quit)
		_ = w.conn.SetReadDeadline(time.Unix(1, 0))
		<-w.gone
		abandoned.Store(&w.conn)
	})
}

// abandoned keeps the connection of a failed job from the collector, which would close it.
var abandoned atomic.Pointer[net.Conn]

// closeWire ends the connection and the reader; ctx bounds the wait for ranks that this one serves. Only the first call
// of close or abandon does something; the others wait for it.
func (w *pmiStore) closeWire(ctx context.Context) {
	w.over.Do(func() {
		w.closing.Store(true)
		w.conn.Close()
		close(w.quit)
		<-w.gone
		if w.cleanup != nil {
			w.cleanup(ctx)
		}
	})
}
