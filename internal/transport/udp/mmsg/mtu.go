package mmsg

const (
	header4 = 20 + 8 // IPv4 without options, UDP
	header6 = 40 + 8
)

// Payload is how many bytes a datagram may hold on a path of the given MTU, in bytes, without being fragmented; 0 if
// its headers do not fit.
func Payload(mtu int, v4 bool) int {
	header := header6
	if v4 {
		header = header4
	}
	return max(0, min(mtu-header, MaxPayload))
}
