package report

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/job/boot"
)

const reportLines = 100 // of a report, so that it stays on a screen; more with dumpAll

// Values of GOLCI_DUMP besides the default.
const (
	dumpStacks = "stacks" // the stacks follow
	dumpAll    = "all"    // likewise, and a report has all its lines
)

// Report collects what the layers of a rank wait for, for a dump.
type Report struct {
	Calls    int      // calls of this rank that wait
	Messages int      // messages that have come and that nobody has received
	Lines    []string // what waits, one line for each or for several of a kind
	inCalls  threadSet
}

// InCall notes that a thread is in one of the calls, so that it is not told of again. A nil thread is none.
func (x *Report) InCall(t *fult.Thread) {
	if t != nil {
		x.inCalls.addThread(t.ID())
	}
}

// threadSet is a set of threads, a bit for each slot of each worker: there may be very many.
type threadSet [][]uint64

func (s *threadSet) addThread(id fult.ID) {
	for len(*s) <= id.Worker {
		*s = append(*s, nil)
	}
	bits := &(*s)[id.Worker]
	for len(*bits) <= id.Slot/64 {
		*bits = append(*bits, 0)
	}
	(*bits)[id.Slot/64] |= 1 << (id.Slot % 64)
}

func (s threadSet) hasThread(id fult.ID) bool {
	return id.Worker < len(s) && id.Slot/64 < len(s[id.Worker]) && s[id.Worker][id.Slot/64]>>(id.Slot%64)&1 != 0
}

// Reporter writes what a rank waits for. Its fields are set before anything is reported, and do not change then.
type Reporter struct {
	Job     *boot.Job
	Threads *fult.Scheduler
	How     string // the setting GOLCI_DUMP

	Collect    func(x *Report)                     // adds what the rank and its layers tell
	Ask        func(ctx context.Context) []string  // what the layers learn from other ranks, in lines
	Unended    func() (n int, first func() string) // operations of the layers; first describes one of them
	Finalizing func() bool                         // Finalize has begun
	Closed     func() bool                         // the rank has let go of everything
}

// Dump writes a report to w: what the layers tell of calls and messages, and threads. That is one write. Where threads
// run is a second one, since it has to wait for the stacks of all goroutines. take takes them, and is called once if a
// thread runs. Dump does not wait for communication.
func (r *Reporter) Dump(w io.Writer, take func() *fult.Stacks) {
	write(w, r.reportWaits())
	write(w, r.whereThreadsRun(take))
}

func write(w io.Writer, b []byte) {
	if len(b) > 0 {
		_, _ = w.Write(b) // there is nobody to tell
	}
}

// head begins what a rank writes.
func (r *Reporter) head() string {
	return fmt.Sprintf("golci: rank %d of %d: ", r.Job.Rank-r.Job.First, r.Job.Mates)
}

// reportWaits tells what waits. It takes no stacks.
func (r *Reporter) reportWaits() []byte {
	var b bytes.Buffer
	b.WriteString(r.head())
	if r.Closed() {
		b.WriteString("finalized\n")
		return b.Bytes()
	}
	var x Report
	r.Collect(&x)
	fmt.Fprintf(&b, "%s, %s, %s\n", Plural(x.Calls, "call waits", "calls wait"),
		Plural(r.Threads.Live(), "thread", "threads"),
		Plural(x.Messages, "message is not received", "messages are not received"))
	if r.Finalizing() {
		fmt.Fprintln(&b, "  Finalize has been called")
	}
	writeLines(&b, append(x.Lines, threadLines(r.Threads, x.inCalls)...), r.maxLines())
	return b.Bytes()
}

// maxLines is how many lines a report has below its head.
func (r *Reporter) maxLines() int {
	if r.How == dumpAll {
		return math.MaxInt
	}
	return reportLines
}

// writeLines writes the first of lines, and how many are left out.
func writeLines(b *bytes.Buffer, lines []string, most int) {
	for i, line := range lines {
		if i == most {
			fmt.Fprintf(b, "  and %s more; GOLCI_DUMP=all shows all\n", Plural(len(lines)-i, "line", "lines"))
			return
		}
		fmt.Fprintf(b, "  %s\n", line)
	}
}

// whereThreadsRun names the threads that run, with the lines of the program where they are. It is nil if none does.
func (r *Reporter) whereThreadsRun(take func() *fult.Stacks) []byte {
	if r.Closed() || !r.Threads.Computes() {
		return nil
	}
	stacks := take()
	var lines []string
	for t, stack := range stacks.Running(r.Threads) {
		line := fmt.Sprintf("thread %v runs", t.ID())
		if at := userFrame(stack); at != "" {
			line += ", in " + at
		}
		lines = append(lines, withLabel(line, t))
	}
	if stacks.Cut() {
		lines = append(lines, "there are more stacks than memory for them")
	}
	if lines == nil {
		return nil
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%swhere threads run\n", r.head())
	writeLines(&b, lines, r.maxLines())
	return b.Bytes()
}

// Plural is n with the word for it.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// threadLines tells of the threads that are in none of the calls.
func threadLines(s *fult.Scheduler, inCalls threadSet) (lines []string) {
	type namedEntry struct {
		state fult.State
		label string
	}
	alive, same := 0, make(map[namedEntry]int)
	for t := range s.Threads() {
		alive++
		if !inCalls.hasThread(t.ID()) {
			same[namedEntry{t.State(), t.Label()}]++
		}
	}
	for x, n := range same {
		line := Plural(n, "thread ", "threads ") + stateTexts[x.state]
		if x.label != "" {
			line += " (" + x.label + ")"
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	if queued := s.Live() - alive; queued > 0 {
		lines = append(lines, Plural(queued, "thread has", "threads have")+" not started")
	}
	return lines
}

// stateTexts say what a thread does that is in no call of this package.
var stateTexts = [...]string{
	fult.Waiting:  "waiting outside of calls: for a channel, a lock, a timer or a blocking call",
	fult.Runnable: "ready to run",
	fult.Running:  "running",
	fult.Unknown:  "on goroutines of their own",
}

func withLabel(text string, t *fult.Thread) string {
	if l := t.Label(); l != "" {
		text += " (" + l + ")"
	}
	return text
}
