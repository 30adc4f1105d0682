package contextid

// Mix spreads the bits of two words over one.
func Mix(a, b uint64) uint64 {
	h := (a ^ b*0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9
	return (h ^ h>>29) * 0x94d049bb133111eb
}
