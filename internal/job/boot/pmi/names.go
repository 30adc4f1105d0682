package pmi

// Names keeps services that ranks have published, and their ports.
type Names interface {
	// Publish notes the port of a service; false: the name is taken.
	Publish(service, port string) bool
	// Unpublish forgets a service; false: there is none.
	Unpublish(service string) bool
	Lookup(service string) (port string, ok bool)
}

// ports are the Names of one server.
type ports map[string]string

func (p ports) Publish(service, port string) bool {
	if _, taken := p[service]; taken {
		return false
	}
	p[service] = port
	return true
}

func (p ports) Unpublish(service string) bool {
	_, ok := p[service]
	delete(p, service)
	return ok
}

func (p ports) Lookup(service string) (string, bool) {
	port, ok := p[service]
	return port, ok
}

// onName answers the requests about published services.
func (s *Server) onName(rank int, m Msg) []Action {
	service := m.Str("service")
	if service == "" {
		return refuseRequest(rank, m.Cmd, "no_service")
	}
	switch port, ok := m.Get("port"); {
	case m.Cmd == cmdLookup:
		if port, ok = s.names.Lookup(service); ok {
			return sendTo(rank, M(answers[m.Cmd], "rc", "0", "port", port))
		}
		return refuseRequest(rank, m.Cmd, "not_published")
	case m.Cmd == cmdUnpublish:
		if !s.names.Unpublish(service) {
			return refuseRequest(rank, m.Cmd, "not_published")
		}
	case !ok || len(service)+len(port) > MaxValue:
		return refuseRequest(rank, m.Cmd, "bad_service_or_port")
	case !s.names.Publish(service, port):
		return refuseRequest(rank, m.Cmd, "published_already")
	}
	return sendTo(rank, M(answers[m.Cmd], "rc", "0", "info", "ok"))
}

// Requests of PMI-1 about published services.
const (
	cmdPublish   = "publish_name"
	cmdUnpublish = "unpublish_name"
	cmdLookup    = "lookup_name"
)
