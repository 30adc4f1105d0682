package exit

import (
	"fmt"
	"math/bits"
	"time"
)

// Config of a Machine.
type Config struct {
	Rank, Size int
	// Settle is how long a rank that has been told waits for its own program to call for the end too. So all ranks that
	// end for one reason are counted.
	Settle time.Duration
	// Limit is the time from the first news to giving up.
	Limit time.Duration
}

// ActionKind says what the driver of a Machine has to do.
type ActionKind uint8

// The kinds of actions.
const (
	Send   ActionKind = iota // Msg to rank To
	Finish                   // end this rank with the verdict: all agree, or somebody has aborted the job
	GiveUp                   // the time is over: end this rank with the verdict, and the others by force
)

// Action is one thing to do, in order. After Finish or GiveUp there are no more.
type Action struct {
	Kind    ActionKind
	To      int // of GiveUp: the rank that has been waited for, or NoRank
	Msg     Message
	Verdict Verdict
	Aborted bool // of Finish: by an abort, which its caller tells the reason of
}

// maxRounds bounds the rounds: ceil(log2 N) for any N that fits 32 bits.
const maxRounds = 32

// state of a Machine; it only grows.
type state uint8

const (
	idle   state = iota // nobody has called for the end
	told                // by another rank; the own program has the time to settle
	joined              // in the rounds
	over                // Finish or GiveUp has been returned
)

// Machine is one rank's part in the end of a job. It is not safe for concurrent use.
type Machine struct {
	cfg      Config
	rounds   int // ceil(log2 Size)
	state    state
	verdict  Verdict   // the worst that is known
	round    int       // the round whose message is being waited for
	received uint32    // bit k: the message of round k has come, or never will
	awake    uint32    // bit k: the rank at distance 2^k knows already
	begun    time.Time // of the first news
}

// New makes the machine of one rank. Error: a rank outside the job, or times that are not positive.
func New(cfg Config) (*Machine, error) {
	if cfg.Size < 1 || cfg.Rank < 0 || cfg.Rank >= cfg.Size || int64(cfg.Size) > 1<<31 {
		return nil, fmt.Errorf("exit: rank %d in a job of %d", cfg.Rank, cfg.Size)
	}
	if cfg.Settle < 0 || cfg.Limit <= 0 {
		return nil, fmt.Errorf("exit: limit %v, settle %v", cfg.Limit, cfg.Settle)
	}
	return &Machine{cfg: cfg, rounds: bits.Len(uint(cfg.Size - 1)), verdict: none}, nil
}

// Exit takes the program's own call for the end, with the lowest eight bits of code, as the operating system does. A
// later call still counts until the rank has left.
func (m *Machine) Exit(now time.Time, code int) []Action {
	if m.state == over {
		return nil
	}
	m.verdict = worseOf(m.verdict, Verdict{uint8(code), m.cfg.Rank})
	m.startAt(now)
	return m.joinRounds(nil)
}

// Abort ends the job without agreement.
func (m *Machine) Abort(now time.Time, code int) []Action {
	if m.state == over {
		return nil
	}
	m.startAt(now)
	return m.passAbort(Verdict{uint8(code), m.cfg.Rank})
}

// Take takes a message from another rank. One that makes no sense is ignored.
func (m *Machine) Take(now time.Time, from int, msg Message) []Action {
	if m.state == over || from < 0 || from >= m.cfg.Size {
		return nil
	}
	for k := range m.rounds {
		if m.receiverOf(k) == from {
			m.awake |= 1 << k
		}
	}
	switch msg.Kind {
	case Abort:
		m.startAt(now)
		return m.passAbort(msg.Verdict)
	case Round:
		k := int(msg.Round)
		if k >= m.rounds || m.senderOf(k) != from {
			return nil
		}
		m.received |= 1 << k
	case Told:
	default:
		return nil
	}
	m.verdict = worseOf(m.verdict, msg.Verdict)
	m.startAt(now)
	if m.state == idle {
		return m.tellNews()
	}
	return m.advanceRounds(nil)
}

// Died takes the news that a rank is gone and will send nothing any more. Its code counts as 1, because a job that has
// lost a rank has not ended well.
func (m *Machine) Died(rank int) []Action {
	if m.state == over {
		return nil
	}
	for k := range m.rounds {
		if m.senderOf(k) == rank && m.received&(1<<k) == 0 {
			m.received |= 1 << k
			m.verdict = worseOf(m.verdict, Verdict{1, rank})
		}
	}
	return m.advanceRounds(nil)
}

// Tick takes the passing of time.
func (m *Machine) Tick(now time.Time) []Action {
	switch {
	case m.state == idle || m.state == over:
		return nil
	case now.Sub(m.begun) >= m.cfg.Limit:
		rank, ok := m.Waiting()
		if !ok {
			rank = NoRank
		}
		m.state = over
		return []Action{{Kind: GiveUp, To: rank, Verdict: m.verdict}}
	case m.state == told && now.Sub(m.begun) >= m.cfg.Settle:
		return m.joinRounds(nil)
	}
	return nil
}

// Deadline is when Tick wants to be called; false if it need not be.
func (m *Machine) Deadline() (time.Time, bool) {
	switch m.state {
	case told:
		return m.begun.Add(min(m.cfg.Settle, m.cfg.Limit)), true
	case joined:
		return m.begun.Add(m.cfg.Limit), true
	}
	return time.Time{}, false
}

// Waiting is the rank whose message comes next; false if there is none.
func (m *Machine) Waiting() (rank int, ok bool) {
	if m.state != joined {
		return 0, false
	}
	return m.senderOf(m.round), true
}

// Begun says whether the end of the job has begun, as far as this rank knows.
func (m *Machine) Begun() bool { return m.state != idle }

// receiverOf and before are the ranks at distance 2^k round the circle.
func (m *Machine) receiverOf(k int) int { return int((int64(m.cfg.Rank) + 1<<k) % int64(m.cfg.Size)) }

func (m *Machine) senderOf(k int) int {
	n := int64(m.cfg.Size)
	return int((int64(m.cfg.Rank) + n - 1<<k) % n)
}

func (m *Machine) startAt(now time.Time) {
	if m.state == idle {
		m.begun = now
	}
}

// tellNews passes the news on and waits for the own program to settle.
func (m *Machine) tellNews() []Action {
	m.state = told
	out := m.tellLater(nil, 0)
	if m.cfg.Settle == 0 {
		return m.joinRounds(out)
	}
	return out
}

// tellLater tells the ranks that may not know yet, from distance 2^k on.
func (m *Machine) tellLater(out []Action, k int) []Action {
	for ; k < m.rounds; k++ {
		if m.awake&(1<<k) == 0 {
			m.awake |= 1 << k
			out = append(out, m.sendOf(k, Message{Kind: Told, Verdict: m.verdict}))
		}
	}
	return out
}

// joinRounds enters the rounds. The message of the first round is also the news for its receiver.
func (m *Machine) joinRounds(out []Action) []Action {
	if m.state == joined {
		return out
	}
	m.state = joined
	if m.rounds > 0 {
		out = append(out, m.sendOf(0, m.roundMessage()))
		out = m.tellLater(out, 1)
	}
	return m.advanceRounds(out)
}

// advanceRounds goes through the rounds whose messages have come.
func (m *Machine) advanceRounds(out []Action) []Action {
	if m.state != joined {
		return out
	}
	for m.round < m.rounds && m.received&(1<<m.round) != 0 {
		if m.round++; m.round < m.rounds {
			out = append(out, m.sendOf(m.round, m.roundMessage()))
		}
	}
	if m.round == m.rounds {
		return m.finishRounds(out)
	}
	return out
}

func (m *Machine) roundMessage() Message {
	return Message{Kind: Round, Round: uint8(m.round), Verdict: m.verdict}
}

func (m *Machine) sendOf(k int, msg Message) Action {
	return Action{Kind: Send, To: m.receiverOf(k), Msg: msg}
}

// passAbort passes an abort on and ends this rank.
func (m *Machine) passAbort(v Verdict) []Action {
	m.verdict = worseOf(m.verdict, v)
	var out []Action
	for k := range m.rounds {
		out = append(out, m.sendOf(k, Message{Kind: Abort, Verdict: m.verdict}))
	}
	out = m.finishRounds(out)
	out[len(out)-1].Aborted = true
	return out
}

func (m *Machine) finishRounds(out []Action) []Action {
	m.state = over
	return append(out, Action{Kind: Finish, Verdict: m.verdict})
}
