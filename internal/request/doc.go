// Package request is what operations that end later have in common, whatever they are. An operation has a number by
// which peers name it (Numbers), and its memory is used again (Pool). Neither knows what an operation is.
package request
