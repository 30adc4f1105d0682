package rank

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/golci/golci/fult"
)

const reportLines = 100 // of a report, so that it stays on a screen

// Report collects what the layers of a rank wait for, for a dump.
type Report struct {
	Calls    int      // calls of this rank that wait
	Messages int      // messages that have come and that nobody has received
	Lines    []string // what waits, one line for each or for several of a kind
	inCalls  map[*fult.Thread]bool
}

// InCall notes that a thread is in one of the calls, so that it is not told of again. A nil thread is none.
func (x *Report) InCall(t *fult.Thread) {
	if t != nil {
		x.inCalls[t] = true
	}
}

// Dump writes a report of what the rank waits for to w, in one write: what its layers tell of calls and messages, and
// threads. It does not wait for communication.
func (r *Rank) Dump(w io.Writer) {
	var b bytes.Buffer
	r.report(&b)
	_, _ = w.Write(b.Bytes()) // there is nobody to tell
}

func (r *Rank) report(b *bytes.Buffer) {
	if r.closed.Load() {
		fmt.Fprintf(b, "golci: rank %d of %d: finalized\n", r.job.Rank-r.job.First, r.job.Mates)
		return
	}
	x := Report{inCalls: make(map[*fult.Thread]bool)}
	for _, l := range r.attached() {
		if l.Report != nil {
			l.Report(&x)
		}
	}
	if n := int(r.untils.n.Load()); n > 0 {
		x.Calls += n
		x.Lines = append(x.Lines, plural(n, "call of BlockUntil waits", "calls of BlockUntil wait"))
	}
	fmt.Fprintf(b, "golci: rank %d of %d: %s, %s, %s\n", r.job.Rank-r.job.First, r.job.Mates,
		plural(x.Calls, "call waits", "calls wait"), plural(r.sched.Live(), "thread", "threads"),
		plural(x.Messages, "message is not received", "messages are not received"))
	if r.final.Load() {
		fmt.Fprintln(b, "  Finalize has been called")
	}
	lines := append(x.Lines, threadLines(r.sched, x.inCalls)...)
	for i, line := range lines {
		if i == reportLines {
			fmt.Fprintf(b, "  and %s\n", plural(len(lines)-i, "line", "lines")+" more")
			break
		}
		fmt.Fprintf(b, "  %s\n", line)
	}
}

// plural is n with the word for it.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// threadLines tells of the threads that are in none of the calls.
func threadLines(s *fult.Scheduler, inCalls map[*fult.Thread]bool) (lines []string) {
	alive, same := 0, make(map[string]int)
	for t := range s.Threads() {
		alive++
		if inCalls[t] {
			continue
		}
		if t.State() == fult.Running && len(lines) < reportLines {
			lines = append(lines, runningLine(t))
			continue
		}
		same[stateText(t)]++
	}
	for _, text := range slices.Sorted(maps.Keys(same)) {
		lines = append(lines, plural(same[text], "thread ", "threads ")+text)
	}
	if queued := s.Live() - alive; queued > 0 {
		lines = append(lines, plural(queued, "thread has", "threads have")+" not started")
	}
	return lines
}

func runningLine(t *fult.Thread) string {
	line := fmt.Sprintf("thread %v runs", t.ID())
	if at := userFrame(t.Stack()); at != "" {
		line += ", in " + at
	}
	return withLabel(line, t)
}

// stateText says what a thread does that is in no call of this package.
func stateText(t *fult.Thread) string {
	text := map[fult.State]string{
		fult.Waiting:  "waiting outside of calls: for a channel, a lock, a timer or a blocking call",
		fult.Runnable: "ready to run",
		fult.Running:  "running",
		fult.Unknown:  "on goroutines of their own",
	}[t.State()]
	return withLabel(text, t)
}

func withLabel(text string, t *fult.Thread) string {
	if l := t.Label(); l != "" {
		text += " (" + l + ")"
	}
	return text
}
