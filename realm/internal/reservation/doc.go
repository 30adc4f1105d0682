// Package reservation is the protocol of reservations: locks that move between ranks and carry a small payload. It
// follows the lock implementation of Realm. It does no input or output, starts nothing, and takes no lock: its callers
// guard each object.
//
// # Ownership
//
// Each rank that knows a reservation has a Lock for it, and one of them is the owner. The owner alone grants. It counts
// who holds the lock, on all ranks, and has the set of the other ranks that wait. A rank that waits and is not the
// owner has one request, which is under way or in that set. The owner gives the lock away only when nobody holds it,
// and only to a rank that waits. The transfer carries the rest of the set and the payload.
//
// # Hints
//
// Each transfer has a number, the epoch of the new owner. A rank sends what is for the owner to the owner of the
// latest epoch that it knows, and names that epoch. Who receives it knows a later one and forwards it, or owns the
// lock, or learns that a transfer to itself is under way. In that case it keeps the message until the transfer
// arrives. So a message never goes back to an older owner, and messages may overtake each other.
//
// # Fairness
//
// Local waiters are served in order, and before those of other ranks. Once Turns of them have been served in a row
// while another rank waits, the lock goes to that rank. Ranks are served in the order of their requests.
//
// # Sharing
//
// Holders of one shared mode may be on several ranks. The owner counts them all. It answers a request of another rank
// with a grant, which carries a copy of the payload to read. A release on another rank is a message to the owner.
//
// A hold may be released on another rank than that of its grant. If the mode is shared, the owner then cannot tell
// which ranks still hold the lock. That matters only when one of them dies.
//
// # Death
//
// The rank that made the reservation is its home. It is told of each transfer between two others, so that it knows the
// last owner when a rank has died: all that a rank sent is handled before its death is told. The lock dies with its
// home, with its owner, and with a rank that holds it. Then waiters and later requests are refused. Each rank whose
// request may be lost sends it again. It carries how many deaths its sender knows of. A rank that knows of fewer keeps
// it until it has been told. So the request sent after the last death never goes to a rank that has died.
package reservation
