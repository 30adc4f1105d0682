package reservation

import (
	"fmt"

	"github.com/golci/golci/realm/internal/event"
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

// poisonFor is what c makes of the acquires of id. died is its Errors if a rank has died.
func (c Cause) poisonFor(id event.ID, died uint32) *event.Poison {
	why := reasons[min(int(c.Why), len(reasons)-1)]
	if c.Why < OwnerDied || c.Why > ReleaseLost {
		died = 0
	}
	return Refusal(id, &event.Poison{Rank: c.Rank, Errors: died, Text: fmt.Sprintf(why, c.Rank)})
}

// Refusal is the poison of a grant of id, when why keeps the acquire from happening. It names id, so that the release
// that belongs to the grant can be told from others.
func Refusal(id event.ID, why *event.Poison) *event.Poison {
	refused := why.Refused.With(id)
	if refused == why.Refused {
		return why
	}
	p := *why
	p.Refused = refused
	return &p
}

// IsRefusal tells whether p stems from a grant of id that was refused. A release that waits for what p has poisoned
// belongs to that grant: it must be skipped. A release with any other poison must be done.
func IsRefusal(id event.ID, p *event.Poison) bool { return p != nil && p.Refused.Has(id) }
