//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"errors"
	"strings"
	"sync"

	"github.com/golci/golci/internal/platform/fi"
)

// Provider shm lets endpoints of one process use each other's memory as it is. A message to one that has been closed
// then ends the process. So such an endpoint is closed when all conduits of the process that know it have ended.

// sharedEndpoint is an endpoint of this process, with the conduits that may send to it.
type sharedEndpoint struct {
	name   string
	ep     *fi.Endpoint
	arenas *arenas // what the library may touch until the end of ep
	users  int
}

// family is all of them, by the names of their endpoints.
var family = struct {
	mu  sync.Mutex
	all map[string]*sharedEndpoint
}{all: map[string]*sharedEndpoint{}}

// sharesMemory tells whether endpoints of one process must outlive each other.
func sharesMemory(i *fi.Info) bool {
	return i.Provider == "shm" || strings.HasSuffix(i.Provider, ";shm")
}

// join makes an endpoint known to the process. The listener or conduit of the endpoint is its first user.
func join(name []byte, ep *fi.Endpoint) *sharedEndpoint {
	k := &sharedEndpoint{name: string(name), ep: ep, users: 1}
	family.mu.Lock()
	family.all[k.name] = k
	family.mu.Unlock()
	return k
}

// uses makes the conduit of own a user of all endpoints of this process among names. It returns them, own included.
func (own *sharedEndpoint) uses(names [][]byte) []*sharedEndpoint {
	all := []*sharedEndpoint{own}
	family.mu.Lock()
	defer family.mu.Unlock()
	for _, name := range names {
		if k := family.all[string(name)]; k != nil && k != own {
			k.users++
			all = append(all, k)
		}
	}
	return all
}

// leave ends the uses. An endpoint without users is closed.
func leave(all []*sharedEndpoint) error {
	family.mu.Lock()
	defer family.mu.Unlock()
	var errs []error
	for _, k := range all {
		if k.users--; k.users == 0 {
			delete(family.all, k.name)
			errs = append(errs, k.ep.Close())
		}
	}
	return errors.Join(errs...)
}
