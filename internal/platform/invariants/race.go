//go:build race

package invariants

import (
	"runtime"
	"unsafe"
)

// Race is true under the race detector.
const Race = true

// beyond stands for all other processes. What leaves this one may have been the cause of all that enters it later.
var beyond uint64

// Leave tells the race detector that what the caller has done so far can be known to other processes.
func Leave() { runtime.RaceReleaseMerge(unsafe.Pointer(&beyond)) }

// Enter tells the race detector that the caller knows something from another process. All that was done before calls of
// Leave is now before what the caller does. Two calls of Leave, or two of Enter, have no order. Which message answers
// which is not known: a race can be missed, but none is reported where there is none.
func Enter() { runtime.RaceAcquire(unsafe.Pointer(&beyond)) }
