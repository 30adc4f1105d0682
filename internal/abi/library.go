package abi

// The names of the library: as programs are linked with it, and as they ask for it when they start (20.1).
const (
	LibraryFile = "libmpi_abi.so"
	LibraryName = "libmpi_abi.so.1"
)

// BuildArgs gives the arguments of the go command that builds the library from the module capi.
func BuildArgs(output string) []string {
	const ldflags = "-ldflags=-w -extldflags=-Wl,-soname," + LibraryName
	return []string{"build", "-buildmode=c-shared", "-trimpath", ldflags, "-o", output, "."}
}
