package conduit

import (
	"cmp"
	"fmt"
)

// WithDefaults is c with the sizes of d in place of those that are 0. A ReplySpace of 0 becomes what a loan or a record
// takes. It is for conduits over a network. The error matches ErrConfig and names a size that is less than what works,
// or more than that of most.
func (c Config) WithDefaults(d, most Config) (Config, error) {
	c.Loan, c.MaxRecord = cmp.Or(c.Loan, d.Loan), cmp.Or(c.MaxRecord, d.MaxRecord)
	c.ReplySpace = cmp.Or(c.ReplySpace, max(c.Loan*CreditBytes, c.MaxRecord))
	c.BulkChunk, c.BulkSlots = cmp.Or(c.BulkChunk, d.BulkChunk), cmp.Or(c.BulkSlots, d.BulkSlots)
	for _, f := range []struct {
		name           string
		v, least, most int
	}{
		{"Loan", c.Loan, 1, most.Loan},
		{"MaxRecord", c.MaxRecord, 64, most.MaxRecord},
		{"ReplySpace", c.ReplySpace, 1, most.ReplySpace},
		{"BulkChunk", c.BulkChunk, -1 << 62, most.BulkChunk},
		{"BulkSlots", c.BulkSlots, 1, most.BulkSlots},
	} {
		if f.v < f.least || f.v > f.most {
			return Config{}, fmt.Errorf("%w: %s is %d, want %d to %d", ErrConfig, f.name, f.v, f.least, f.most)
		}
	}
	return c, nil
}
