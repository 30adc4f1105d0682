package mmsg

const (
	header4 = 20 + 8 // IPv4 without options, UDP
	header6 = 40 + 8
)

// payload is what a path of the given MTU leaves of a datagram.
func payload(mtu int, v4 bool) int {
	header := header6
	if v4 {
		header = header4
	}
	return max(0, min(mtu-header, MaxPayload))
}
