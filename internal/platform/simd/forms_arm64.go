//go:build !purego

package simd

// runnableForms are those that this machine can run, the best one last. Go's arm64 has NEON always.
func runnableForms() []*form { return []*form{{name: "scalar"}, {name: "NEON", kernels: vectors}} }
