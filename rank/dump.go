package rank

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/settings"
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

// Dump writes a report of what the rank waits for to w: what its layers tell of calls and messages, and threads. That is
// one write. Where threads run is a second one, since it has to wait for the stacks of all goroutines
// (fult.TakeStacks). Dump does not wait for communication.
func (r *Rank) Dump(w io.Writer) { r.dump(w, fult.TakeStacks) }

// dump is Dump with a function that takes the stacks, which is called once if a thread runs.
func (r *Rank) dump(w io.Writer, take func() *fult.Stacks) {
	_, _ = w.Write(r.reportWaits()) // there is nobody to tell
	if where := r.whereThreadsRun(take); where != nil {
		_, _ = w.Write(where)
	}
}

// reportHead begins what a rank writes.
func (r *Rank) reportHead() string {
	return fmt.Sprintf("golci: rank %d of %d: ", r.job.Rank-r.job.First, r.job.Mates)
}

// reportWaits tells what waits. It takes no stacks.
func (r *Rank) reportWaits() []byte {
	var b bytes.Buffer
	b.WriteString(r.reportHead())
	if r.closed.Load() {
		b.WriteString("finalized\n")
		return b.Bytes()
	}
	var x Report
	for _, l := range r.attached() {
		if l.Report != nil {
			l.Report(&x)
		}
	}
	if n := int(r.untils.n.Load()); n > 0 {
		x.Calls += n
		x.Lines = append(x.Lines, plural(n, "call of BlockUntil waits", "calls of BlockUntil wait"))
	}
	fmt.Fprintf(&b, "%s, %s, %s\n", plural(x.Calls, "call waits", "calls wait"), plural(r.sched.Live(), "thread", "threads"),
		plural(x.Messages, "message is not received", "messages are not received"))
	if r.final.Load() {
		fmt.Fprintln(&b, "  Finalize has been called")
	}
	writeLines(&b, append(x.Lines, threadLines(r.sched, x.inCalls)...), r.reportLines())
	return b.Bytes()
}

// reportLines is how many lines a report has below its head.
func (r *Rank) reportLines() int {
	if settings.Dump.Get(r.opts.terms.Values) == dumpAll {
		return math.MaxInt
	}
	return reportLines
}

// writeLines writes the first of lines, and how many are left out.
func writeLines(b *bytes.Buffer, lines []string, most int) {
	for i, line := range lines {
		if i == most {
			fmt.Fprintf(b, "  and %s more; GOLCI_DUMP=all shows all\n", plural(len(lines)-i, "line", "lines"))
			return
		}
		fmt.Fprintf(b, "  %s\n", line)
	}
}

// whereThreadsRun names the threads that run, with the lines of the program where they are. It is nil if none does.
func (r *Rank) whereThreadsRun(take func() *fult.Stacks) []byte {
	if r.closed.Load() || !r.sched.Computes() {
		return nil
	}
	stacks := take()
	var lines []string
	for t, stack := range stacks.Running(r.sched) {
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
	fmt.Fprintf(&b, "%swhere threads run\n", r.reportHead())
	writeLines(&b, lines, r.reportLines())
	return b.Bytes()
}

// plural is n with the word for it.
func plural(n int, one, many string) string {
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
		line := plural(n, "thread ", "threads ") + stateTexts[x.state]
		if x.label != "" {
			line += " (" + x.label + ")"
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	if queued := s.Live() - alive; queued > 0 {
		lines = append(lines, plural(queued, "thread has", "threads have")+" not started")
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
