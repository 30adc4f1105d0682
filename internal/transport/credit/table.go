package credit

// row is one line of the default table, for a job of that many ranks. It has the credits that a rank lends to each peer
// from the start, and those that it banks.
type row struct{ nodes, perPeer, banked int }

// The default tables of the GASNet Portals conduit, for request chunks of 1 KiB and of 2 KiB.
var (
	chunk1K = []row{
		{1, 200, 400},
		{64, 170, 25600},
		{128, 170, 51200},
		{512, 64, 51200},
		{1024, 32, 51200},
		{2048, 16, 51200},
		{3072, 12, 51200},
		{4096, 8, 51200},
		{5120, 4, 51200},
		{20480, 4, 51200},
	}
	chunk2K = []row{
		{1, 200, 200},
		{64, 170, 12800},
		{128, 170, 25600},
		{512, 64, 25600},
		{1024, 32, 25600},
		{2048, 16, 25600},
		{3072, 12, 25600},
		{4096, 8, 25600},
		{20480, 8, 25600},
	}
)

// Defaults gives the credits lent to each peer and the credits banked in a job of the given number of ranks. chunk is
// the size of request chunks in bytes, 1024 or 2048. Anything up to 1024 takes the first table. Between two rows it
// interpolates linearly. Beyond the last row the last row holds.
func Defaults(nodes, chunk int) (perPeer, banked int) {
	table := chunk2K
	if chunk <= 1024 {
		table = chunk1K
	}
	if nodes <= table[0].nodes {
		return table[0].perPeer, table[0].banked
	}
	for i := 1; i < len(table); i++ {
		if nodes <= table[i].nodes {
			return pointsBetween(table[i-1], table[i], nodes)
		}
	}
	last := table[len(table)-1]
	return last.perPeer, last.banked
}

func pointsBetween(a, b row, nodes int) (perPeer, banked int) {
	num, den := nodes-a.nodes, b.nodes-a.nodes
	return a.perPeer + (b.perPeer-a.perPeer)*num/den, a.banked + (b.banked-a.banked)*num/den
}

// The bank of loans that change never exceeds the line between these two. At 10,000 ranks the first loans take 40,000
// credits of the receive space, and with this bank all of it takes 12.6 MB. The bank of the table would take as much
// again. This one still lends 16 peers the 400 credits that the table calls the most of a loan. Its sixteenth is one
// such loan, and that is what a loan grows by in an epoch.
var fullBank, leastBank = row{nodes: 64, banked: 25600}, row{nodes: 10000, banked: 6400}

// mostBanked is the largest bank in a job of that many ranks.
func mostBanked(nodes int) int {
	_, banked := pointsBetween(fullBank, leastBank, min(max(nodes, fullBank.nodes), leastBank.nodes))
	return banked
}

// MaxPerPeer is the most that is lent to one peer. GASNet's gasnetc_max_cpn is 400. It is more here: loans on one node
// are receive space in a cache, and deeper rings move more.
const MaxPerPeer = 640

// Static gives the loan of each peer where loans never change. It is the default table's, and an equal share of the
// table's bank, which nobody would borrow, up to MaxPerPeer.
func Static(nodes int) int {
	perPeer, banked := Defaults(nodes, 1024)
	return min(MaxPerPeer, perPeer+banked/max(1, nodes-1))
}
