//go:build race || !amd64

package arch

// CopyOut copies as copy does, and returns how many bytes. It is for memory that another core has read and will read
// next. Here it is copy: the memmove of arm64 stores pairs of registers, of which its cores gather whole lines.
func CopyOut(dst, src []byte) int { return copy(dst, src) }
