package reservation

import (
	"fmt"
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

func mark(id event.ID) string { return id.String() + " not acquired: " }

// Refusal is the poison of a grant of id, when why keeps the acquire from happening. It names id, so that the release
// that belongs to the grant can be told from others.
func Refusal(id event.ID, why *event.Poison) *event.Poison {
	if IsRefusal(id, why) {
		return why
	}
	return &event.Poison{Rank: why.Rank, Text: mark(id) + why.Text, Err: why.Err}
}

// IsRefusal tells whether p stems from a grant of id that was refused. A release that waits for what p has poisoned
// belongs to that grant: it must be skipped. A release with any other poison must be done.
func IsRefusal(id event.ID, p *event.Poison) bool {
	return p != nil && strings.Contains(p.Text, mark(id))
}
