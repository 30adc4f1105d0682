// Package argument has the arguments of collectives (MPI, chapter 6): what the program calls, what a rank uses of it,
// whether it fits, and the buffers as the bytes that a schedule moves. It knows where a rank stands among its peers,
// and no communicator.
package argument
