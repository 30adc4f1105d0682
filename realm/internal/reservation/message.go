package reservation

// Kind is what a message says.
type Kind uint8

// Kinds of messages. The first three are for the owner, wherever it is.
const (
	Request  Kind = iota + 1 // Want.Rank waits
	Release                  // Want.N of those who hold it release it
	End                      // the lock is to refuse all from now on, because of Cause
	Transfer                 // the receiver is the owner
	Grant                    // Want.N waiters of the receiver hold it in mode Want.Mode; the sender stays the owner
	Moved                    // to the home: the lock has a new owner
	Refused                  // the lock refuses all, because of Cause
	Released                 // a release that asked for an answer has been counted
	Unheld                   // nobody held what the receiver has released
)

// Want is a rank that waits, with its oldest waiters: N of them, all with one mode.
type Want struct {
	Rank int32
	Mode Mode
	N    uint32 // 1 if the mode is exclusive
}

// Hint is an owner: Giver gave the lock to Owner in the transfer with the number Epoch. The first epoch is 0.
type Hint struct {
	Owner, Giver int32
	Epoch        uint64
}

// Message goes to the rank To. Slices belong to the lock that sends: they are to be copied before its next input.
type Message struct {
	Kind    Kind
	To      int32
	Want    Want // of a Request, Release, End or Grant; Want.Rank has sent the first three
	Hint    Hint // the latest that the sender knows
	Deaths  int  // of which the sender of a Request, Release or End knows
	Answer  bool // a Release is to be answered
	Cause   Cause
	Version uint64 // of Payload
	Wants   []Want // of a Transfer: the ranks that wait, the next one first
	Payload []byte // of a Transfer or Grant
}
