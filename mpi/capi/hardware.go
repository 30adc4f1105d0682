//go:build linux

package main

/*
#include "info.h"
*/
import "C"

import (
	"fmt"
	"strconv"

	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/hardware"
	"github.com/golci/golci/mpi/internal/info"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// Keys by which a program says what to split by, and is told (7.4.2).
const (
	keyHardware = "mpi_hw_resource_type"
	keySet      = "mpi_pset_name"
)

// wanted is the kind by which a communicator is to be split.
func wanted(kind C.int, handle C.uintptr_t) (hardware.Kind, error) {
	switch kind {
	case C.MPI_COMM_TYPE_SHARED:
		return core.HardwareKinds.Part(hardware.SharedMemory), nil
	case C.MPI_COMM_TYPE_HW_UNGUIDED:
		return hardware.Any, nil
	case C.MPI_COMM_TYPE_HW_GUIDED, C.MPI_COMM_TYPE_RESOURCE_GUIDED:
		return guided(handle, kind == C.MPI_COMM_TYPE_RESOURCE_GUIDED)
	case C.MPI_UNDEFINED:
		return hardware.None, nil
	default:
		return hardware.None, fmt.Errorf("%w: type of split %d", sentinel.ErrArgument, kind)
	}
}

// guided is the kind that an info object names: hardware or, with sets, a process set.
func guided(handle C.uintptr_t, sets bool) (kind hardware.Kind, err error) {
	kind = hardware.None
	if handle == C.null_info {
		return kind, nil
	}
	return kind, infoError(handle, func(i *info.Info) error {
		name, ok, err := i.Get(keyHardware)
		if ok {
			kind = core.HardwareKinds.Part(name)
			return err
		}
		if name, ok, err = i.Get(keySet); ok && sets {
			kind = core.HardwareKinds.Set(name)
		}
		return err
	})
}

// tellKind tells a program by what its communicator was split.
func tellKind(handle C.uintptr_t, kind hardware.Kind) error {
	if handle == C.null_info || handle == C.env_info {
		return nil
	}
	return infoError(handle, func(i *info.Info) error { return i.Set(keyHardware, core.HardwareKinds.Name(kind)) })
}

//export golciHardware
func golciHardware(made *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	p := proc.Load()
	if p == nil {
		return C.MPI_ERR_OTHER
	}
	i, within := new(info.Info), p.Hardware()
	for _, name := range core.HardwareKinds.Parts() {
		if err := i.Set(name, strconv.FormatBool(within[name])); err != nil {
			return classOf(err)
		}
	}
	*made = newInfo(i)
	return C.MPI_SUCCESS
}
