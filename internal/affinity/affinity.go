// Package affinity binds the calling OS thread to CPUs and says which CPUs it may use. On systems without the calls
// binding does nothing and every CPU counts as usable.
package affinity

// Check says whether the kernel lets this process bind its threads: it binds the calling one to the CPUs that it may
// use anyway. A filter of system calls may refuse that, or refuse to tell those CPUs. The error is then the kernel's
// and names the call.
func Check() error { return check() }

// Count returns the number of CPUs that the calling OS thread may use, at least one.
func Count() int { return max(1, len(Get())) }
