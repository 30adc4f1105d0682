// Package notice has the kinds of the notices that ranks exchange about communicators, apart from messages.
package notice

// A notice has four arguments: the uid of the communicator, the number of the call, the kind, and one more. The upper
// half of the kind is the rank that sends it.
const (
	Failed   = iota // a collective has failed: the reason; the text is the function, ": " and the text of the error
	Ask             // a rank waits long: the tags of its call, that of all messages << 32 | that of the last
	Answer          // the tag of what the rank that was asked has called
	Left            // the id of the communicator, which the rank has freed; no uid, call and rank
	Window          // of a window: what it is about in place of the call, and its argument
	Revoked         // that the communicator is revoked
	Agree           // of an agreement; the text is its message
	Call            // a call at a port: its key in place of the uid, and the number of the port
	Answered        // the answer to that: the key, and what became of the call
	Shm             // that the shared segment has changed, for a rank that may be asleep
	Parts           // of a partitioned send: the channel; call is the tag and its number; the text is the batch
)

// LowHalf is of an argument that holds two values.
const LowHalf = 1<<32 - 1
