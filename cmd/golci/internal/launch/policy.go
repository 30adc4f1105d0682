//go:build unix

package launch

import (
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// settle is the time between the first failure and the end of the other ranks. So several ranks that fail for one
// reason are all counted, instead of being ended by the first.
const settle = 50 * time.Millisecond

// dumpTime is how long the ranks have to begin with their reports when they have been asked for them. Those that say
// that they write have reportTime after each such word, for the next one or their end.
const (
	dumpTime   = 3 * time.Second
	reportTime = 15 * time.Second
)

// codeTimeout is the exit code of a job that ran out of time, as timeout(1) has it.
const codeTimeout = 124

// Status is how a rank's process has ended.
type Status struct {
	Code   int            // exit code, if Signal is 0
	Signal syscall.Signal // or the signal that ended it
	Core   bool           // which left a core dump
	Own    bool           // it had ended before the launcher sent it any signal, as far as the system tells that
	joined bool           // it had begun the PMI conversation
	left   bool           // and ended it in order
}

type orderKind uint8

const (
	orderSay   orderKind = iota // print text
	orderKill                   // send signal to every living rank's group
	orderStop                   // stop the launcher itself, until a SIGCONT
	orderAlarm                  // call alarm after the time in after; a later alarm replaces an earlier one
)

type order struct {
	kind   orderKind
	text   string
	signal syscall.Signal
	after  time.Duration
}

// phase is how far the end of a job has come. It only grows.
type phase uint8

const (
	running phase = iota
	failing       // a rank has failed; the others may still fail by themselves
	ending        // the ranks have been asked to end, by us or by a signal passed on
	killing       // SIGKILL has been sent
)

// policy decides what happens to a job: events in, orders out. It does no IO and knows no clock.
type policy struct {
	grace     time.Duration // between asking a rank to end and SIGKILL
	phase     phase
	endedByUs bool           // the ranks were asked to end by us, so how they end says nothing
	verdict                  // exit code of the job so far
	asked     syscall.Signal // the signal passed on that asked the job to end, or 0
	dumps     bool           // the ranks have been asked for dumps, and end after them
	writes    map[int]bool   // living ranks that have said that they write their dumps
	waits     bool           // the alarm that is set is for dumps
	living    int
	reported  map[int]bool   // ranks whose failure has been told, by an abort
	knowDeath map[int]bool   // ranks that know of another's death, so that their own end may be its effect
	blamed    map[int]bool   // ranks whose death others know of; their codes count whenever they come
	unsure    map[int]Status // exit codes of ranks that we had asked to end, until others blame them
	left      map[int]bool   // ranks that end as all have agreed, or as one has told all by an abort
	agreed    map[int]bool   // those that know who has given the code
	limit     time.Duration  // from the first of them to the last
	gone      map[int]bool   // ranks that have ended, or whose machine is lost

	forgiven map[int]bool                    // ranks whose end does not matter: of a world that could not start
	world    func(rank int) (first, end int) // the ranks that started with a rank; nil: all

	survive bool // the job goes on without ranks that die
	well    bool // some rank has ended well
	deaths  int  // the code of the job if none does

	name func(rank int) string // "rank 3", with its machine where there are several
}

func newPolicy(ranks int, grace, limit time.Duration) *policy {
	return &policy{
		grace: grace, living: ranks,
		reported: map[int]bool{}, left: map[int]bool{}, agreed: map[int]bool{}, gone: map[int]bool{},
		knowDeath: map[int]bool{}, blamed: map[int]bool{}, unsure: map[int]Status{}, limit: limit, name: rankName,
		writes: map[int]bool{},
	}
}

func (p *policy) isDone() bool { return p.living == 0 }

func (p *policy) rankExited(rank int, st Status) []order {
	if p.gone[rank] {
		return nil
	}
	anew := p.writes[rank] && p.waits
	delete(p.writes, rank)
	out := p.judgeRank(rank, st)
	if anew && !p.isDone() { // the others have their time anew, less if none of them writes
		out = append(out, p.waitForDumps()...)
	}
	return out
}

// judgeRank is rankExited without what concerns reports.
func (p *policy) judgeRank(rank int, st Status) []order {
	p.gone[rank] = true
	p.living--
	if p.forgiven[rank] {
		return nil
	}
	code, text := judgeStatus(p.name(rank), st)
	if p.phase >= ending && p.endedByUs {
		return p.lateEnd(rank, st, code, text)
	}
	if p.survive && p.phase == running && len(p.left) == 0 {
		return p.rankOutlived(st.Signal != 0, p.weighEnd(rank, st), code, text)
	}
	if code != 0 {
		p.addCode(p.weighEnd(rank, st), code)
	}
	if p.left[rank] && st.Signal == 0 { // the others of its world do the same
		return p.worldLeft(rank)
	}
	if code == 0 {
		return nil
	}
	if p.phase == ending { // the signal that was passed on is the reason, and has been named
		return nil
	}
	if p.reported[rank] {
		return p.failJob()
	}
	return append([]order{sayOrder(text)}, p.failJob()...)
}

// weighEnd is the evidence of a rank's end.
func (p *policy) weighEnd(rank int, st Status) evidence {
	switch {
	case st.Signal != 0 || p.agreed[rank]:
		return given
	case p.knowDeath[rank] || p.left[rank]:
		return effect
	}
	return own
}

// rankFollows takes the word of a rank that it knows of the death of rank of. It comes before rank ends, and perhaps
// after the end of rank of, if that is on another machine.
func (p *policy) rankFollows(rank, of int) []order {
	p.knowDeath[rank], p.blamed[of] = true, true
	st, ok := p.unsure[of]
	if !ok {
		return nil
	}
	delete(p.unsure, of)
	code, text := judgeStatus(p.name(of), st)
	return p.lateEnd(of, st, code, text)
}

// worldLeft is called when a rank has exited. If all ranks of its world have exited, it calls failJob, which gives the
// ranks of other worlds some time to exit: connected worlds agree on the end of the job.
func (p *policy) worldLeft(rank int) []order {
	if p.world == nil || p.isDone() || p.phase != running {
		return nil
	}
	first, end := p.world(rank)
	for r := first; r < end; r++ {
		if !p.gone[r] {
			return nil
		}
	}
	return p.failJob()
}

// ranksStarted adds ranks that have been spawned.
func (p *policy) ranksStarted(n int) { p.living += n }

// forgiveRanks has the ends of ranks not matter.
func (p *policy) forgiveRanks(first, end int) {
	if p.forgiven == nil {
		p.forgiven = map[int]bool{}
	}
	for r := first; r < end; r++ {
		p.forgiven[r] = true
	}
}

// rankOutlived takes the end of a rank that the others go on without. A death counts only if no rank ends well; an exit
// code always does.
func (p *policy) rankOutlived(died bool, by evidence, code int, text string) (out []order) {
	switch {
	case code == 0:
		p.well = true
	case died:
		p.deaths = max(p.deaths, code)
	default:
		p.addCode(by, code)
	}
	if code != 0 {
		out = append(out, sayOrder(text))
	}
	if p.isDone() && !p.well && p.deaths > 0 {
		p.addCode(own, p.deaths)
	}
	return out
}

// lateEnd takes the end of a rank that we have asked to end. On a busy machine others can hear of a death, and the job
// can end, before the kernel tells the dead process's parent. So a signal that we have not sent has another cause, and
// so has any signal that came before ours. The code of a rank whose failure has been told, or whose death another one
// has named, is its own.
func (p *policy) lateEnd(rank int, st Status, code int, text string) []order {
	switch {
	case st.Signal != 0 && st.Own:
	case st.Signal != 0 && (p.phase == killing || st.Signal == syscall.SIGQUIT || st.Signal == syscall.SIGTERM):
		return nil // ours
	case code == 0:
		return nil
	case st.Signal == 0 && !p.reported[rank] && !p.blamed[rank]:
		p.unsure[rank] = st
		return nil
	}
	p.addCode(p.weighEnd(rank, st), code)
	if st.Signal == 0 && p.reported[rank] {
		return nil
	}
	return []order{sayOrder(text)}
}

// machineLost takes the loss of a machine with its ranks, for the reason in text. It fails the job unless all have
// ended, or the others go on.
func (p *policy) machineLost(text string, code int, ranks []int) []order {
	some := false
	for _, r := range ranks {
		if !p.gone[r] {
			p.gone[r], some = true, true
			p.living--
		}
	}
	if !some {
		return nil
	}
	if p.survive && p.phase == running && len(p.left) == 0 {
		return p.rankOutlived(true, given, code, text)
	}
	p.addCode(given, code)
	return append([]order{sayOrder(text)}, p.failJob()...)
}

// rankFailed takes a failure that the PMI server has seen: an abort, or a barrier that cannot end. The latter is the
// effect of a rank's end, whose own code counts more.
func (p *policy) rankFailed(rank, code int, text string, aborted bool) []order {
	late := p.phase >= ending
	if late && !(p.endedByUs && p.phase == ending && p.blamed[rank]) {
		return nil
	}
	by := effect
	if aborted && (!p.knowDeath[rank] || p.survive) {
		by = given
	}
	stronger := by > p.by
	p.addCode(by, max(code&0xff, 1))
	p.reported[rank] = true
	switch {
	case p.phase == failing && !stronger: // the consequence of what has been told
		return nil
	case late:
		return []order{sayOrder(text)}
	}
	return append([]order{sayOrder(text)}, p.failJob()...)
}

// rankLeaves takes the word of a rank that ends as all have agreed. The first one tells why, and starts the others'
// time.
func (p *policy) rankLeaves(rank int, text string) (out []order) {
	first := len(p.left) == 0
	p.left[rank], p.agreed[rank] = true, text != ""
	if p.phase != running {
		return nil
	}
	if text != "" && len(p.reported) == 0 {
		p.reported[rank] = true
		out = append(out, sayOrder(text))
	}
	if first {
		out = append(out, order{kind: orderAlarm, after: p.limit})
	}
	return out
}

func (p *policy) signalArrived(sig syscall.Signal) []order {
	if sig == unix.SIGTSTP { // a Ctrl-Z: the ranks are in groups of their own, and must be stopped before the launcher
		return []order{{kind: orderKill, signal: unix.SIGSTOP}, {kind: orderStop}}
	}
	if !EndsJob(sig) {
		p.dumps = p.dumps || sig == syscall.SIGQUIT
		return []order{{kind: orderKill, signal: sig}}
	}
	if p.phase >= ending { // once more: no more patience
		return p.killRanks()
	}
	p.phase, p.asked, p.waits = ending, sig, false
	return []order{
		sayOrder(fmt.Sprintf("%s passed on to all ranks", SignalName(sig))),
		{kind: orderKill, signal: sig},
		{kind: orderAlarm, after: p.grace},
	}
}

func (p *policy) timedOut(after time.Duration) []order {
	if p.phase >= failing {
		return nil
	}
	p.phase, p.endedByUs, p.dumps = ending, true, true
	p.addCode(final, codeTimeout)
	return append([]order{
		sayOrder(fmt.Sprintf("the job's time of %v is over; asking every rank for a dump", after)),
		{kind: orderKill, signal: syscall.SIGQUIT},
	}, p.waitForDumps()...)
}

// rankReports takes the word of a rank that writes its report, and goes on with it.
func (p *policy) rankReports(rank int) []order {
	if !p.dumps || p.gone[rank] {
		return nil
	}
	p.writes[rank] = true
	if !p.waits {
		return nil
	}
	return p.waitForDumps()
}

// waitForDumps sets the alarm for those that write, or for those that are to begin.
func (p *policy) waitForDumps() []order {
	p.waits = true
	if len(p.writes) > 0 {
		return []order{{kind: orderAlarm, after: reportTime}}
	}
	return []order{{kind: orderAlarm, after: dumpTime}}
}

// alarmRang takes the end of the time that an order asked for.
func (p *policy) alarmRang() []order {
	p.waits = false
	if p.phase == running { // some have left, and others have not followed
		p.addCode(effect, 1)
		out := []order{sayOrder(fmt.Sprintf("the job has not ended within %v", p.limit))}
		p.phase, p.endedByUs = ending, true
		return append(out, order{kind: orderKill, signal: syscall.SIGTERM}, order{kind: orderAlarm, after: p.grace})
	}
	if p.phase == failing {
		p.phase, p.endedByUs = ending, true
		return []order{{kind: orderKill, signal: syscall.SIGTERM}, {kind: orderAlarm, after: p.grace}}
	}
	if p.phase == ending {
		return p.killRanks()
	}
	return nil
}

// failJob begins the failing phase, unless the job is in it or beyond. It kills no rank. It orders an alarm for the end
// of the time in which ranks may end by themselves. Where ranks write dumps it waits for these instead.
func (p *policy) failJob() []order {
	if p.phase >= failing {
		return nil
	}
	p.phase = failing
	if p.dumps { // the first one to end has only been the quickest to write
		return p.waitForDumps()
	}
	return []order{{kind: orderAlarm, after: settle}}
}

func (p *policy) killRanks() []order {
	p.phase, p.endedByUs = killing, true
	if p.asked != 0 {
		p.addCode(given, 128+int(p.asked))
	}
	return []order{{kind: orderKill, signal: syscall.SIGKILL}}
}

// judgeStatus turns the end of a rank into the job's exit code, 0 for a good end, and the reason.
func judgeStatus(who string, st Status) (int, string) {
	switch {
	case st.Signal != 0:
		return 128 + int(st.Signal), killedText(who, st)
	case st.Code != 0:
		return st.Code, fmt.Sprintf("%s exited with code %d", who, st.Code)
	case st.joined && !st.left:
		return 1, fmt.Sprintf("%s exited with code 0, but without Finalize", who)
	}
	return 0, ""
}

func killedText(who string, st Status) string {
	text := fmt.Sprintf("%s was killed by %s", who, SignalName(st.Signal))
	if st.Core {
		text += " (core dumped)"
	}
	if st.Signal == unix.SIGXFSZ {
		text += ": a file was to be longer than the limit on file sizes (ulimit -f); memory that ranks share counts as files"
	}
	return text
}

func sayOrder(text string) order { return order{kind: orderSay, text: text} }

// SignalName is "signal 9 (SIGKILL)".
func SignalName(sig syscall.Signal) string {
	name := unix.SignalName(sig)
	if name == "" {
		return fmt.Sprintf("signal %d", int(sig))
	}
	return fmt.Sprintf("signal %d (%s)", int(sig), name)
}
