package comm

import (
	"fmt"
	"slices"
	"strings"
)

var schemeNames = [...]string{
	Auto: "auto", Stream: "stream", Get: "get", Halves: "halves", withEnvelope: "eager", asking: "rendezvous",
}

var trafficNames = [traffics]string{"", ", both ways", ", into buffers of the receiver alone", ", sent"}

// Schemes tells which schemes large messages take between this rank and its peers: a line of text for each peer, size
// and traffic. The present scheme comes first. The cost of the others is told in terms of it. It may be called at any
// time. It does not wait.
func (s *Server) Schemes() (lines []string) {
	var peers []int32
	s.paths.Range(func(k, _ any) bool {
		peers = append(peers, k.(int32))
		return true
	})
	slices.Sort(peers)
	for _, peer := range peers {
		p := s.pathsOf(peer)
		p.mu.Lock()
		for t := range traffics {
			for size, c := range p.classes[t] {
				if c != nil {
					what := sizeName(size) + trafficNames[t]
					lines = append(lines, fmt.Sprintf("large messages, rank %d, %s: %s", peer, what, c.orderText(orders[t][size])))
				}
			}
		}
		p.mu.Unlock()
	}
	return lines
}

// sizeName returns the text for a class of message sizes, such as "up to 64 KiB". size is the index of the class. The
// last class has no upper limit.
func sizeName(size int) string {
	if size == sizeClasses-1 {
		return fmt.Sprintf("over %d KiB", 1<<(firstClass-10+size-1))
	}
	return fmt.Sprintf("up to %d KiB", 1<<(firstClass-10+size))
}

// orderText tells of the schemes of the class, which are order.
func (c *pathClass) orderText(order []Scheme) string {
	best := c.picker.Best()
	text := []string{schemeNames[order[best]]}
	for i, w := range order {
		switch cost := c.picker.Cost(i); {
		case i == best:
		case cost == 0 || c.picker.Cost(best) == 0:
			text = append(text, schemeNames[w]+" not measured")
		default:
			text = append(text, fmt.Sprintf("%s takes %.2f times as long", schemeNames[w], cost/c.picker.Cost(best)))
		}
	}
	return strings.Join(text, ", ")
}
