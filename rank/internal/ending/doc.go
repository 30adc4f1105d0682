// Package ending ends a rank: how all ranks agree on an exit code, and what Finalize waits for.
package ending
