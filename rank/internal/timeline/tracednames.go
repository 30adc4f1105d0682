package timeline

import (
	"cmp"
	"fmt"
	"sync/atomic"

	"github.com/golci/golci/internal/observe/trace"
)

// names are those of a rank's records. Those of handlers are made when they are first needed.
type names struct {
	bulkSend, bulk, get, put, poll, sleep, gone trace.Name

	out, in [256]atomic.Uint32 // by handler; 0 until it is made
}

// message is the category of messages. Arrows lead from one to another.
const message = "message"

func (n *names) define(r *trace.Recorder) {
	for to, l := range map[*trace.Name]trace.Label{
		&n.bulkSend: {Text: "send bulk", Category: message, Args: [3]string{"peer", "bytes"}},
		&n.bulk:     {Text: "bulk", Category: message, Args: [3]string{"peer", "bytes"}},
		&n.get:      {Text: "get", Category: message, Args: [3]string{"peer", "bytes"}},
		&n.put:      {Text: "put", Category: message, Args: [3]string{"peer", "bytes"}},
		&n.poll:     {Text: "poll", Category: "progress", Args: [3]string{"handled"}},
		&n.sleep:    {Text: "sleep", Category: "progress"},
		&n.gone:     {Text: "rank gone", Category: "progress", Args: [3]string{"peer"}},
	} {
		*to = r.Name(l)
	}
}

// sent is the name of a message that is sent for handler h, handled of one that has come.
func (n *names) sent(w *traced, h uint8) trace.Name    { return n.nameOf(w, &n.out[h], "send ", h) }
func (n *names) handled(w *traced, h uint8) trace.Name { return n.nameOf(w, &n.in[h], "", h) }

func (n *names) nameOf(w *traced, at *atomic.Uint32, before string, h uint8) trace.Name {
	if name := at.Load(); name != 0 {
		return trace.Name(name)
	}
	name := w.t.rec.Name(trace.Label{
		Text:     before + cmp.Or(w.ep.HandlerName(h), fmt.Sprintf("handler %d", h)),
		Category: message, Args: [3]string{"peer", "bytes"},
	})
	at.Store(uint32(name))
	return name
}
