// Package portals is a conduit whose receive space is one pool per rank, shared by all peers, as in the Portals conduit
// of GASNet: memory grows with the credits lent, not with the number of ranks. It joins ranks of one process, works on
// every platform and, living on the Go heap, is seen whole by the race detector.
//
// A rank receives on three queues. Requests arrive on AM, in the space that credits stand for; replies on SAFE, in space
// that the requester set aside when it sent the request; system records on SYS. Each queue is a list of buffers. A sender
// reserves a place in the current buffer by an atomic addition, fills it, and publishes it by one word. The reservation
// that leaves less than a longest record's room closes the buffer and moves everybody to the next. When all records of
// a buffer have been served it goes back to the end of the list.
//
// Records are served as they are published, not as they were reserved, so a sender that is descheduled in between holds up
// its own record and the reuse of that buffer, and nothing else. Records of one pair may overtake each other.
//
// A sender holds a send ticket, and a chunk of send buffer for each KiB, from Reserve until the receiver has served the record.
// Whoever has none left is told Retry. The receiver tells by a cumulative counter that the sender looks at when it runs short, so
// completion costs no message. There are no credit words and there is no bulk channel: credits travel on records.
package portals
