package pmix

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// parsePeers reads the ranks of a node as a server gives them, "0,1,5", in a job of size ranks. It returns them
// ascending, without repetitions. The error says which part is no rank of the job.
func parsePeers(text string, size int) ([]int, error) {
	var out []int
	for part := range strings.SplitSeq(text, ",") {
		rank, err := strconv.Atoi(part)
		if err != nil || rank < 0 || rank >= size {
			return nil, fmt.Errorf("pmix: the server gives %.40q among the ranks of this node, in a job of %d", part, size)
		}
		out = append(out, rank)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
