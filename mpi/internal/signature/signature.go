// Package signature knows which types of elements may travel, and by what messages compare them.
package signature

import (
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"strings"
	"sync"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// The signature of a type stands for its basic elements: their kinds, in order, and where they lie. Names, nesting and
// the number of elements in one T do not count. So float64, a named float64, [2]float64 and a struct of two float64
// have one signature, as they have one type signature in MPI (3.3.1). int and int64 are one kind, and so are uint,
// uintptr and uint64, because all are of 64 bits. Bytes match nothing but bytes.

// signatures names a type of each signature that this program has used, for errors.
var signatures sync.Map // uint64 to reflect.Type

// basic is one number in the memory of a type.
type basic struct {
	off  uintptr
	kind reflect.Kind
}

// signatureOf computes the signature of a type that may travel, and notes its name. It is not 0.
func signatureOf(t reflect.Type) uint64 {
	named := t
	for t.Kind() == reflect.Array && t.Len() > 0 {
		t = t.Elem() // the same signature, and a short list
	}
	list := basics(nil, 0, t)
	size := t.Size()
	n := period(list, size)
	stride := uintptr(n) * size / uintptr(max(len(list), 1))
	signature, ok := spelled(list[:n], stride)
	if !ok {
		h := fnv.New64a()
		fmt.Fprint(h, stride)
		for _, b := range list[:n] {
			fmt.Fprint(h, ",", b.off, b.kind)
		}
		signature = h.Sum64()&^isSpelled | 1
	}
	signatures.LoadOrStore(signature, named)
	return signature
}

// A signature of few basics that lie as in a struct of Go has their kinds in it. So a process can name a type that it
// has not used. Others are hashes.
const (
	isSpelled = 2  // the bit that tells
	spellFrom = 4  // the bit at which the kinds begin
	kindBits  = 5  // of each; 0 ends the list
	spellMost = 12 // kinds
)

// spelled gives the signature of basics, stride bytes in all, if it has room for them.
func spelled(list []basic, stride uintptr) (signature uint64, ok bool) {
	if len(list) == 0 || len(list) > spellMost {
		return 0, false
	}
	signature = 1 | isSpelled
	end, align := uintptr(0), uintptr(1)
	for i, b := range list {
		t := kinds[b.kind]
		if t == nil {
			return 0, false
		}
		a := uintptr(t.Align())
		if end = (end + a - 1) / a * a; b.off != end {
			return 0, false
		}
		end, align = end+t.Size(), max(align, a)
		signature |= uint64(b.kind) << (spellFrom + kindBits*i)
	}
	return signature, (end+align-1)/align*align == stride
}

// kinds are the basics of types that may travel.
var kinds = func() map[reflect.Kind]reflect.Type {
	all := make(map[reflect.Kind]reflect.Type)
	for _, v := range []any{
		false, int8(0), int16(0), int32(0), int64(0), uint8(0), uint16(0), uint32(0), uint64(0), float32(0), float64(0),
		complex64(0), complex128(0),
	} {
		all[reflect.TypeOf(v).Kind()] = reflect.TypeOf(v)
	}
	return all
}()

// spellKinds names the kinds in a signature, "" if it is a hash.
func spellKinds(signature uint64) string {
	if signature&isSpelled == 0 {
		return ""
	}
	var names []string
	for rest := signature >> spellFrom; rest != 0; rest >>= kindBits {
		names = append(names, reflect.Kind(rest&(1<<kindBits-1)).String())
	}
	if len(names) == 1 {
		return names[0]
	}
	return "a struct of " + strings.Join(names, ", ")
}

// basics appends what is at off.
func basics(list []basic, off uintptr, t reflect.Type) []basic {
	switch t.Kind() {
	case reflect.Array:
		for i := range t.Len() {
			list = basics(list, off+uintptr(i)*t.Elem().Size(), t.Elem())
		}
	case reflect.Struct:
		for i := range t.NumField() {
			list = basics(list, off+t.Field(i).Offset, t.Field(i).Type)
		}
	case reflect.Int:
		list = append(list, basic{off, reflect.Int64})
	case reflect.Uint, reflect.Uintptr:
		list = append(list, basic{off, reflect.Uint64})
	default:
		list = append(list, basic{off, t.Kind()})
	}
	return list
}

// period gives the fewest basics of which the list, in size bytes, is a repetition.
func period(list []basic, size uintptr) int {
	for n := 1; n < len(list); n++ {
		if len(list)%n == 0 && repeats(list, n, size/uintptr(len(list)/n), size) {
			return n
		}
	}
	return len(list)
}

// repeats reports whether the list consists of its first n basics, every stride bytes.
func repeats(list []basic, n int, stride, size uintptr) bool {
	if stride*uintptr(len(list)/n) != size {
		return false
	}
	for i := n; i < len(list); i++ {
		if list[i].kind != list[i-n].kind || list[i].off != list[i-n].off+stride {
			return false
		}
	}
	return true
}

// NameTypes names the types where an error tells that they differ.
func NameTypes(err error) error {
	var e *comm.SignatureError
	if !errors.As(err, &e) {
		return err
	}
	return fmt.Errorf("%w: the message has elements of %s, the receive of %s",
		sentinel.ErrType, nameType(e.Sent), nameType(e.Received))
}

// nameType names a type of that signature, if this process has used one.
func nameType(signature uint64) string {
	if t, ok := signatures.Load(signature); ok {
		return t.(reflect.Type).String()
	}
	if text := spellKinds(signature); text != "" {
		return text
	}
	return "another type, which this process does not know"
}
