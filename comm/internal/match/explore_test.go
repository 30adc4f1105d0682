package match

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/golci/golci/comm/internal/opstate"
	"github.com/golci/golci/internal/platform/invariants"
)

// The explorer follows one message through every order of what can happen to it. The queue lets go late, answers
// overtake each other, either caller gives up, a rank dies. Each operation must be completed once. Nobody may be told
// that a buffer is free while a transfer uses it. Nothing may hang.

// wire is a message under way. What is ordered is delivered in the order of sending.
type wire struct {
	to      byte // 's' or 'r'
	what    string
	ordered bool
}

// kind is what there is to explore.
type kind struct {
	way     opstate.Input // that the receiver chooses
	invites bool          // the receive invites its message, unless the envelope has come
	big     bool          // it travels as an envelope
	cancels bool          // callers may give up
	deaths  bool          // one rank may die
	machine *opstate.Machine
}

// world is one message, between a sender and a receiver.
type world struct {
	kind
	s, r      opstate.Word
	wires     []wire
	entered   bool // the send is in its queue, or has been
	numbered  bool // the send has its number: who removes that has the peer let go
	ending    bool // the number is removed, and the send is about to be ended
	taken     bool // the send is out of its queue, and is about to be cancelled
	emitted   bool
	arrived   bool // an envelope waits at the receiver
	whole     bool // a message with its bytes waits there
	posted    bool
	invited   bool
	stored    bool // an RTR waits at the sender
	skipped   bool // the receiver has forgotten the envelope, so that its receive is for a message to come
	void      bool // the sender has forgotten it, so that its message is for a receive to come
	revoked   bool
	recalled  bool
	left      bool // the sender's caller has, and the message goes on with a copy of its bytes
	dead      byte
	told      bool // the other has been told of that
	closed    bool // the sender ends its communication: its queues are emptied a moment later
	ended     map[byte]int
	cancelled map[byte]bool
	faults    []string
}

func newWorld(k kind) *world {
	w := &world{kind: k, numbered: true}
	w.ended, w.cancelled = make(map[byte]int), make(map[byte]bool)
	w.s.Begin(SendQueued, opstate.Caller|opstate.Queue|opstate.Peer)
	return w
}

func (w *world) fault(format string, args ...any) {
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

func (w *world) send(to byte, what string, ordered bool) {
	if w.dead == 0 || w.dead == to {
		w.wires = append(w.wires, wire{to, what, ordered})
	}
}

// step has in happen to one of the operations. late says that it may come too late.
func (w *world) step(who byte, in opstate.Input, late bool) {
	o, m, other := &w.s, w.machine, byte('r')
	if who == 'r' {
		o, other = &w.r, 's'
	}
	did, end, ok := o.Step(m, in)
	if !ok {
		if !late {
			w.fault("%c: no step for %s in %s, hands %#x", who, m.InputName(in), m.StateName(o.State()), o.Hands())
		}
		return
	}
	switch did.Do {
	case Cancel:
		w.cancelled[who] = true
	case TellRetract:
		if who == 's' {
			w.send('r', "retract", true)
		} else {
			w.send('s', "uninvite", true)
		}
	case TellCopied:
		w.send(other, "copied", false)
	case TellNothing:
		w.send('s', "nothing", false)
	}
	w.end(who, end)
}

func (w *world) end(who byte, e opstate.End) {
	switch e {
	case opstate.Completed:
		w.ended[who]++
		w.checkBuffers(who)
	case opstate.Freed:
		if !w.left || who == 'r' {
			w.fault("%c is freed while its caller waits", who)
		}
	}
}

// checkBuffers: the caller of who may use its buffer again.
func (w *world) checkBuffers(who byte) {
	if w.dead != 0 || w.closed {
		return // what a rank does to the memory of one that dies, or of itself when it dies, harms nobody
	}
	switch {
	case who == 's' && !w.left && w.r.Hands()&opstate.Transfer != 0:
		w.fault("the send is complete while the receiver gets its bytes")
	case who == 'r' && w.s.Hands()&opstate.Transfer != 0 && w.s.State() != SendStreaming:
		w.fault("the receive is complete while the sender puts bytes into its buffer")
	}
}

// taken stands for a way in which nothing is to be moved.
const taken = NothingWanted

// waits tells that the receive is posted, and no message has been matched with it.
func (w *world) waits() bool { return w.r.Hands()&opstate.Queue != 0 }

// take ends a receive whose message needs no more than a copy: who has matched it has the only hand but the caller's.
func (w *world) take() { w.end('r', w.r.Drop(opstate.Queue)) }

// match has the receiver match the envelope.
func (w *world) match() {
	w.arrived = false
	if w.way == taken {
		w.take()
		w.send('s', "nothing", false)
		return
	}
	w.step('r', w.way, false)
	switch w.way {
	case AskChunks:
		w.send('s', "clear", false)
	case AskHalf:
		w.send('s', "half", false)
	case AskPut:
		w.send('s', "all", false)
	}
	if w.dead == 's' && w.told { // whoever asks a peer for bytes looks after that whether it is gone
		w.step('r', PeerLost, true)
	}
}

// queued tells that the send can be taken out of its queue.
func (w *world) queued() bool {
	return w.s.Hands()&opstate.Queue != 0 && w.entered && !w.emitted && !w.taken
}

// choices are the names of what can happen now.
func (w *world) choices() (names []string) {
	add := func(may bool, name string) {
		if may {
			names = append(names, name)
		}
	}
	sender, receiver := w.dead != 's', w.dead != 'r'
	queued := w.s.Hands()&opstate.Queue != 0
	add(sender && queued && !w.entered, "enter")
	add(sender && w.queued() && !(w.dead == 'r' && w.told), "emit")
	add(sender && queued && w.emitted, "unqueue")
	add(sender && queued && !w.taken && (w.closed || w.dead == 'r' && w.told), "fail")
	add(sender && w.queued() && w.cancels, "withdraw")
	add(sender && w.taken, "withdrawn")
	add(sender && w.ending, "end")
	add(sender && w.s.State() == SendOffered && w.cancels && !w.recalled, "recall")
	given := w.s.Hands()&^(opstate.Caller|opstate.Queue) != 0 && w.s.State() != SendQueued
	add(sender && w.cancels && !w.left && given, "leave")
	add(receiver && !w.posted, "post")
	add(receiver && w.waits() && w.cancels, "revoke")
	add(receiver && w.cancels && w.r.State() == RecvInvited, "uninvite")
	add(sender && w.s.Hands()&opstate.Transfer != 0, "moved")
	add(receiver && w.r.Hands()&opstate.Transfer != 0, "got")
	add(w.deaths && w.dead == 0 && !w.closed, "close")
	add(w.deaths && w.dead == 0, "die s")
	add(w.deaths && w.dead == 0, "die r")
	add(w.dead != 0 && !w.told && !w.underway(), "told")
	seen := false
	for i, x := range w.wires {
		if x.to == w.dead || x.to == 's' && w.closed || x.ordered && seen {
			continue
		}
		seen = seen || x.ordered
		names = append(names, fmt.Sprint("deliver ", i))
	}
	return names
}

// underway tells that something that the dead rank sent has not arrived.
func (w *world) underway() bool {
	return slices.ContainsFunc(w.wires, func(x wire) bool { return x.to != w.dead })
}

func (w *world) do(name string) {
	switch name {
	case "emit":
		w.emit()
	case "enter":
		w.entered = true
	case "unqueue":
		w.step('s', Unqueued, false)
	case "fail":
		if w.unnumber() {
			w.step('s', PeerLost, false)
		}
		w.step('s', Unqueued, false)
	case "withdraw":
		w.taken = true
	case "withdrawn":
		w.taken = false
		in := Unqueued
		if w.unnumber() {
			in = Withdrawn
		}
		w.step('s', in, false)
	case "end":
		w.ending = false
		in := PeerLost
		if w.queued() {
			in = Withdrawn
		}
		w.step('s', in, false)
	case "recall":
		w.recalled = true
		w.step('s', Recall, false)
	case "leave":
		w.leave()
	case "post":
		w.posted = true
		if w.invites && !w.arrived {
			w.invite()
			return
		}
		w.r.Begin(RecvPosted, opstate.Caller|opstate.Queue)
		switch {
		case w.whole:
			w.take()
		case w.arrived:
			w.match()
		case w.dead == 's' && w.told:
			w.step('r', Withdrawn, false)
		}
	case "revoke":
		w.revoked = true
		w.step('r', Withdrawn, false)
	case "uninvite":
		w.revoked = true
		w.step('r', Recall, false)
	case "moved":
		if w.s.State() == SendStreaming {
			w.send('r', "last", false)
		}
		w.step('s', Moved, false)
	case "got":
		w.step('r', Moved, false)
	case "close":
		w.closed = true
		w.ending = w.unnumber()
	case "die s":
		w.dead = 's'
	case "die r":
		w.dead = 'r'
	case "told":
		w.tell()
	default:
		var i int
		if _, err := fmt.Sscanf(name, "deliver %d", &i); err != nil {
			panic(err)
		}
		x := w.wires[i]
		w.wires = slices.Delete(w.wires, i, i+1)
		w.deliver(x)
	}
}

// unnumber removes the number of the send; false if it has none any more.
func (w *world) unnumber() bool {
	had := w.numbered
	w.numbered = false
	return had
}

// emit has the send leave.
func (w *world) emit() {
	w.emitted = true
	switch {
	case w.big && w.stored && w.unnumber():
		w.stored = false
		w.step('s', Cleared, false)
	case w.big:
		w.step('s', SentEnvelope, false)
		w.send('r', "envelope", true)
	default:
		if w.unnumber() {
			w.step('s', SentWhole, false)
		}
		w.send('r', "whole", true)
	}
}

// answer has in happen to the send, which the receiver names by its number.
func (w *world) answer(in opstate.Input) {
	if !w.numbered {
		if w.dead == 0 && !w.closed {
			w.fault("%s for a send without a number", w.machine.InputName(in))
		}
		return
	}
	if did, ok := w.s.Can(w.machine, in); ok && did.Drop&opstate.Peer != 0 {
		w.numbered = false
	}
	w.step('s', in, false)
}

// invite posts the receive, which tells the sender where the bytes go.
func (w *world) invite() {
	w.r.Begin(RecvInvited, opstate.Caller|opstate.Peer)
	w.invited = true
	w.send('s', "invite", true)
	if w.dead == 's' && w.told {
		w.step('r', PeerLost, false)
	}
}

// leave has the caller of the send go on, and take its result.
func (w *world) leave() {
	w.left = true
	if !w.s.Leave() {
		w.fault("the caller cannot leave in %s, hands %#x", w.machine.StateName(w.s.State()), w.s.Hands())
	}
	w.end('s', opstate.Completed)
	w.end('s', w.s.Drop(opstate.Caller))
}

// tell has the survivor learn of the death.
func (w *world) tell() {
	w.told = true
	if w.dead == 'r' {
		w.ending = w.unnumber() || w.ending
		return
	}
	if w.waits() {
		w.step('r', Withdrawn, false)
		return
	}
	w.step('r', PeerLost, true)
}

func (w *world) deliver(x wire) {
	late := w.dead != 0 || w.closed
	switch x.what {
	case "invite":
		switch {
		case !w.emitted || w.skipped:
			w.stored = true
		case w.numbered:
			w.answer(Cleared)
		}
	case "uninvite":
		if w.stored {
			w.stored, w.void = false, true
			w.send('r', "unneeded", false)
		}
	case "unneeded":
		w.step('r', Forgotten, late)
	case "envelope":
		if w.invited && !w.void {
			return // the RTR is the answer
		}
		if w.waits() {
			w.match()
			return
		}
		w.arrived = true
	case "whole":
		if w.whole = !w.waits(); !w.whole {
			w.take()
		}
	case "retract":
		if w.arrived {
			w.arrived, w.skipped = false, true
			w.send('s', "forgotten", false)
		}
	case "last":
		w.step('r', LastChunk, late)
	case "copied":
		if x.to == 's' {
			w.answer(Copied)
		} else {
			w.step('r', Copied, late)
		}
	default:
		in := map[string]opstate.Input{
			"forgotten": Forgotten, "nothing": NothingWanted, "clear": Cleared, "half": HalfWanted, "all": AllWanted,
		}
		w.answer(in[x.what])
	}
}

// atRest checks a world in which nothing can happen any more.
func (w *world) atRest() {
	waits := func(who byte) bool { return w.ended[who] == 0 && w.dead != who }
	if w.cancelled['r'] && w.dead == 0 && w.s.State() == SendStreaming {
		w.fault("a message went to a receive that was cancelled")
	}
	switch {
	case w.closed:
		if waits('s') {
			w.fault("an operation outlives its rank's communication")
		}
	case w.dead != 0:
		if w.posted && waits('r') || waits('s') {
			w.fault("a survivor waits for the dead")
		}
	case waits('s') && w.posted && !w.revoked, waits('r') && w.posted && !w.cancelled['s'],
		waits('s') && w.recalled && !w.arrived:
		w.fault("an operation waits for ever")
	}
}

func (w *world) countEnds() {
	for who, n := range w.ended {
		if n > 1 {
			w.fault("%c is completed %d times", who, n)
		}
	}
}

// key tells worlds apart.
func (w *world) key() string {
	return fmt.Sprint(w.s.State(), w.s.Hands(), w.r.State(), w.r.Hands(), w.wires,
		w.entered, w.numbered, w.ending, w.taken, w.emitted, w.arrived, w.whole, w.posted, w.invited, w.stored, w.void, w.skipped,
		w.revoked, w.recalled, w.left, w.closed, w.dead, w.told, w.ended, w.cancelled)
}

// explore runs a world through all orders, and returns how many states there are and the first fault with its way
// there.
func explore(c kind) (states int, way []string, faults []string) {
	seen := make(map[string]bool)
	var visit func(path []string) bool
	visit = func(path []string) bool {
		w := newWorld(c)
		for _, name := range path {
			w.do(name)
		}
		k := w.key()
		if seen[k] && len(w.faults) == 0 {
			return true
		}
		seen[k] = true
		next := w.choices()
		if len(next) == 0 {
			w.atRest()
		}
		w.countEnds()
		if len(w.faults) > 0 {
			way, faults = path, w.faults
			return false
		}
		for _, name := range next {
			if !visit(append(slices.Clip(path), name)) {
				return false
			}
		}
		return true
	}
	visit(nil)
	return len(seen), way, faults
}

// kinds are all kinds of message.
func kinds() (all []kind) {
	for bits := range 4 {
		all = append(all, kind{
			way: AskChunks, invites: true, big: true, cancels: bits&1 != 0, deaths: bits&2 != 0, machine: Protocol,
		})
	}
	for _, way := range []opstate.Input{taken, AskChunks, AskGet, AskHalf, AskPut} {
		for bits := range 8 {
			all = append(all, kind{
				way: way, big: bits&1 != 0, cancels: bits&2 != 0, deaths: bits&4 != 0, machine: Protocol,
			})
		}
	}
	return all
}

func TestEveryOrder(t *testing.T) {
	for _, c := range kinds() {
		name := fmt.Sprintf("%s/invites=%t/big=%t/cancels=%t/deaths=%t", Protocol.InputName(c.way), c.invites, c.big, c.cancels, c.deaths)
		t.Run(name, func(t *testing.T) {
			n, path, faults := explore(c)
			t.Logf("%d states", n)
			if faults != nil {
				t.Errorf("after %s:\n%s", strings.Join(path, ", "), strings.Join(faults, "\n"))
			}
		})
	}
}

// TestEveryRuleCounts: without any one of its rules the machine has a fault that the explorer finds.
func TestEveryRuleCounts(t *testing.T) {
	if invariants.Race {
		t.Skip("one goroutine explores: the race detector finds nothing, and takes 20 seconds for it")
	}
	for i := range rules {
		without := opstate.NewMachine("message", stateNames, inputNames, slices.Delete(slices.Clone(rules), i, i+1)...)
		if !slices.ContainsFunc(kinds(), func(k kind) bool {
			k.machine = without
			_, _, faults := explore(k)
			return faults != nil
		}) {
			t.Errorf("nothing is wrong without rule %d: %+v", i, rules[i])
		}
	}
}
