package badnet

// Dice throw numbers that follow from a seed alone (SplitMix64). They have one owner at a time.
type Dice struct{ state uint64 }

const golden = 0x9e3779b97f4a7c15

// NewDice makes the dice of one use among several that share a seed.
func NewDice(seed uint64, use ...uint64) Dice { return Dice{Seed(seed, use...)} }

// Seed derives the seed of one use from that of all: neighbouring numbers give seeds that have nothing in common.
func Seed(seed uint64, use ...uint64) uint64 {
	for _, n := range use {
		seed = spreadBits((seed + n + 1) * golden)
	}
	return seed
}

// Uint64 is any number.
func (d *Dice) Uint64() uint64 {
	d.state += golden
	return spreadBits(d.state)
}

// rollChance is at least 0 and below 1.
func (d *Dice) rollChance() float64 { return float64(d.Uint64()>>11) / (1 << 53) }

// Hit is true with chance p. Dice that cannot hit are not thrown.
func (d *Dice) Hit(p float64) bool { return p > 0 && d.rollChance() < p }

// spreadBits is the last step of SplitMix64.
func spreadBits(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
