// Package suite knows the form of MPICH's tests: the lists of lines, the rules by which output is judged, and our own
// list of what is expected of each line. It reads no files but those that it is given, and runs nothing.
package suite
