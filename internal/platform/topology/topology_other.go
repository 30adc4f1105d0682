//go:build !linux

package topology

func readCPU(id int) CPU { return CPU{ID: id, Core: id} }

func readCaches([]CPU) []Cache { return nil }

// instancesOf knows nothing but the CPU itself.
func instancesOf(id int) []int { return []int{-1, -1, -1, -1, -1, -1, id} }
