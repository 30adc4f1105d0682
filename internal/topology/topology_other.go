//go:build !linux

package topology

func readCPU(id int) CPU { return CPU{ID: id, Core: id} }

func readCaches([]CPU) []Cache { return nil }
