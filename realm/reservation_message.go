package realm

import (
	"encoding/binary"

	"github.com/golci/golci/am"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
	"github.com/golci/golci/realm/internal/reservation"
)

// wantBytes is the size of a rank that waits in a transfer: the mode, how many wait, the rank.
const wantBytes = 8

// lockWords is the number of arguments of a message about a reservation. They fit a line.
const lockWords = 6

// pack copies what the messages of out take from the reservation, whose lock is held, to memory of the cascade.
func pack(k *events.Cascade, out *reservation.Out) {
	k.Scratch = k.Scratch[:0]
	for i := range out.Send {
		m := &out.Send[i]
		if len(m.Wants)+len(m.Payload) == 0 {
			continue
		}
		at := len(k.Scratch)
		for _, w := range m.Wants {
			v := uint64(w.Mode)<<32 | uint64(min(w.N, 1<<16-1))<<16 | uint64(uint16(w.Rank))
			k.Scratch = binary.LittleEndian.AppendUint64(k.Scratch, v)
		}
		k.Scratch = append(k.Scratch, m.Payload...)
		m.Payload = k.Scratch[at:]
	}
}

// leaveLock unlocks c and does what out asks for.
func (c *lockCell) leaveLock(k *events.Cascade, out *reservation.Out) {
	if c.trace != nil {
		c.trace.NoteHold(c.core.Held(), !out.Fire.Empty())
	}
	pack(k, out)
	destroyed := c.core.Destroyed()
	c.lock.Unlock()
	if destroyed {
		c.rt.locks.forgetCell(c)
	}
	for i := range out.Send {
		c.rt.postLock(c.id, &out.Send[i])
	}
	k.List.Append(&out.Fire)
	if out.Err != nil {
		c.rt.ev.Fatal(c.wrong(out.Err))
	}
}

// postLock sends m, which pack has packed.
func (rt *Runtime) postLock(id event.ID, m *reservation.Message) {
	answer := uint64(0)
	if m.Answer {
		answer = 1
	}
	rt.ev.PostMessage(int(m.To), events.HLock, m.Payload, uint64(id),
		uint64(m.Kind)|answer<<8|uint64(m.Cause.Why)<<9|uint64(uint16(m.Cause.Rank))<<16|
			uint64(uint16(m.Want.Rank))<<32|uint64(len(m.Wants))<<48,
		uint64(m.Want.N)<<32|uint64(m.Want.Mode),
		uint64(uint16(m.Hint.Owner))<<48|uint64(uint16(m.Hint.Giver))<<32|uint64(uint32(m.Deaths)),
		m.Hint.Epoch, m.Version)
}

// parseLock is the opposite of postLock.
func parseLock(args []uint64, payload []byte) (m reservation.Message, ok bool) {
	if len(args) != lockWords {
		return m, false
	}
	what := args[1]
	m = reservation.Message{
		Kind: reservation.Kind(what), Answer: what>>8&1 != 0,
		Cause: reservation.Cause{Why: reservation.Why(what >> 9 & 127), Rank: int32(uint16(what >> 16))},
		Want:  reservation.Want{Rank: int32(uint16(what >> 32)), Mode: uint32(args[2]), N: uint32(args[2] >> 32)},
		Hint: reservation.Hint{
			Owner: int32(uint16(args[3] >> 48)), Giver: int32(uint16(args[3] >> 32)),
			Epoch: args[4],
		},
	}
	m.Deaths, m.Version = int(uint32(args[3])), args[5]
	n := int(what >> 48)
	if len(payload) < n*wantBytes {
		return m, false
	}
	for ; n > 0; n-- {
		v := binary.LittleEndian.Uint64(payload)
		w := reservation.Want{Rank: int32(uint16(v)), Mode: uint32(v >> 32), N: uint32(uint16(v >> 16))}
		m.Wants = append(m.Wants, w)
		payload = payload[wantBytes:]
	}
	m.Payload = payload
	return m, true
}

// onLock: a message about a reservation.
func (rt *Runtime) onLock(t *am.Token, args []uint64, payload []byte) {
	m, ok := parseLock(args, payload)
	id := event.ID(0)
	if ok {
		id = event.ID(args[0])
	}
	if id.Kind() != event.Reservation || id.Rank() >= rt.ev.Size || !possible(&m, rt.ev.Size) {
		rt.ev.Malformed(t, "a message about", id)
		return
	}
	c := rt.locks.findCell(id)
	switch {
	case c == nil:
		rt.lockGone(id, &m)
		return
	case (m.Kind == reservation.Transfer || m.Kind == reservation.Grant) && len(m.Payload) != len(c.bytes):
		rt.ev.Malformed(t, "a payload of another size for", id)
		return
	}
	k := rt.ev.BeginCascade(t.Worker())
	c.handle(k, t.Source(), m)
	k.EndCascade(events.PollBudget)
}

// possible tells whether m has a kind, and all its ranks are in a job of that size.
func possible(m *reservation.Message, size int) bool {
	if m.Kind < reservation.Request || m.Kind > reservation.Unheld {
		return false
	}
	for _, w := range m.Wants {
		if int(w.Rank) >= size {
			return false
		}
	}
	return int(m.Want.Rank) < size && int(m.Hint.Owner) < size
}

func (c *lockCell) handle(k *events.Cascade, src int, m reservation.Message) {
	var out reservation.Out
	c.lock.Lock()
	if c.trace != nil && (m.Kind == reservation.Transfer || m.Kind == reservation.Grant) {
		c.trace.From = src
	}
	c.core.Handle(m, &out)
	c.leaveLock(k, &out)
}

// lockGone answers a message about a reservation that was destroyed: this rank has known it, or is told of its end.
func (rt *Runtime) lockGone(id event.ID, m *reservation.Message) {
	from := m.Want.Rank
	if (m.Kind == reservation.Request || m.Kind == reservation.End) && int(from) != rt.ev.Self {
		rt.postLock(id, &reservation.Message{
			Kind: reservation.Refused, To: from, Cause: reservation.Cause{
				Why:  reservation.Forgotten,
				Rank: int32(rt.ev.Self),
			},
		})
	}
}

// peerGone tells all reservations that a rank has died.
func (t *locks) peerGone(k *events.Cascade, rank int) {
	t.mu.Lock()
	t.gone = append(t.gone[:len(t.gone):len(t.gone)], int32(rank))
	all := make([]*lockCell, 0, len(t.of))
	for _, c := range t.of {
		all = append(all, c)
	}
	t.mu.Unlock()
	for _, c := range all {
		var out reservation.Out
		c.lock.Lock()
		c.core.PeerGone(int32(rank), &out)
		c.leaveLock(k, &out)
	}
}
