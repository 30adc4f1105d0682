//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"errors"
	"strings"
	"testing"

	"github.com/golci/golci/conduit"
)

// TestGeometryRefuses: sizes out of range are errors that name them.
func TestGeometryRefuses(t *testing.T) {
	for name, c := range map[string]conduit.Config{
		"Loan":       {Loan: most.Loan + 1},
		"MaxRecord":  {MaxRecord: 56},
		"ReplySpace": {ReplySpace: -1},
		"BulkChunk":  {BulkChunk: most.BulkChunk + 1},
		"BulkSlots":  {BulkSlots: most.BulkSlots + 1},
	} {
		if _, err := newGeometry(c); !errors.Is(err, conduit.ErrConfig) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestGeometryAdmits: a loan of requests has room, replies have room beside them, and system records beside all.
func TestGeometryAdmits(t *testing.T) {
	for _, c := range []conduit.Config{{}, {Loan: 1}, {Loan: 16, MaxRecord: 1000, ReplySpace: 100}, {Loan: most.Loan}} {
		g, err := newGeometry(c)
		if err != nil {
			t.Fatal(err)
		}
		under := uint32(0)
		for range g.loan {
			if !g.doesAdmit(conduit.Request, under, cost(conduit.CreditBytes)) {
				t.Fatalf("%+v: no room for a request with %d bytes under way", c, under)
			}
			under += cost(conduit.CreditBytes)
		}
		for g.doesAdmit(conduit.Request, under, cost(8)) {
			under += cost(8)
		}
		for _, class := range []conduit.Class{conduit.Reply, conduit.System} {
			if !g.doesAdmit(class, under, cost(g.maxRecord)) {
				t.Errorf("%+v: class %d has no room beside requests", c, class)
			}
			under += cost(g.maxRecord)
		}
	}
}

// TestGeometryFits: chunks become shorter where messages have to, and records do not.
func TestGeometryFits(t *testing.T) {
	for _, c := range []struct {
		cfg   conduit.Config
		most  int
		chunk int
		ok    bool
	}{
		{conduit.Config{}, 1 << 20, 32 << 10, true},
		{conduit.Config{}, 16 << 10, 16<<10 - header - chunkHead, true},
		{conduit.Config{BulkChunk: 1000}, 16 << 10, 1000, true},
		{conduit.Config{BulkChunk: -1}, 16 << 10, 0, true},
		{conduit.Config{MaxRecord: 20 << 10}, 16 << 10, 16<<10 - header - chunkHead, false},
	} {
		g, err := newGeometry(c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		if ok := g.fit(c.most); ok != c.ok || g.chunk != c.chunk || ok && g.longest() > c.most {
			t.Errorf("%+v in %d: %v, chunks of %d, messages of %d", c.cfg, c.most, ok, g.chunk, g.longest())
		}
	}
}
