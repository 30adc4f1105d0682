package credit

// Note is a lender's report to its borrower. It has cumulative counts that wrap. So a note may be repeated, lost, or
// overtaken by a later one.
//
// Packed into 32 bits, for records, it has 20 bits of returned and 12 bits of granted credits. A borrower can miss at
// most what it has in use and what its loan can grow by. So both counts are unambiguous while loans are at most
// MaxLoanNarrow, which Config.Check enforces. A late note is dropped if either count lies behind. It can be told from a
// new one if fewer than 2^19 credits were returned (128 MiB of records) and fewer than 2^11 granted since. That holds
// if notes of a pair are written and published under the pair's send lock. The borrower can then spend no more than its
// loan past an unpublished note.
//
// Packed into 64 bits, for a word that both ranks can reach, it has 32 and 16 bits, and 15 bits of the lender's epoch.
// The word holds the newest note and cannot be late. Bit 63 is not used.
type Note struct {
	Returned uint32 // credits whose space is free again
	Granted  uint16 // credits by which the loan has grown
	Epoch    uint16 // the lender's epoch; only in 64 bits
}

const (
	returnedBits = 20
	returnedMask = 1<<returnedBits - 1
	grantedMask  = 1<<(32-returnedBits) - 1
	epochShift   = 48
	epochMask    = 1<<15 - 1
)

// Pack32 is the note for a record.
func (n Note) Pack32() uint32 {
	return n.Returned&returnedMask | uint32(n.Granted)<<returnedBits
}

// Pack64 is the note for a shared word; bit 63 is 0.
func (n Note) Pack64() uint64 {
	return uint64(n.Returned) | uint64(n.Granted)<<32 | uint64(n.Epoch&epochMask)<<epochShift
}

// Hear32 takes in a note of 32 bits and reports whether it was news. A note with more credits returned or granted than
// possible is a fault of the peer, errors.Is(err, ErrProtocol), and changes nothing.
func (b *Borrower) Hear32(w uint32) (news bool, err error) {
	returned := (w - b.returned) & returnedMask
	granted := (w>>returnedBits - uint32(b.granted)) & grantedMask
	if returned|granted == 0 || returned > returnedMask/2 || granted > grantedMask/2 {
		return false, nil
	}
	return b.hearWord(returned, granted, 0)
}

// Hear64 is Hear32 for a note of 64 bits, of which it ignores bit 63. The lender's epoch is part of it.
func (b *Borrower) Hear64(w uint64) (news bool, err error) {
	returned := uint32(w) - b.returned
	granted := uint16(w>>32) - b.granted
	if int32(returned) < 0 || int16(granted) < 0 {
		return false, nil
	}
	// The borrower keeps eight bits. One that has heard nothing for 256 epochs may decay too little, once.
	passed := uint8(w>>epochShift) - b.epoch
	if returned == 0 && granted == 0 && passed == 0 {
		return false, nil
	}
	if news, err = b.hearWord(returned, uint32(granted), passed); err == nil {
		b.epoch += passed
	}
	return news, err
}
