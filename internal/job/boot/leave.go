package boot

import (
	"context"
	"encoding/base64"
	"strconv"
	"time"

	"github.com/golci/golci/internal/job/boot/pmi"
	"github.com/golci/golci/internal/observe/settings"
)

// leaveTimeout bounds the farewell to a launcher that is not ours: another goroutine may be waiting for its answer.
const leaveTimeout = time.Second

// exitStore is a store that a rank can leave by agreement of all.
type exitStore interface {
	ending()
	leaveJob(code int, text string) error
}

// Ending says that the end of the job has begun. From now on the launcher's connection may end without ending the
// process.
func (j *Job) Ending() {
	if l, ok := j.store.(exitStore); ok {
		l.ending()
	}
}

// Leave ends this rank's membership after all ranks have agreed to end with exit code code. The process is to exit with
// it next. golci run prints text, once, unless it is empty. It may be called while another goroutine waits in a Fence.
// It does not wait for other ranks, and for a foreign launcher a second at most.
func (j *Job) Leave(code int, text string) error {
	if l, ok := j.store.(exitStore); ok {
		return l.leaveJob(code, text)
	}
	return j.store.finalize(context.Background())
}

// Reporting tells golci run that this rank writes a report of what it waits for, and is about to go on with it. The
// launcher then waits with the end of the rank, for some seconds after each call. Other launchers are told nothing. It
// may be called while another goroutine waits in a Fence. It does not wait for an answer.
func (j *Job) Reporting() {
	if w, ok := j.store.(*pmiStore); ok && w.ours {
		_ = w.sendAside(pmi.M(pmi.CmdReport)) // the report is written all the same
	}
}

func (w *pmiStore) ending() { w.onLost.Store(nil) }

func (w *pmiStore) leaveJob(code int, text string) error {
	w.ending()
	if !w.ours {
		ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
		defer cancel()
		return w.finalize(ctx)
	}
	if w.closing.Swap(true) {
		return nil // finalized or aborted already
	}
	return w.sendLast(withText(pmi.M(pmi.CmdLeave, pmi.FieldCode, strconv.Itoa(code)), text))
}

// maxText is how much of a reason travels to the launcher, in bytes: with the base64 around it a line still fits.
const maxText = pmi.SafeValue

func withText(m pmi.Msg, text string) pmi.Msg {
	if text == "" {
		return m
	}
	value := base64.RawURLEncoding.EncodeToString([]byte(text[:min(len(text), maxText)]))
	m.Fields = append(m.Fields, pmi.Field{Key: pmi.FieldText, Value: value})
	return m
}

// sendLast sends a line that has no answer, beside an outstanding request if there is one, and ends the conversation.
// The caller has set closing.
func (w *pmiStore) sendLast(m pmi.Msg) error {
	w.aborted.Store(true)
	err := w.sendAside(m)
	w.closeWire(canceled)
	return err
}

// sendAside sends a line that has no answer, beside an outstanding request if there is one.
func (w *pmiStore) sendAside(m pmi.Msg) error {
	line, err := m.Append(nil)
	if err != nil {
		return err
	}
	_ = w.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, err = w.conn.Write(line)
	return err
}

// ExitLimit is how long the end of a job of n ranks may take before it is enforced. It is GOLCI_EXITTIMEOUT. If that is
// 0, it is exitBase plus exitEach for each rank, at most exitMost.
func ExitLimit(set *settings.Set, n int) time.Duration {
	if d := settings.ExitTimeout.Get(set); d > 0 {
		return d
	}
	return exitBase + min(time.Duration(n)*exitEach, exitMost-exitBase)
}

// Times of the end of a job, those of GASNet.
const (
	exitBase = 5 * time.Second
	exitEach = 250 * time.Millisecond
	exitMost = 6 * time.Minute
)
