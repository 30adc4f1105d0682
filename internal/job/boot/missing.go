package boot

import "fmt"

// MissingError says which ranks did not come to a fence in time, or have ended and will not come. It wraps ErrMissing,
// and the context's error if there is one.
type MissingError struct {
	Size  int    // ranks in the job
	Ranks string // the missing ones, as in "1,3-5"; "" when the launcher does not let them be known
	Note  string // what is not known, and why; may be ""
	Ended bool   // the ranks have ended; others may be missing besides
	Err   error  // how the wait ended
}

// Error names the ranks.
func (e *MissingError) Error() string {
	who := "rank(s) " + e.Ranks
	if e.Ranks == "" {
		who = "some ranks"
	}
	if e.Ended {
		return fmt.Sprintf("golci: %s of %d ended while this rank waited for all", who, e.Size)
	}
	s := fmt.Sprintf("golci: %s of %d did not come: %v", who, e.Size, e.Err)
	if e.Note != "" {
		s += " (" + e.Note + ")"
	}
	return s
}

// Unwrap lets errors.Is find ErrMissing and the context's error.
func (e *MissingError) Unwrap() []error { return []error{ErrMissing, e.Err} }
