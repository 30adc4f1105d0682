package comm

import "github.com/golci/golci/conduit"

// uncheckedAlloc is how many bytes are allocated without a look at the limits of the system, which takes system calls.
// A message above it takes far longer than they do.
const uncheckedAlloc = 64 << 20

// CheckAlloc returns ErrMemory if n bytes, of a message that a peer has told of, are more than this process may have:
// see conduit.CheckGrant. The make of so many would end the process. That it returns nil does not reserve anything. n
// is not negative. It does not block.
func CheckAlloc(n int64) error {
	if n <= uncheckedAlloc {
		return nil
	}
	return conduit.CheckGrant(n)
}
