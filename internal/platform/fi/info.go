//go:build ofi && linux && (amd64 || arm64)

package fi

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/golci/golci/internal/platform/dl"
)

// ErrNone means that no provider of this machine does what was asked for.
var ErrNone = errors.New("libfabric offers nothing of that kind on this machine")

// Want is what an endpoint must have beside reliable messages and remote memory.
type Want struct {
	// Provider and Domain are names as fi_info prints them; empty for any. Without a provider, one is taken that
	// reaches other nodes.
	Provider, Domain string
}

// Info is one way to the network that the library offers.
type Info struct {
	Provider, Fabric, Domain string
	MultiRecv                bool // one buffer takes several messages
	Ordered                  bool // messages of a pair arrive in order
	Inject                   int  // bytes of a message that the library copies at once
	MaxMessage               int
	// Safe is the longest message in bytes that may be under way when the endpoint is closed.
	Safe       int
	Local      bool // local buffers must be registered, too
	VirtAddr   bool // remote memory is named by its address, not by an offset
	ProvKey    bool // the provider chooses keys
	ByEndpoint bool // memory is registered with the endpoint

	lib       *Library
	ptr, list uintptr // its fi_info, and the first one of the list that it is in
}

// doesCrash tells that the provider dies of buffers for several messages, as ofi_rxd does.
func doesCrash(provider string) bool { return strings.Contains(provider, "ofi_rxd") }

// rxmWhole is how long a message may be that ofi_rxm sends in one piece, in bytes. Longer ones it divides, or has the
// receiver fetch. If an endpoint is closed meanwhile, version 1.17 may touch memory that it has freed already.
const rxmWhole = 16 << 10

// safeFor is Info.Safe of a provider whose messages have up to most bytes.
func safeFor(provider string, most int) int {
	if strings.HasSuffix(provider, "ofi_rxm") {
		return min(most, rxmWhole)
	}
	return most
}

// Find returns the first way that does what is wanted: with order and multi-receive buffers if there is one, else
// without. The caller calls Free. The error matches ErrNone if there is none.
func (l *Library) Find(w Want) (*Info, error) {
	for _, try := range []struct {
		multi, ordered bool
	}{{true, true}, {false, true}, {true, false}, {false, false}} {
		if try.multi && doesCrash(w.Provider) {
			continue
		}
		i, err := l.findInfo(w, try.multi, try.ordered)
		if err == nil && try.multi && doesCrash(i.Provider) {
			i.Free()
			continue
		}
		var code *CodeError
		if err == nil || !errors.As(err, &code) || code.Code != noData {
			return i, err
		}
	}
	return nil, fmt.Errorf("%w: %s", ErrNone, w)
}

// String is for messages.
func (w Want) String() string {
	name := func(s string) string {
		if s == "" {
			return "any"
		}
		return s
	}
	return fmt.Sprintf("provider %s, domain %s, reliable messages and remote memory", name(w.Provider), name(w.Domain))
}

func (l *Library) findInfo(w Want, multi, ordered bool) (*Info, error) {
	hints := callPointer(l.dupInfo, 0) // fi_allocinfo, with as much memory as this version of the library wants
	if hints == 0 {
		return nil, l.Error("fi_dupinfo", 12)
	}
	defer callC(l.freeInfo, hints)
	h := memoryAt[info](hints)
	h.caps = capMsg | capRMA
	if multi {
		h.caps |= capMultiRecv
	}
	if w.Provider == "" {
		h.caps |= capRemoteComm
	}
	h.mode = modeContext | modeContext2
	ep, domain := memoryAt[epAttr](h.ep), memoryAt[domainAttr](h.domain)
	ep.kind = epRDM
	domain.threading, domain.resourceMgmt, domain.avType = threadDomain, rmEnabled, avTable
	domain.controlProgress, domain.dataProgress = progressManual, progressManual
	domain.mrMode = mrLocal | mrVirtAddr | mrAllocated | mrProvKey | mrEndpoint
	if ordered {
		memoryAt[txAttr](h.tx).msgOrder, memoryAt[rxAttr](h.rx).msgOrder = orderSAS, orderSAS
	}
	if w.Provider != "" {
		memoryAt[fabricAttr](h.fabr).provName = l.copyString(w.Provider)
	}
	if w.Domain != "" {
		domain.name = l.copyString(w.Domain)
	}
	var list uintptr
	var rc int
	dl.KeepHandlers(func() { rc = callC(l.getInfo, oldest, 0, 0, 0, hints, uintptr(unsafe.Pointer(&list))) })
	if rc != 0 {
		return nil, l.Error("fi_getinfo for "+w.String(), rc)
	}
	// Providers need not heed the name of the domain, nor tell only of what was asked for.
	for entry := list; entry != 0; entry = memoryAt[info](entry).next {
		if i := l.readInfo(entry); w.Domain == "" || i.Domain == w.Domain {
			i.MultiRecv = i.MultiRecv && multi
			i.list = list
			return i, nil
		}
	}
	callC(l.freeInfo, list)
	return nil, l.Error("fi_getinfo for "+w.String(), noData)
}

// copyString copies a string into memory that the library may free.
func (l *Library) copyString(s string) uintptr {
	b := append([]byte(s), 0)
	p := callPointer(l.strDup, uintptr(unsafe.Pointer(&b[0])))
	runtime.KeepAlive(b)
	return p
}

// readInfo is one entry of a list.
func (l *Library) readInfo(entry uintptr) *Info {
	h := memoryAt[info](entry)
	tx, rx, d, f := memoryAt[txAttr](h.tx), memoryAt[rxAttr](h.rx), memoryAt[domainAttr](h.domain),
		memoryAt[fabricAttr](h.fabr)
	i := &Info{
		Provider: goString(f.provName), Fabric: goString(f.name), Domain: goString(d.name),
		MultiRecv: h.caps&capMultiRecv != 0,
		Ordered:   tx.msgOrder&orderSAS != 0 && rx.msgOrder&orderSAS != 0,
		Inject:    int(tx.injectSize), MaxMessage: int(min(memoryAt[epAttr](h.ep).maxMsgSize, 1<<40)),
		Local: d.mrMode&mrLocal != 0, VirtAddr: d.mrMode&mrVirtAddr != 0, ProvKey: d.mrMode&mrProvKey != 0,
		ByEndpoint: d.mrMode&mrEndpoint != 0,
		lib:        l, ptr: entry,
	}
	i.Safe = safeFor(i.Provider, i.MaxMessage)
	return i
}

// Free gives the memory of the list back. What was opened from it stays.
func (i *Info) Free() {
	if i.list != 0 {
		callC(i.lib.freeInfo, i.list)
		i.ptr, i.list = 0, 0
	}
}
