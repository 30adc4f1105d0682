package conduit

import (
	"errors"
	"strings"
	"testing"
)

func TestWithDefaults(t *testing.T) {
	d := Config{Loan: 10, MaxRecord: 1000, BulkChunk: 2000, BulkSlots: 4}
	most := Config{Loan: 20, MaxRecord: 4000, ReplySpace: 9000, BulkChunk: 3000, BulkSlots: 8}
	for _, c := range []struct{ given, want Config }{
		{Config{}, Config{Loan: 10, MaxRecord: 1000, ReplySpace: 10 * CreditBytes, BulkChunk: 2000, BulkSlots: 4}},
		{Config{Loan: 1}, Config{Loan: 1, MaxRecord: 1000, ReplySpace: 1000, BulkChunk: 2000, BulkSlots: 4}},
		{
			Config{BulkChunk: -1, ReplySpace: 5, TinyQueues: true},
			Config{Loan: 10, MaxRecord: 1000, ReplySpace: 5, BulkChunk: -1, BulkSlots: 4, TinyQueues: true},
		},
	} {
		if got, err := c.given.WithDefaults(d, most); err != nil || got != c.want {
			t.Errorf("%+v: %+v, %v, want %+v", c.given, got, err, c.want)
		}
	}
	for name, bad := range map[string]Config{
		"Loan": {Loan: 21}, "MaxRecord": {MaxRecord: 63}, "ReplySpace": {ReplySpace: -1}, "BulkChunk": {BulkChunk: 3001},
		"BulkSlots": {BulkSlots: -1},
	} {
		if _, err := bad.WithDefaults(d, most); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), name+" is ") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
