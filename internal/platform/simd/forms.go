package simd

import "github.com/golci/golci/internal/platform/invariants"

// form is one way to combine elements.
type form struct {
	name      string
	kernels   kernels
	squareAdd bool // has squareAdd64
}

// chosen is the form in use. It is set once, at the start of the process.
var chosen = chooseForm()

// chooseForm takes the best of the machine's forms. The race detector does not see what assembly touches, so there the
// loops in Go are in use, which it watches.
func chooseForm() *form {
	all := runnableForms()
	if invariants.Race {
		return all[0]
	}
	return all[len(all)-1]
}

// Chosen names the form in use: scalar, AVX2 or NEON.
func Chosen() string { return chosen.name }
