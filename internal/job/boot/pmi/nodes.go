package pmi

import (
	"fmt"
	"strings"
)

// FormatNodes writes the value of KeyMapping for ranks of which nodes says the node, by rank. Nodes are numbered from 0
// in the order of their lowest ranks. It returns "" if the value would be longer than limit bytes.
func FormatNodes(nodes []int, limit int) string {
	var b strings.Builder
	b.WriteString("(vector")
	for _, x := range shortestPeriod(blocksOf(nodes)) {
		fmt.Fprintf(&b, ",(%d,%d,%d)", x.first, x.nodes, x.perNode)
		if b.Len() >= limit {
			return ""
		}
	}
	return b.String() + ")"
}

// blocksOf groups ranks in succession on one node, and then such groups of one size on nodes in succession.
func blocksOf(nodes []int) (out []block) {
	for i := 0; i < len(nodes); {
		j := i
		for j < len(nodes) && nodes[j] == nodes[i] {
			j++
		}
		last := len(out) - 1
		if last >= 0 && out[last].perNode == j-i && out[last].first+out[last].nodes == nodes[i] {
			out[last].nodes++
		} else {
			out = append(out, block{nodes[i], 1, j - i})
		}
		i = j
	}
	return out
}

// shortestPeriod is the shortest beginning of blocks whose repetition gives them all: readers repeat the blocks
// themselves.
func shortestPeriod(blocks []block) []block {
	for n := 1; n <= len(blocks)/2; n++ {
		if len(blocks)%n == 0 && repeatsAt(blocks, n) {
			return blocks[:n]
		}
	}
	return blocks
}

func repeatsAt(blocks []block, n int) bool {
	for i, b := range blocks[n:] {
		if b != blocks[i] {
			return false
		}
	}
	return true
}

// Publish makes a value visible at once. The key is the server's own, such as KeyMapping; ranks cannot put it.
func (s *Server) Publish(key, value string) { s.kvs[key] = value }
