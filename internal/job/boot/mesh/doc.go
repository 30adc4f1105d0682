// Package mesh carries small messages between ranks of different nodes over TCP, independently of the conduit. Only
// ranks of the job can talk to each other there, and nobody else can read their messages.
//
// A connection goes one way. A rank makes it for its first message to another and keeps it. It carries one message at a
// time: the sender waits until the receiver has confirmed it. It begins with
//
//	nonce (16) | HMAC of the nonce (32)      from the caller, so that a stranger costs one hash
//	TLS 1.3                                  both sides show that they know the job's key
//	caller (4) | called (4)                  from the caller
//	rank (4)                                 from the called side, which hangs up unless it is that one
//
// and then has frames of number (8), length (1) and message from the caller, and the number (8) of each from the other
// side. Integers are little endian. A message that is repeated on a new connection keeps its number, and so is taken
// once.
package mesh
