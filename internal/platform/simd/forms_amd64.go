//go:build !purego

package simd

import (
	"reflect"

	"github.com/klauspost/cpuid/v2"
)

//go:noescape
func prodInt64(dst, a, b *byte, n int)

// runnableForms are those that this machine can run, the best one last.
func runnableForms() []*form {
	all := []*form{{name: "scalar"}}
	if cpuid.CPU.Supports(cpuid.AVX2) {
		avx2 := &form{name: "AVX2", kernels: vectors}
		for _, k := range []reflect.Kind{reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint64, reflect.Uintptr} {
			avx2.kernels[opProd][k] = prodInt64
		}
		avx2.squareAdd = cpuid.CPU.Supports(cpuid.FMA3)
		all = append(all, avx2)
	}
	return all
}
