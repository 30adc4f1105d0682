//go:build linux

package main

/*
#include "tool.h"
*/
import "C"

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/observe/tool"
	"github.com/golci/golci/mpi/internal/errs"
)

// controls are the control variables.
var controls = sync.OnceValue(tool.Controls)

// controlSet has their values, before MPI_Init as after it: the environment of the process's start.
var controlSet = sync.OnceValues(func() (*settings.Set, error) { return settings.Parse(os.LookupEnv) })

// golciControl writes the value as the type of the variable in C has it. Texts end with a zero byte, which counts.
//
//export golciControl
func golciControl(control C.int, value unsafe.Pointer, count *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	set, err := controlSet()
	if err != nil {
		return classOf(err)
	}
	*count = 1
	switch v := set.At(int(control)).(type) {
	case int:
		store(value, C.int(v))
	case bool:
		n := 0
		if v {
			n = 1
		}
		store(value, C.int(n))
	case int64:
		store(value, C.MPI_Count(v))
	case time.Duration:
		store(value, C.double(v.Seconds()))
	case string:
		c := &controls()[control]
		if c.Type == tool.Word {
			store(value, C.int(slices.Index(c.Words, v)))
			break
		}
		*count = C.int(len(v) + 1)
		if value != nil {
			b := unsafe.Slice((*byte)(value), len(v)+1)
			b[copy(b, v)] = 0
		}
	default:
		return classOf(fmt.Errorf("%w: the setting %s is of type %T", errs.Intern, controls()[control].Name, v))
	}
	return C.MPI_SUCCESS
}

// store writes v unless nobody wants it.
func store[T any](to unsafe.Pointer, v T) {
	if to != nil {
		*(*T)(to) = v
	}
}

//export golciCounter
func golciCounter(counter C.int, value *C.uint64_t) (class C.int) {
	defer recovered(&class)
	begun()
	*value = 0
	if p := proc.Load(); p != nil {
		all := p.Counters()
		*value = C.uint64_t(all[counter])
	}
	return C.MPI_SUCCESS
}
