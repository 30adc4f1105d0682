//go:build !linux

package trace

import "time"

// machineClock is the time of day.
func machineClock() int64 { return time.Now().UnixNano() }
