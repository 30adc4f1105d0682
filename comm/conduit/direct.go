package conduit

// Direct is a conduit that can copy between this rank's memory and a peer's in one go, without the peer's help. It is
// optional, and may lead to some peers only.
type Direct interface {
	// DirectTo reports whether peer's memory can be reached.
	DirectTo(peer int) bool
	// Fetch copies len(dst) bytes from address addr of peer's memory. It may make a system call for the time of the copy.
	// The peer must keep the memory alive and unchanged until it is told, by a record, that the copy is done.
	Fetch(peer int, dst []byte, addr uint64) error
	// Put copies src to address addr of peer's memory, otherwise like Fetch.
	Put(peer int, addr uint64, src []byte) error
}
