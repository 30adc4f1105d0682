package crossing

import "time"

// Memcpy returns the rate in GB/s (1e9 bytes) at which the calling thread copies size bytes repeatedly from one
// buffer to another. It measures for at least d. It is the raw limit of a transfer that copies once.
func Memcpy(size int, d time.Duration) float64 {
	if size <= 0 {
		return 0
	}
	from, to := make([]byte, size), make([]byte, size)
	copy(to, from)
	round := max(1, 1<<20/size) // copies between two looks at the clock
	copied := 0
	start := time.Now()
	for {
		for range round {
			copied += copy(to, from)
		}
		if took := time.Since(start); took >= d {
			return float64(copied) / float64(took.Nanoseconds())
		}
	}
}
