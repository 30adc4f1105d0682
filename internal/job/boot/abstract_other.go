//go:build !linux

package boot

import (
	"errors"
	"net"
)

var (
	errTaken = errors.New("name taken")
	errLinux = errors.New("a launcher without PMI-1 needs abstract sockets, so Linux")
)

func socketName(meeting string) string { return meeting }

func listenAbstract(string) (net.Listener, error) { return nil, errLinux }

func isAnswered(string) bool { return false }

func dialAbstract(string, string) (net.Conn, error) { return nil, errNobody }
