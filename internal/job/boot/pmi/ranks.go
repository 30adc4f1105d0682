package pmi

import (
	"fmt"
	"strconv"
	"strings"
)

// FormatRanks writes ascending ranks as "1,3-5,9", at most about limit bytes; what does not fit is left out and
// counted, as in "1,3-5,+20". It returns "" for none.
func FormatRanks(ranks []int, limit int) string {
	var b strings.Builder
	for i := 0; i < len(ranks); {
		j := i
		for j+1 < len(ranks) && ranks[j+1] == ranks[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		if b.Len() > limit {
			fmt.Fprintf(&b, "+%d", len(ranks)-i)
			break
		}
		b.WriteString(strconv.Itoa(ranks[i]))
		if j > i {
			b.WriteString("-" + strconv.Itoa(ranks[j]))
		}
		i = j + 1
	}
	return b.String()
}

// Mapping says which rank is on which node. It takes a few words for each block of nodes, and none for a rank.
type Mapping struct {
	blocks []block
	cycle  int // ranks of all blocks
	size   int // ranks of the job
}

// ParseMapping reads the value of KeyMapping, "(vector,(first,nodes,perNode),...)", for size ranks. An empty value, or
// one that does not cover size ranks, gives nil: the caller then finds out by itself. A block's ranks are dealt to its
// nodes in order, perNode to each, and the blocks repeat until size is reached.
func ParseMapping(s string, size int) (*Mapping, error) {
	if s == "" || size <= 0 {
		return nil, nil
	}
	body, ok := strings.CutPrefix(s, "(vector,")
	if !ok || !strings.HasSuffix(body, ")") {
		return nil, fmt.Errorf("%w: process mapping %q", ErrSyntax, s)
	}
	blocks, err := parseBlocks(strings.TrimSuffix(body, ")"))
	if err != nil {
		return nil, fmt.Errorf("%w: process mapping %q", err, s)
	}
	m := &Mapping{size: size}
	for _, b := range blocks {
		if n := b.nodes * b.perNode; n > 0 {
			m.blocks, m.cycle = append(m.blocks, b), m.cycle+n
		}
	}
	if m.cycle == 0 {
		return nil, nil
	}
	return m, nil
}

// Node is the number of the node of a rank of the job.
func (m *Mapping) Node(rank int) int {
	rank %= m.cycle
	for _, b := range m.blocks {
		if n := b.nodes * b.perNode; rank >= n {
			rank -= n
			continue
		}
		return b.first + rank/b.perNode
	}
	return -1 // of no rank: the cycle is the blocks
}

// Mates are the ranks on the node of a rank, ascending, that one included.
func (m *Mapping) Mates(rank int) (out []int) {
	node, at := m.Node(rank), 0
	for at < m.size {
		for _, b := range m.blocks {
			if i := node - b.first; i >= 0 && i < b.nodes {
				first := at + i*b.perNode
				for r := first; r < min(first+b.perNode, m.size); r++ {
					out = append(out, r)
				}
			}
			at += b.nodes * b.perNode
		}
	}
	return out
}

type block struct{ first, nodes, perNode int }

const maxMapNumber = 1 << 24 // no job has more nodes or ranks a node; keeps sums from overflowing

func parseBlocks(s string) ([]block, error) {
	var blocks []block
	for s != "" {
		end := strings.IndexByte(s, ')')
		if s[0] != '(' || end < 0 {
			return nil, ErrSyntax
		}
		var n [3]int
		words := strings.Split(s[1:end], ",")
		if len(words) != len(n) {
			return nil, ErrSyntax
		}
		for i, w := range words {
			v, err := strconv.Atoi(w)
			if err != nil || v < 0 || v > maxMapNumber {
				return nil, ErrSyntax
			}
			n[i] = v
		}
		blocks = append(blocks, block{n[0], n[1], n[2]})
		s = strings.TrimPrefix(s[end+1:], ",")
	}
	return blocks, nil
}

// FormatMapping writes the value of KeyMapping for nodes that have counts[0], counts[1], ... consecutive ranks. Nodes
// in succession with the same count make one block.
func FormatMapping(counts []int) string {
	var b strings.Builder
	b.WriteString("(vector")
	for i := 0; i < len(counts); {
		j := i + 1
		for j < len(counts) && counts[j] == counts[i] {
			j++
		}
		fmt.Fprintf(&b, ",(%d,%d,%d)", i, j-i, counts[i])
		i = j
	}
	return b.String() + ")"
}
