// Package terms computes from settings on which terms ranks exchange messages: the mode of flow control, loans, banks,
// the longest record and the eager limit. All ranks of a job come to the same.
package terms
