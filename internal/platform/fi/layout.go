//go:build ofi && linux && (amd64 || arm64)

package fi

// The structures of libfabric 1.17, as C lays them out on 64-bit processors. Pointers are uintptr:
// what they point to is never of the Go heap. TestLayout compares them with the header.

type info struct {
	next                     uintptr
	caps, mode               uint64
	addrFormat               uint32
	srcAddrLen, destAddrLen  uintptr
	srcAddr, destAddr        uintptr
	handle                   uintptr
	tx, rx, ep, domain, fabr uintptr
	nic                      uintptr
}

type txAttr struct {
	caps, mode, opFlags, msgOrder, compOrder uint64
	injectSize, size, iovLimit, rmaIovLimit  uintptr
	tclass                                   uint32
}

type rxAttr struct {
	caps, mode, opFlags, msgOrder, compOrder uint64
	totalBufferedRecv, size, iovLimit        uintptr
}

type epAttr struct {
	kind, protocol, protocolVersion uint32
	maxMsgSize, msgPrefixSize       uintptr
}

type domainAttr struct {
	domain, name                  uintptr
	threading                     uint32
	controlProgress, dataProgress uint32
	resourceMgmt, avType          uint32
	mrMode                        uint32
	mrKeySize, cqDataSize         uintptr
}

type fabricAttr struct {
	fabric, name, provName   uintptr
	provVersion, apiVersions uint32
}

// fid begins every object.
type fid struct{ class, context, ops uintptr }

// object is the beginning of those whose second part is a table of operations.
type object struct {
	fid
	ops uintptr
}

type fidDomain struct {
	fid
	ops, mr uintptr
}

type fidEndpoint struct {
	fid
	ops, cm, msg, rma uintptr
}

type fidMR struct {
	fid
	desc uintptr
	key  uint64
}

type avAttr struct {
	kind             uint32
	rxCtxBits        int32
	count, epPerNode uintptr
	name, mapAddr    uintptr
	flags            uint64
}

type cqAttr struct {
	size             uintptr
	flags            uint64
	format, waitObj  uint32
	signalingVector  int32
	waitCond         uint32
	waitSet          uintptr
	_, _, _, _, _, _ uint64
}

type cqErrEntry struct {
	context      uintptr
	flags        uint64
	len, buf     uintptr
	data, tag    uint64
	olen         uintptr
	err, provErr int32
	errData      uintptr
	errDataSize  uintptr
}

type iovec struct{ base, len uintptr }

type msg struct {
	iov, desc, iovCount uintptr
	addr                uint64
	context             uintptr
	data                uint64
}

type msgRMA struct {
	iov, desc, iovCount uintptr
	addr                uint64
	rmaIov, rmaIovCount uintptr
	context             uintptr
	data                uint64
}

type rmaIov struct {
	addr uint64
	len  uintptr
	key  uint64
}

// slack is zeros behind a structure that the library may know to be longer than this package does.
type slack [8]uint64

// Places of operations in their tables. Each table begins with its own length in bytes.
const (
	opClose, opBind, opControl        = 8, 16, 24    // fi_ops
	opDomain, opTryWait               = 8, 40        // fi_ops_fabric
	opAVOpen, opCQOpen, opEndpoint    = 8, 16, 24    // fi_ops_domain
	opReg                             = 8            // fi_ops_mr
	opInsert, opStrAddr               = 8, 48        // fi_ops_av
	opSetOpt                          = 24           // fi_ops_ep
	opGetName                         = 16           // fi_ops_cm
	opRecv, opRecvMsg, opSend         = 8, 24, 32    // fi_ops_msg
	opInject                          = 56           // fi_ops_msg
	opRead, opWrite, opWriteMsg       = 8, 32, 48    // fi_ops_rma
	opCQRead, opReadErr, opCQStrError = 8, 24, 8 * 7 // fi_ops_cq
	wordBytes                         = 8
)

// Constants of the interface.
const (
	capMsg, capRMA                  = 1 << 1, 1 << 2
	capMultiRecv                    = 1 << 16
	capRemoteComm                   = 1 << 52
	flagTransmit, flagRecv          = 1 << 11, 1 << 10
	flagCompletion                  = 1 << 24
	flagDelivery                    = 1 << 28
	modeContext                     = 1 << 59
	modeContext2                    = 1 << 52
	orderSAS                        = 1 << 8
	mrLocal, mrVirtAddr             = 1 << 2, 1 << 4
	mrAllocated, mrProvKey          = 1 << 5, 1 << 6
	mrEndpoint                      = 1 << 9
	epRDM                           = 3
	threadDomain                    = 3
	progressManual                  = 2
	rmEnabled                       = 2
	avTable                         = 2
	formatData                      = 3
	waitNone, waitFD                = 0, 3
	cmdGetWait, cmdEnable           = 5, 6
	optEndpoint, optMinMulti        = 0, 0
	accessSend, accessRecv          = 1 << 11, 1 << 10
	accessRead, accessWrite         = 1 << 8, 1 << 9
	accessPeerRead, accessPeerWrite = 1 << 12, 1 << 13
)

// Flags of a completion.
const (
	Recv      = flagRecv     // of a message that has come
	MultiRecv = capMultiRecv // the buffer is the program's again
)

// Codes that calls return, negated.
const (
	Again     = 11  // try again
	Available = 259 // an error waits to be read
	noSys     = 38
	noData    = 61
)

// ContextBytes is the memory behind a context that the provider may use, aligned to 8 bytes.
const ContextBytes = 64
