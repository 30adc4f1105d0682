package conduit

// Taker is a conduit whose records can be taken one by one, by a caller who waits for one of a certain sender.
type Taker interface {
	// Next reports whether a record of src seems to wait. Anyone may call it; it changes nothing.
	Next(src int) bool
	// Take offers the next record of src to a, and reports whether a has accepted it. It then counts as delivered; else
	// Poll delivers it. It counts as a Poll: the caller sees to it that nobody polls meanwhile.
	Take(src int, a Acceptor) bool
}

// Acceptor decides about a record.
type Acceptor interface {
	// Accept takes the record, or returns false and changes nothing. rec must not be kept.
	Accept(src int, rec []byte) bool
}
