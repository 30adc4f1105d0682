package comm

import (
	"fmt"
	"io"

	"github.com/golci/golci/hashtable"
)

// waiting is a posted receive as it was found: o may be another one by now, so what names it is kept here. A wildcard has
// no key, but its context and the stamp, which no other of that context ever has.
type waiting struct {
	o     *op
	key   uint64
	wild  bool
	ctx   uint16
	stamp uint64
	peer  int32
}

// posted collects the receives that wait, of all contexts.
func (s *Server) posted() (out []waiting) {
	s.table.Range(func(key uint64, side hashtable.Side, n *node) bool {
		if side == hashtable.Post {
			out = append(out, waiting{o: &n.Value, key: key, peer: int32(keySource(key))})
		}
		return true
	})
	if m := s.ctxs.m.Load(); m != nil {
		for ctx, c := range *m {
			c.mu.Lock()
			for _, o := range c.posted {
				out = append(out, waiting{o: o, wild: true, ctx: ctx, stamp: o.stamp, peer: o.peer})
			}
			c.mu.Unlock()
		}
	}
	return out
}

// Pending is one operation or message that waits.
type Pending struct {
	What    string // "receive", "send", "unexpected message", "unexpected envelope"
	Context uint16
	Peer    int // a rank or AnySource
	Tag     int // or AnyTag
	Bytes   int64
}

// String gives p in one line.
func (p Pending) String() string {
	return fmt.Sprintf("%s: context %d, peer %s, tag %s, %d bytes", p.What, p.Context, orAny(p.Peer), orAny(p.Tag), p.Bytes)
}

func orAny(n int) string {
	if n < 0 {
		return "any"
	}
	return fmt.Sprint(n)
}

// Pending lists what waits, as far as it can be seen without stopping anybody.
func (s *Server) Pending() (out []Pending) {
	s.table.Range(func(key uint64, side hashtable.Side, n *node) bool {
		o := &n.Value
		p := Pending{"receive", keyContext(key), keySource(key), keyTag(key), int64(len(o.data))}
		if side == hashtable.Arrive {
			p.What, p.Bytes = "unexpected message", o.size
			if o.role == roleRTS {
				p.What = "unexpected envelope"
			}
		}
		out = append(out, p)
		return true
	})
	if m := s.ctxs.m.Load(); m != nil {
		for ctx, c := range *m {
			c.mu.Lock()
			for _, o := range c.posted {
				out = append(out, Pending{"receive", ctx, int(o.peer), int(o.tag), int64(len(o.data))})
			}
			c.mu.Unlock()
		}
	}
	s.ids.each(func(_ uint64, o *op) {
		what := "send"
		if o.role == roleRecv {
			what = "receive under way"
		}
		out = append(out, Pending{what, o.ctx, int(o.peer), int(o.tag), o.size})
	})
	return out
}

// Dump writes what waits, at most limit lines if limit > 0.
func (s *Server) Dump(w io.Writer, limit int) {
	list := s.Pending()
	fmt.Fprintf(w, "rank %d of %d: %d operations pending\n", s.rank, s.size, len(list))
	for i, p := range list {
		if limit > 0 && i == limit {
			fmt.Fprintf(w, "  and %d more\n", len(list)-limit)
			return
		}
		fmt.Fprintf(w, "  %s\n", p)
	}
}
