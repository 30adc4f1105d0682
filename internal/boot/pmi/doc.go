// Package pmi is the PMI-1 wire protocol, by which a launcher and its ranks find each other: the line codec, and the
// state machines of both sides. It does no IO, starts no goroutine and knows no time, so the same code serves a rank
// under any PMI-1 launcher, the project's own launcher, and the tests.
//
// A message is one line, "cmd=NAME key=value ...", ended by a line feed. A client has one request outstanding and
// waits for its answer. Values hold neither space nor line feed.
//
// The project's own servers understand three things more than the standard ones: the request CmdWho, which may be sent while
// a barrier is outstanding and is answered with the ranks that have not come to it; CmdLeave, by which a rank says that it ends as
// all ranks have agreed; and the text field FieldText of an abort. A client sends them only to a server that has said it
// understands them, with the key KeySecret.
package pmi
