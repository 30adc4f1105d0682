// Package timeline records what a rank does, for the file that GOLCI_TRACE names: messages and polls at the conduit,
// the waits of calls, and counters. Ranks of several machines compare their clocks for it.
package timeline
