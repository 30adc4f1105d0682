package reservation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/golci/golci/internal/realm/event"
)

// Why is what makes a lock refuse all.
type Why uint8

// Reasons.
const (
	Alive Why = iota
	Destroyed
	OwnerDied
	HolderDied
	HomeDied
	ReleaseLost
	Forgotten // destroyed, and nothing else is known
)

var reasons = [...]string{
	Alive:       "rank %d has not ended it",
	Destroyed:   "rank %d destroyed it",
	OwnerDied:   "rank %d owned it and died",
	HolderDied:  "rank %d held it and died",
	HomeDied:    "rank %d made it and died",
	Forgotten:   "rank %d says that it was destroyed",
	ReleaseLost: "a release may be lost with rank %d",
}

// Cause is a reason and the rank that it names.
type Cause struct {
	Why  Why
	Rank int32
}

// poison is what c makes of the acquires of id.
func (c Cause) poison(id event.ID) *event.Poison {
	why := reasons[min(int(c.Why), len(reasons)-1)]
	return Refusal(id, &event.Poison{Rank: c.Rank, Text: fmt.Sprintf(why, c.Rank)})
}

// Text of a refusal: the reservations whose acquires it keeps from happening, the latest first, and the cause. Texts
// that travel are cut at event.MaxText, so that only some are named; others stands for the rest. Only a text that
// begins so is one: elsewhere it is a quotation.
const (
	head     = "reservation "
	tail     = " not acquired: "
	maxNames = 96 // bytes
	others   = "others"
)

func name(id event.ID) string { return strings.TrimPrefix(id.String(), head) }

// refused finds the names of reservations in the text of a poison. They are before the text after.
func refused(text string) (names []string, after string) {
	list, after, ok := strings.Cut(text, tail)
	if !ok || !strings.HasPrefix(list, head) {
		return nil, text
	}
	return strings.Split(list[len(head):], ", "), after
}

// Wrapping is the text of a poison for an error that says text. cause is the text of a poison that the error wraps: if
// that is a refusal, so is the result. Otherwise it is none.
func Wrapping(cause, text string) string {
	names, _ := refused(cause)
	switch quoted, _ := refused(text); {
	case names != nil:
		return head + strings.Join(names, ", ") + tail + text
	case quoted != nil:
		return "error: " + text
	}
	return text
}

// Refusal is the poison of a grant of id, when why keeps the acquire from happening. It names id, so that the release
// that belongs to the grant can be told from others.
func Refusal(id event.ID, why *event.Poison) *event.Poison {
	if IsRefusal(id, why) {
		return why
	}
	names, after := refused(why.Text)
	list := name(id)
	for _, n := range names {
		if len(list)+len(n) > maxNames {
			list += ", " + others
			break
		}
		list += ", " + n
	}
	return &event.Poison{Rank: why.Rank, Text: head + list + tail + after, Err: why.Err}
}

// IsRefusal tells whether p stems from a grant of id that was refused. A release that waits for what p has poisoned
// belongs to that grant: it must be skipped. A release with any other poison must be done. Where a chain of refusals is
// so long that p does not name all, it counts as one of any reservation: rather is a hold kept than that of somebody
// else ended.
func IsRefusal(id event.ID, p *event.Poison) bool {
	if p == nil {
		return false
	}
	names, _ := refused(p.Text)
	return slices.Contains(names, name(id)) || slices.Contains(names, others)
}
