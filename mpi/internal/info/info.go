// Package info has the info objects of MPI (chapter 10): ordered lists of keys with values.
package info

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/golci/golci/mpi/internal/errs"
)

// Limits of the ABI. They count the zero byte that ends a string in C, so a key has less than maxKey bytes.
const (
	maxKey = 256
	maxVal = 1024
)

// Info is a list of keys, in the order in which they were first set, with their values. The zero Info is empty. Who
// shares one between goroutines holds a lock.
type Info struct{ pairs []pair }

type pair struct{ key, value string }

// checkKey tells whether a key may be used. errs.InfoKey: it is empty, has maxKey bytes or more, or a zero byte.
func checkKey(key string) error {
	switch {
	case key == "":
		return fmt.Errorf("%w: it is empty", errs.InfoKey)
	case len(key) >= maxKey:
		return fmt.Errorf("%w: it has %d bytes, at most %d fit: it begins with %.40q", errs.InfoKey, len(key), maxKey-1, key)
	case strings.IndexByte(key, 0) >= 0:
		return fmt.Errorf("%w: it has a zero byte: %q", errs.InfoKey, key)
	}
	return nil
}

// checkValue tells whether a value may be used. errs.InfoValue: it has maxVal bytes or more, or a zero byte. It may be
// empty.
func checkValue(key, value string) error {
	switch {
	case len(value) >= maxVal:
		return fmt.Errorf("%w: that of %q has %d bytes, at most %d fit", errs.InfoValue, key, len(value), maxVal-1)
	case strings.IndexByte(value, 0) >= 0:
		return fmt.Errorf("%w: that of %q has a zero byte", errs.InfoValue, key)
	}
	return nil
}

// findKey is the place of a key, or -1.
func (i *Info) findKey(key string) int {
	return slices.IndexFunc(i.pairs, func(p pair) bool { return p.key == key })
}

// Set gives a key a value (MPI_Info_set). A key that exists keeps its place. Errors are those of checkKey and
// checkValue.
func (i *Info) Set(key, value string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if err := checkValue(key, value); err != nil {
		return err
	}
	if at := i.findKey(key); at >= 0 {
		i.pairs[at].value = value
		return nil
	}
	i.pairs = append(i.pairs, pair{key, value})
	return nil
}

// Get is the value of a key (MPI_Info_get, MPI_Info_get_valuelen); !ok: there is no such key. Errors are those of
// checkKey.
func (i *Info) Get(key string) (value string, ok bool, err error) {
	if err := checkKey(key); err != nil {
		return "", false, err
	}
	if at := i.findKey(key); at >= 0 {
		return i.pairs[at].value, true, nil
	}
	return "", false, nil
}

// GetString copies the value of a key to buf, with a zero byte behind it (MPI_Info_get_string). A longer value is cut,
// which is no error. A buf of length 0, or a key that does not exist, changes nothing. need is the length that buf
// needs. Errors are those of checkKey.
func (i *Info) GetString(key string, buf []byte) (need int, ok bool, err error) {
	value, ok, err := i.Get(key)
	if !ok {
		return 0, false, err
	}
	if len(buf) > 0 {
		buf[copy(buf[:len(buf)-1], value)] = 0
	}
	return len(value) + 1, true, nil
}

// Delete takes a key away (MPI_Info_delete); those behind it move up. errs.InfoNoKey: there is no such key. Other
// errors are those of checkKey.
func (i *Info) Delete(key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	at := i.findKey(key)
	if at < 0 {
		return fmt.Errorf("%w: %q", errs.InfoNoKey, key)
	}
	i.pairs = slices.Delete(i.pairs, at, at+1)
	return nil
}

// Len is the number of keys (MPI_Info_get_nkeys).
func (i *Info) Len() int { return len(i.pairs) }

// Key is the key at place n, from 0 on (MPI_Info_get_nthkey). errs.Arg: there are not so many.
func (i *Info) Key(n int) (string, error) {
	if n < 0 || n >= len(i.pairs) {
		return "", fmt.Errorf("%w: key %d of an info object with %d keys", errs.Arg, n, len(i.pairs))
	}
	return i.pairs[n].key, nil
}

// allPairs lists keys and values in order.
func (i *Info) allPairs() iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for _, p := range i.pairs {
			if !yield(p.key, p.value) {
				return
			}
		}
	}
}

// Dup is a copy with the same order (MPI_Info_dup). Neither changes with the other.
func (i *Info) Dup() *Info { return &Info{pairs: slices.Clone(i.pairs)} }
