// Package affinity binds the calling OS thread to a CPU and says which CPUs it may use. On systems without the calls
// binding does nothing and every CPU counts as usable.
package affinity

// Count returns the number of CPUs that the calling OS thread may use, at least one.
func Count() int { return max(1, len(Get())) }
