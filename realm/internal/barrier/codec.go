package barrier

import (
	"encoding/binary"
	"fmt"

	"github.com/golci/golci/realm/internal/event"
)

// Words is how many words a message has at most. Those of most messages fit a cache line with their header.
const Words = 8

// maxPayload is how many bytes a message has at most beside its words, if its poison has refused no reservation.
const maxPayload = maxValues + 2*maxShare + event.PoisonBytes

const poisoned Flags = 1 << 7 // the payload has a poison

// Encode puts a message for the barrier with an ID into words, of which the first n count, and appends the rest of it
// to a payload. To is left out.
func (m *Message) Encode(id event.ID, words *[Words]uint64, payload []byte) (n int, _ []byte) {
	flags := m.Flags
	payload = append(payload, m.Value...)
	if m.Poison != nil {
		flags |= poisoned
		payload = m.Poison.Append(payload)
	}
	for _, r := range m.Ranks {
		payload = binary.LittleEndian.AppendUint16(payload, r)
	}
	*words = [Words]uint64{
		uint64(m.Kind) | uint64(flags)<<8 | uint64(uint16(m.From))<<16 |
			uint64(uint16(m.Owner))<<32 | uint64(len(m.Value))<<48,
		uint64(id)&^event.MaxBarrierGen | uint64(uint16(m.Giver)), m.Phase, m.Epoch, uint64(m.Count), m.Own,
		uint64(m.Stamp), m.Bad,
	}
	for n = Words; words[n-1] == 0; n-- {
	}
	return n, payload
}

// Decode is the message that Encode has made in a job of so many ranks, and the ID of its barrier. It copies what it
// needs of the payload. It returns an error for anything that no rank sends.
func Decode(words []uint64, payload []byte, ranks int) (id event.ID, m Message, err error) {
	var w [Words]uint64
	if len(words) > Words || copy(w[:], words) == 0 {
		return 0, m, fmt.Errorf("a message of a barrier has %d words", len(words))
	}
	id = event.ID(w[1] &^ event.MaxBarrierGen)
	m = Message{
		Kind: Kind(w[0]), Flags: Flags(w[0] >> 8), From: int32(w[0] >> 16 & 0xffff),
		Owner: int32(w[0] >> 32 & 0xffff), Giver: int32(w[1] & 0xffff),
		Phase: w[2], Epoch: w[3], Count: int64(w[4]), Own: w[5], Stamp: Stamp(w[6]), Bad: w[7],
	}
	if most := max(id.Rank(), int(m.From), int(m.Owner), int(m.Giver), int(m.Stamp.rank())); most >= ranks {
		return id, m, fmt.Errorf("%v: message %d names rank %d of %d", id, m.Kind, most, ranks)
	}
	if err := m.decodeRest(int(w[0]>>48), payload, ranks); err != nil {
		return id, m, fmt.Errorf("%v: message %d: %w", id, m.Kind, err)
	}
	switch known := m.Kind > 0 && m.Kind <= lastKind && m.Flags&^allFlags == 0; {
	case id.Kind() != event.Barrier || !known:
		return id, m, fmt.Errorf("%v: unknown message %d with flags %#x", id, m.Kind, m.Flags)
	case m.Phase > maxPhase || m.Count < -maxCount || m.Count > maxCount || (m.Kind == Arrival && m.Count < 1):
		return id, m, fmt.Errorf("%v: message %d for phase %d with count %d", id, m.Kind, m.Phase, m.Count)
	case m.Kind <= Subscription && m.Phase == 0, m.Kind != Trigger && m.Ranks != nil,
		(m.Kind == Fault || m.Kind == Refusal || m.Kind == Failure) && m.Poison == nil:
		return id, m, fmt.Errorf("%v: message %d for phase %d lacks a part", id, m.Kind, m.Phase)
	}
	return id, m, nil
}

// decodeRest reads the payload.
func (m *Message) decodeRest(values int, payload []byte, ranks int) (err error) {
	if values > len(payload) || values > maxValues {
		return fmt.Errorf("%d bytes of values in %d", values, len(payload))
	}
	if values > 0 {
		m.Value = append([]byte(nil), payload[:values]...)
	}
	rest := payload[values:]
	if m.Flags&poisoned != 0 {
		if m.Poison, rest, err = event.ParsePoison(rest); err != nil {
			return err
		}
		m.Flags &^= poisoned
	}
	if len(rest)%2 != 0 || len(rest) > 2*maxShare {
		return fmt.Errorf("%d bytes of ranks", len(rest))
	}
	for ; len(rest) > 0; rest = rest[2:] {
		r := binary.LittleEndian.Uint16(rest)
		if int(r) >= ranks {
			return fmt.Errorf("rank %d of %d", r, ranks)
		}
		m.Ranks = append(m.Ranks, r)
	}
	return nil
}
