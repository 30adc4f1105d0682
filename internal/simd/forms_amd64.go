//go:build !purego

package simd

import "github.com/klauspost/cpuid/v2"

// forms are those that this machine can run, the best one last.
func forms() []*form {
	all := []*form{{name: "scalar"}}
	if cpuid.CPU.Supports(cpuid.AVX2) {
		all = append(all, &form{"AVX2", kernelsAVX2})
	}
	return all
}
