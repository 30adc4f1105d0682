// Package pmi is the PMI-1 wire protocol, by which a launcher and its ranks find each other. It has the line codec and
// the state machine of a server. It does no IO, starts no goroutine and knows no time. So the same code serves a
// rank under any PMI-1 launcher, the project's own launcher, and the tests.
//
// A message is one line, "cmd=NAME key=value ...", ended by a line feed. A client has one request outstanding and
// waits for its answer. Values hold neither space nor line feed.
//
// The project's own servers understand more than the standard ones. The request CmdWho may be sent while a
// barrier is outstanding. Its answer lists the ranks that have not come to the barrier. With CmdLeave a rank says that
// it ends as all ranks have agreed. With CmdReport it says that it writes a report, which takes time. With CmdFollows a rank says that another one has died, which may be why it ends.
// The field FieldText is the text of an abort. A client sends these only to a server that has said by the key KeySecret
// that it understands them.
package pmi
