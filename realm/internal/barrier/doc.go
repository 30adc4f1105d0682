// Package barrier is the protocol of barriers that have phases. It follows the barriers of Realm. It does no input or
// output, starts nothing, and takes no lock: its callers guard each object.
//
// # Phases
//
// A barrier has phases 1, 2, 3 and so on. Each expects the same number of arrivals, unless it is altered. It triggers
// when all have come and the phase before it has triggered. Arrivals at later phases are kept. A phase is an event: it
// has waiters, and may be poisoned. Phases do not run out: messages and handles carry 64 bits. An event.ID has room for
// 20 bits of them; Read says which phase an ID means.
//
// # Ranks
//
// Each rank that uses a barrier has one Barrier. The one on the owner counts. At first the owner is the rank that has
// made the barrier. The others send it arrivals, alterations and subscriptions. What a rank does between two calls of
// Flush travels together: arrivals at one phase are one message. A subscription travels with an arrival at its phase.
// A rank that has waited for a phase subscribes to the next one when it arrives there.
//
// The owner tells the subscribers of a phase that it has triggered, over a tree: it sends to four, and each passes the
// message on to four of its share. With n ranks that all arrive and wait, a phase takes 2(n-1) messages. The owner
// receives n-1 of them and sends 4. Arrivals do not travel over a tree: no rank can know how many arrivals those below
// it are yet to make, and waiting for them could last for ever.
//
// # Order
//
// Messages between two ranks may overtake each other. Each arrives once. Three rules follow.
//
//   - Each rank numbers its alterations of a barrier. The owner applies those of one rank in that order. An alteration
//     names the last one that its handle knew of, and waits for that one. So does an arrival. It also waits for all
//     alterations that its own rank has made before.
//   - A rank delivers the triggers that it has subscribed to in the order of their phases.
//   - Ownership has a number that grows. A message to the owner carries the number that its sender knows. A rank
//     that is not the owner passes the message on with a higher number, so it cannot go in a circle. A rank that
//     gets a number above its own is about to become the owner, and keeps the message until then. The message names
//     the former owner, too: if that one has died, the state will never come.
//
// # Failure
//
// A barrier fails when a rank dies that has arrived, altered or subscribed, or that its maker expects. It also fails
// when a message asks for what cannot be, such as more arrivals than expected. Then all phases that have not triggered
// are poisoned. The owner tells all ranks that it knows, without the tree. A rank asks again for a phase whose trigger
// it misses. When the owner itself dies, each rank poisons what it has not seen triggered. A former owner knows who may
// still believe in it, and tells them.
//
// # End
//
// A barrier that is destroyed fails, too, and the ranks that are told may forget it when they wait for nothing
// (Done). They answer by Stray what comes after that. The maker of the barrier, and a rank that has owned it, know
// that it has ended, and refuse messages for the owner. To any other rank such a message can only come because that
// rank is about to become the owner.
package barrier
