// Package nic decides which addresses of a machine a rank receives at, and by which of them two ranks talk: Select at
// the start, Endpoint as what all ranks are told, Agree and Paths when all are known, MTU while datagrams go. Nothing
// here asks the system: package addrs does. Only NewIncarnation draws a random number; the rest is given what it
// needs.
package nic
