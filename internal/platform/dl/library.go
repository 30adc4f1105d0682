//go:build (ofi || pmix) && linux && (amd64 || arm64)

package dl

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/ebitengine/purego"
)

// ErrMissing means that none of the names that were tried is a library of this system.
var ErrMissing = errors.New("no such library on this system")

// quiet are variables of the environment that keep providers of libfabric from replacing handlers of signals, and that
// let a process start others. They are set only where the user has not set them.
var quiet = map[string]string{"IPATH_NO_BACKTRACE": "1", "HFI_NO_BACKTRACE": "1", "FI_EFA_FORK_SAFE": "1"}

// Library is a library that has been opened. It is never closed.
type Library struct {
	name   string
	handle uintptr
}

// Open opens the first of the libraries that is there. Constructors of the library run in the call, so it may take
// hundreds of milliseconds. The handlers of all signals are afterwards as they were. It changes the environment of the
// process: see quiet. The error matches ErrMissing, and tells what the loader said of each name.
func Open(names ...string) (*Library, error) {
	for k, v := range quiet {
		if _, set := os.LookupEnv(k); !set {
			if err := os.Setenv(k, v); err != nil {
				return nil, err
			}
		}
	}
	var said []string
	for _, name := range names {
		var handle uintptr
		var err error
		KeepHandlers(func() { handle, err = purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL) })
		if err == nil {
			return &Library{name, handle}, nil
		}
		said = append(said, err.Error())
	}
	return nil, fmt.Errorf("%w: %s", ErrMissing, strings.Join(said, "; "))
}

// Name is the name under which the library was found.
func (l *Library) Name() string { return l.name }

// Symbol is the address of a function of the library.
func (l *Library) Symbol(name string) (uintptr, error) {
	at, err := purego.Dlsym(l.handle, name)
	if err != nil {
		return 0, fmt.Errorf("%s has no function %s: %w", l.name, name, err)
	}
	return at, nil
}
