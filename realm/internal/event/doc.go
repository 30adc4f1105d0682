// Package event is the protocol of generational events: what the rank that owns one keeps, what the other ranks keep,
// and the messages between them. It follows the event implementation of Realm. It does no input or output, starts
// nothing, and takes no lock: its callers guard each object.
package event
