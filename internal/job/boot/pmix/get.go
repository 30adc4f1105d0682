//go:build pmix && linux && (amd64 || arm64)

package pmix

import (
	"bytes"
	"context"
	"fmt"
	"unsafe"
)

// getArgs is what get shows to C. result is set by it.
type getArgs struct {
	proc   proc
	key    [maxKey + 1]byte
	now    info
	result uintptr
}

// got is a value that the library has returned, copied to Go's memory.
type got struct {
	kind   uint16
	bytes  []byte // of a byte object or a string
	number uint32 // of a PMIX_UINT32
}

// getValue asks for a value of at most limit bytes.
func (c *Client) getValue(ctx context.Context, rank uint32, key string, limit int) (got, error) {
	a := onHeap[getArgs]()
	a.proc = proc{namespace: c.me.namespace, rank: rank}
	copy(a.key[:maxKey], key)
	a.now.setFlag(keyImmediate)
	out := onHeap[got]()
	err := c.doAsMember(ctx, "PMIx_Get", func() error {
		err := c.lib.callStatus(c.lib.get, "PMIx_Get", a, uintptr(unsafe.Pointer(&a.proc)), uintptr(unsafe.Pointer(&a.key)),
			uintptr(unsafe.Pointer(&a.now)), 1, uintptr(unsafe.Pointer(&a.result)))
		if err != nil {
			return err
		}
		*out, err = c.lib.takeValue(a.result, limit)
		return err
	})
	if err != nil {
		return got{}, fmt.Errorf("%q of rank %s: %w", key, rankText(rank), err)
	}
	return *out, nil
}

func rankText(rank uint32) string {
	if rank == rankWildcard {
		return "any"
	}
	return fmt.Sprint(rank)
}

// takeValue copies a value and frees it, as PMIX_VALUE_RELEASE does for the types that are known here.
func (l *library) takeValue(at uintptr, limit int) (got, error) {
	if at == 0 {
		return got{}, fmt.Errorf("%w: no value", ErrServer)
	}
	v := *(*value)(foreignMemory(at))
	defer callFunction(l.free, nil, at)
	out := got{kind: v.kind}
	switch v.kind {
	case typeUint32:
		out.number = v.uint32()
		return out, nil
	case typeString:
		out.bytes = []byte(goString(v.data))
	case typeByteObject:
		if v.size <= uintptr(limit) && v.size > 0 {
			out.bytes = bytes.Clone(unsafe.Slice((*byte)(foreignMemory(v.data)), v.size))
		}
	default:
		return out, nil // what it points to is lost, a few bytes for a server that is refused
	}
	callFunction(l.free, nil, v.data)
	if v.kind == typeByteObject && v.size > uintptr(limit) || len(out.bytes) > limit {
		return got{}, fmt.Errorf("%w: a value of %d bytes, at most %d", ErrServer, max(v.size, uintptr(len(out.bytes))),
			limit)
	}
	return out, nil
}

// cText is the text up to the first NUL.
func cText(b []byte) string {
	text, _, _ := bytes.Cut(b, []byte{0})
	return string(text)
}
