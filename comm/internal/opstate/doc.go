// Package opstate is the life of an operation: a table says which states it has and what leads from one to the next,
// and a word says where the operation is. It does no input or output, starts nothing and waits for nothing.
//
// Several parties have a hand in an operation: its caller, a queue, the peer that owes an answer, a transfer. Each
// lets go once. The last party but the caller completes the operation, and the last of all frees it. So nobody
// touches an operation that is in use for something else.
package opstate
