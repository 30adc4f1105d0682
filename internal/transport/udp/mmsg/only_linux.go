package mmsg

import (
	"encoding/binary"
	"math"
	"net/netip"

	"golang.org/x/sys/unix"
)

const (
	// networkHeader is where a filter finds the header of IP (SKF_NET_OFF of linux/filter.h).
	networkHeader = 0xfff00000
	// destination4 and destination6 are the places of the destination there.
	destination4, destination6 = 16, 24
)

// only has the kernel drop what was sent to other addresses than at, before it takes room in the queue. A sandbox may
// refuse the filter. Then it does nothing: cookie and tag still keep foreign datagrams out.
func only(fd int, at []netip.Addr) {
	if len(at) == 0 {
		return
	}
	f := filterFor(at)
	_ = unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]})
}

// filterFor compares the destination with one address after the other, word by word.
func filterFor(at []netip.Addr) (f []unix.SockFilter) {
	for _, a := range at {
		b, from := a.AsSlice(), uint32(destination6)
		if a.Is4() {
			from = destination4
		}
		for words := len(b) / 4; words > 0; words-- {
			f = append(f,
				unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: networkHeader + from},
				// Another word: on to the next address, behind the words that are left and the return.
				unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: binary.BigEndian.Uint32(b), Jf: uint8(2*words - 1)})
			b, from = b[4:], from+4
		}
		f = append(f, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: math.MaxUint32})
	}
	return append(f, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K})
}
