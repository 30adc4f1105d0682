package core

import (
	"cmp"
	"slices"

	"github.com/golci/golci/mpi/internal/topo"
)

// edgeMessage is an edge on its way to a rank that it concerns.
type edgeMessage struct {
	to     int // rank in the party
	writer int // who has declared it
	edge   topo.Edge
}

// letterWords is how many words a letter has.
const letterWords = 5

func packEdges(list []edgeMessage) []uint64 {
	words := make([]uint64, 0, letterWords*len(list))
	for _, l := range list {
		words = append(words, uint64(l.to), uint64(l.writer), uint64(l.edge.From), uint64(l.edge.To), uint64(l.edge.Weight))
	}
	return words
}

func unpackEdges(words []uint64) []edgeMessage {
	list := make([]edgeMessage, 0, len(words)/letterWords)
	for w := range slices.Chunk(words, letterWords) {
		if len(w) == letterWords {
			e := topo.Edge{From: int(w[2]), To: int(w[3]), Weight: int(w[4])}
			list = append(list, edgeMessage{int(w[0]), int(w[1]), e})
		}
	}
	return list
}

// route brings letters to their ranks, in about log2 as many steps as there are members. In step i a member sends to
// the one 2^i behind it, going round, what has still to go at least so far by that bit of the distance. So nobody holds
// more than what concerns it and what passes. Letters of one writer to one rank stay in their order.
func (y *groupExchange) route(list []edgeMessage) ([]edgeMessage, error) {
	s, n := &y.p.system, len(y.members)
	for step := 1; step < n; step *= 2 {
		var keep, send []edgeMessage
		for _, l := range list {
			if (l.to-y.me+n)%n&step != 0 {
				send = append(send, l)
			} else {
				keep = append(keep, l)
			}
		}
		w := s.expectFrom(y, y.rankOf((y.me-step+n)%n))
		if err := s.sendMessage(y, y.rankOf((y.me+step)%n), bytesOfWords(packEdges(send))); err != nil {
			return nil, err
		}
		b, err := s.awaitMessage(y, w)
		if err != nil {
			return nil, err
		}
		list = append(keep, unpackEdges(wordsOf(b))...)
	}
	return list, nil
}

// CreateDist makes a duplicate of c with a graph of the edges that all ranks declare (8.5.4, MPI_Dist_graph_create).
// weighted is the same on all ranks. A rank gets those edges only that begin or end at it. Collective over c; it waits.
// Errors are those of Dup.
func (c *Comm) CreateDist(edges []topo.Edge, weighted bool) (*Comm, error) {
	const what = "CreateDistGraph"
	if err := c.usableIntra(what); err != nil {
		return nil, err
	}
	var list []edgeMessage
	for to, mine := range topo.Mail(edges) {
		for _, e := range mine {
			list = append(list, edgeMessage{to, c.rank, e})
		}
	}
	list, err := c.meeting(what).route(list)
	if err != nil {
		return nil, c.dressed(what, err)
	}
	slices.SortStableFunc(list, func(a, b edgeMessage) int { return cmp.Compare(a.writer, b.writer) })
	mine := make([]topo.Edge, len(list))
	for i, l := range list {
		mine[i] = l.edge
	}
	return c.CreateAdjacent(topo.Gather(c.rank, [][]topo.Edge{mine}, weighted))
}
