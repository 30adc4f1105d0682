// Package udp is the conduit between machines that have nothing but IP between them: reliable, authenticated messages
// over UDP, after the usnic transport of Open MPI. It joins internal/transport/reliable (what is sent again, and when),
// seal (who may read and write), and mmsg (batches of datagrams). docs/design/udp.md tells how and why.
//
// Records arrive in any order, each once; there are no credit words. A record that is committed while nothing waits
// towards its peer leaves at once; what is committed while it is on its way leaves with the next poll, together. A
// goroutine of the conduit's own, background progress, parks in the netpoller while nobody polls: it acknowledges,
// sends again and answers keep-alives, so that a rank that computes is not taken for dead.
//
// # Locks
//
// In the order in which they are taken:
//
//   - sleep.role: whoever waits for the socket. A sleeper also asks its caller's condition under it;
//   - poll: whoever receives. It owns the inboxes and the receive buffers;
//   - the caller's own lock for Reserve and Commit, or for BulkSend, which keeps a peer's stage to one writer. Sinks
//     take it, too;
//   - engine: whoever moves what is staged into the reliable core, and the core's packets into the socket. It is held
//     across system calls, as long as there is something to send and the socket takes it. Who commits does not wait for
//     it but leaves a mark, and the holder looks for marks after it has let go; a poller waits.
//
// dirtyMu and mu guard a list each; nothing is taken under them.
package udp
