//go:build linux

package main

/*
#include "info.h"
*/
import "C"

import (
	"fmt"
	"os"
	"sync"
	"unsafe"

	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/info"
)

// infos are the info objects of the program.
var infos handles[*infoObject]

// infoObject is one that threads may share.
type infoObject struct {
	mu   sync.Mutex
	info *info.Info // under mu
}

// envInfo is MPI_INFO_ENV.
var envInfo = sync.OnceValue(func() *infoObject { return &infoObject{info: startInfo(os.Args)} })

// startInfo is what is known of how the program was started, before MPI_Init as after it.
func startInfo(args []string) *info.Info {
	s := info.Start{ThreadLevel: "MPI_THREAD_MULTIPLE"}
	if len(args) > 0 {
		s.Command, s.Args = args[0], args[1:]
	}
	s.Dir, _ = os.Getwd()
	s.Host, _ = os.Hostname()
	return info.Env(s)
}

// withInfo is infoError with the class of the error.
func withInfo(handle C.uintptr_t, f func(i *info.Info) error) C.int {
	return classOf(infoError(handle, f))
}

// infoError calls f with the object of a handle, and gives its error.
func infoError(handle C.uintptr_t, f func(i *info.Info) error) error {
	o, ok := infos.get(uintptr(handle))
	if handle == C.env_info {
		o, ok = envInfo(), true
	}
	if !ok {
		return fmt.Errorf("%w: there is no info object %#x", errs.Info, handle)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return f(o.info)
}

// changeInfo is withInfo of calls that change the object. Nobody may change MPI_INFO_ENV.
func changeInfo(handle C.uintptr_t, f func(i *info.Info) error) C.int {
	if handle == C.env_info {
		return classOf(fmt.Errorf("%w: MPI_INFO_ENV cannot be changed", errs.Info))
	}
	return withInfo(handle, f)
}

func newInfo(i *info.Info) C.uintptr_t { return C.uintptr_t(infos.add(&infoObject{info: i})) }

//export golciInfoCreate
func golciInfoCreate(made *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	*made = newInfo(new(info.Info))
	return C.MPI_SUCCESS
}

//export golciInfoEnv
func golciInfoEnv(argc C.int, argv **C.char, made *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	args := os.Args
	if argc > 0 {
		args = nil
		for _, a := range unsafe.Slice(argv, int(argc)) {
			args = append(args, C.GoString(a))
		}
	}
	*made = newInfo(startInfo(args))
	return C.MPI_SUCCESS
}

//export golciInfoDup
func golciInfoDup(handle C.uintptr_t, made *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	return withInfo(handle, func(i *info.Info) error {
		*made = newInfo(i.Dup())
		return nil
	})
}

//export golciInfoFree
func golciInfoFree(handle C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	if _, ok := infos.drop(uintptr(handle)); !ok {
		return classOf(fmt.Errorf("%w: there is no info object %#x", errs.Info, handle))
	}
	return C.MPI_SUCCESS
}

//export golciInfoSet
func golciInfoSet(handle C.uintptr_t, key, value *C.char) (class C.int) {
	defer recovered(&class)
	begun()
	return changeInfo(handle, func(i *info.Info) error { return i.Set(C.GoString(key), C.GoString(value)) })
}

//export golciInfoDelete
func golciInfoDelete(handle C.uintptr_t, key *C.char) (class C.int) {
	defer recovered(&class)
	begun()
	return changeInfo(handle, func(i *info.Info) error { return i.Delete(C.GoString(key)) })
}

//export golciInfoKeys
func golciInfoKeys(handle C.uintptr_t, n *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	return withInfo(handle, func(i *info.Info) error {
		*n = C.int(i.Len())
		return nil
	})
}

//export golciInfoKey
func golciInfoKey(handle C.uintptr_t, n C.int, key *C.char) (class C.int) {
	defer recovered(&class)
	begun()
	return withInfo(handle, func(i *info.Info) error {
		k, err := i.Key(int(n))
		if err == nil {
			b := unsafe.Slice((*byte)(unsafe.Pointer(key)), len(k)+1)
			b[copy(b, k)] = 0
		}
		return err
	})
}

//export golciInfoGet
func golciInfoGet(handle C.uintptr_t, key *C.char, room C.int, value *C.char, need *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	return withInfo(handle, func(i *info.Info) error {
		n, ok, err := i.GetString(C.GoString(key), unsafe.Slice((*byte)(unsafe.Pointer(value)), int(room)))
		if ok {
			*need = C.int(n)
		}
		return err
	})
}
