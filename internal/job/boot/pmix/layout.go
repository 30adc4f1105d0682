//go:build pmix && linux && (amd64 || arm64)

package pmix

import "unsafe"

// Constants of pmix_common.h, which are the same in all versions since 2.
const (
	maxKey         = 511 // bytes in a key, without the final NUL
	maxNamespace   = 255
	rankWildcard   = 1<<32 - 2 // PMIX_RANK_WILDCARD: the job as a whole
	scopeGlobal    = 3         // PMIX_GLOBAL: for ranks of all nodes
	typeBool       = 1
	typeString     = 3
	typeUint32     = 14
	typeByteObject = 27

	keyJobSize   = "pmix.job.size"  // uint32: ranks in the namespace
	keyPeers     = "pmix.lpeers"    // string: the ranks of this node
	keyCollect   = "pmix.collect"   // bool, for Fence: bring the values along
	keyImmediate = "pmix.immediate" // bool, for Get: fail at once when the server has no such value
)

// Statuses that mean something particular here.
const (
	statusSuccess   = 0
	statusUnreach   = -25
	statusNotFound  = -46
	statusComm      = -49
	statusConnected = -61 // PMIX_ERR_LOST_CONNECTION
)

// proc is pmix_proc_t.
type proc struct {
	namespace [maxNamespace + 1]byte
	rank      uint32
}

// value is pmix_value_t. data and size are those of a byte object; data alone is the pointer of a string. A number or
// a bool lies in the first bytes of data.
type value struct {
	kind uint16
	_    [6]byte
	data uintptr
	size uintptr
	_    [8]byte
}

// info is pmix_info_t.
type info struct {
	key   [maxKey + 1]byte
	flags uint32
	_     [4]byte
	value value
}

// setFlag makes the directive key=true.
func (i *info) setFlag(key string) {
	copy(i.key[:], key)
	i.value.kind = typeBool
	*(*byte)(unsafe.Pointer(&i.value.data)) = 1
}

func (v *value) uint32() uint32 { return *(*uint32)(unsafe.Pointer(&v.data)) }
