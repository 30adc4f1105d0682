package serve

import "sync"

// Names are published services that several servers share. It is safe for concurrent use.
type Names struct {
	mu    sync.Mutex // guards ports; nothing is locked under it
	ports map[string]string
}

// Publish implements pmi.Names.
func (n *Names) Publish(service, port string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, taken := n.ports[service]; taken {
		return false
	}
	if n.ports == nil {
		n.ports = map[string]string{}
	}
	n.ports[service] = port
	return true
}

// Unpublish implements pmi.Names.
func (n *Names) Unpublish(service string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, ok := n.ports[service]
	delete(n.ports, service)
	return ok
}

// Lookup implements pmi.Names.
func (n *Names) Lookup(service string) (port string, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	port, ok = n.ports[service]
	return port, ok
}
