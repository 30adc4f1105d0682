package conduit

// Streamer is a conduit through memory that another core reads. It is optional.
type Streamer interface {
	// Streams notes a record for peer with n bytes of payload, at least arch.LongCopy. It tells whether the writer
	// copies them by arch.CopyOut: the conduit then leaves alone the lines that such records will take. Else copy is
	// quicker, because the conduit fetches the lines ahead. It is called between Reserve and Commit.
	Streams(peer, n int) bool
}
