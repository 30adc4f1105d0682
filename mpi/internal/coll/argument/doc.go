// Package argument has the arguments of collectives (MPI, chapter 6). It describes what the program calls. It tells
// what a rank uses of that, and whether it fits. It gives the buffers as the bytes that a schedule moves. It knows
// where a rank stands among its peers, and no communicator.
package argument
