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

// ParseMapping reads the value of KeyMapping, "(vector,(first,nodes,perNode),...)", and returns the node of each of
// size ranks. An empty value, or one that does not cover size ranks, gives nil: the caller then finds out by itself.
// A block's ranks are dealt to its nodes in order, perNode to each, and the blocks repeat until size is reached.
func ParseMapping(s string, size int) ([]int, error) {
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
	return dealRanks(blocks, size), nil
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

func dealRanks(blocks []block, size int) []int {
	var node []int
	for len(node) < size {
		before := len(node)
		for _, b := range blocks {
			for i := 0; i < b.nodes && len(node) < size; i++ {
				for k := 0; k < b.perNode && len(node) < size; k++ {
					node = append(node, b.first+i)
				}
			}
		}
		if len(node) == before { // only empty blocks
			return nil
		}
	}
	return node
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
