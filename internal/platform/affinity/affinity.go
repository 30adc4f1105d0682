// Package affinity binds the calling OS thread to CPUs and tells which CPUs it may use. Only Linux has such system
// calls. On other systems binding does nothing and every CPU counts as usable.
package affinity

// Check tells whether the kernel lets this process bind its threads: it binds this one to the CPUs that it may use. A
// filter of system calls may refuse that. The error wraps the kernel's and names the call.
func Check() error { return check() }

// Count returns the number of CPUs that the calling OS thread may use. It is at least 1.
func Count() int { return max(1, len(Get())) }
