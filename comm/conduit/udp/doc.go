// Package udp is the conduit between machines that have nothing but IP between them: reliable, authenticated messages over
// UDP, after the usnic transport of Open MPI. It joins comm/reliable (what is sent again, and when), seal (who may read
// and write), and mmsg (batches of datagrams). docs/udp.md tells how and why.
//
// Records arrive in any order, each once; there are no credit words. A record that is committed while nothing waits towards its
// peer leaves at once; what is committed while it is on its way leaves with the next poll, together. A goroutine of the
// conduit's own, the keeper, parks in the netpoller while nobody polls: it acknowledges, sends again and answers
// keep-alives, so that a rank that computes is not taken for dead.
//
// # Locks
//
// Three, always taken in this order:
//
//   - poll: whoever receives. It owns the inbox and the receive buffers.
//   - engine: whoever moves what is staged into the reliable core, and the core's packets into the socket. It is held for
//     a batch at most, also across the system call, so nobody waits for it who can leave the work to the holder.
//   - the caller's own lock for Reserve and Commit, which keeps a lane's stage to one writer.
package udp
