//go:build purego || !(amd64 || arm64)

package simd

// forms are those that this machine can run, the best one last.
func forms() []*form { return []*form{{name: "scalar"}} }
