package boot

import (
	"runtime"
	"strconv"

	"github.com/golci/golci/internal/job/boot/pmi"
)

// announceRank shows this rank to the others of its node while it waits for the job to be complete. So a rank whose
// time runs out can name those that have not come. A foreign launcher does not name them.
func (w *pmiStore) announceRank(rank int, nodes placement) (leave func()) {
	if w.ours || w.virtual != nil || runtime.GOOS != "linux" {
		return func() {}
	}
	ln, err := listenAbstract(w.hereName(rank))
	if err != nil {
		return func() {} // the others will name this rank in vain; nothing else is lost
	}
	w.missing = func() (string, string) { return w.absentRanks(rank, nodes) }
	return func() { ln.Close() }
}

func (w *pmiStore) hereName(rank int) string {
	return socketName("here " + w.kvs + " " + strconv.Itoa(rank))
}

// absentRanks looks for the missing ranks of this node. Those of other nodes cannot be seen.
func (w *pmiStore) absentRanks(rank int, nodes placement) (ranks, note string) {
	var out []int
	elsewhere := nodes == nil
	for r := range w.size {
		if nodes != nil && nodes.Node(r) != nodes.Node(rank) {
			elsewhere = true
			continue
		}
		if r != rank && !isAnswered(w.hereName(r)) {
			out = append(out, r)
		}
	}
	if elsewhere {
		note = "as far as this node can see; the launcher does not tell about ranks of other nodes"
	}
	return pmi.FormatRanks(out, pmi.SafeValue), note
}
