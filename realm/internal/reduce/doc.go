// Package reduce has reductions into data that others reduce into, too. A reduction is an operator (Op), a point and a
// value. A task makes its reductions into an instance of its own: a Fold, an array that combines the values of each
// point, or a List, a log of them. In the end the instance is applied to the data (Target), at once or as chunks of
// bytes on the rank that has them.
//
// It does no input or output, starts nothing and takes no lock.
package reduce
