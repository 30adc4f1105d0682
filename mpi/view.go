package mpi

import "context"

// WithContext returns a view of c: the same communicator, with the same ranks and messages, whose waiting calls end
// when ctx does. That holds for point to point, probes, values and collectives called on the view, and for waits for
// requests that it has started. A call that ends so returns in time, whatever other ranks do, with one exception
// below. Its error is ErrCancelled and the cause of ctx; its buffers are the caller's again.
//
//   - A receive is as if it had not been called: the next one gets the message. But a message that has been matched is
//     received. Its bytes may still have to come from the sender: a long message between nodes, and within one where
//     ranks do not reach each other's memory. The call then waits for them, or for the failure of that rank. Test and
//     its like do not block for them either.
//   - A send is taken back if its receiver has not been told of it. Else its bytes are copied, and the receiver gets
//     the whole message or none of it: the sender does not learn which.
//   - A collective that ends so has failed on this rank, and so the collectives of the communicator end: see
//     CollectiveError. It waits for bytes under way as a receive does.
//   - CreateGroup, CreateInter, Merge, Disconnect, SplitHardware, topologies that reorder, and what makes communicators
//     of an inter-communicator tell nobody. The other ranks wait on, unless they have a limit, too.
//
// Bytes of a view's large messages are copied once more than those of c where ranks share a node. With a context that
// never ends the calls wait as those of c do; a view of a view has the new context alone. A nil ctx gives a view
// whose calls all return ErrArgument. Freeing a view frees c. It does not block.
func (c *Comm) WithContext(ctx context.Context) *Comm { return (*Comm)(c.core().WithContext(ctx)) }
