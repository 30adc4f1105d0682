package match

import m "github.com/golci/golci/comm/internal/opstate"

// States of an operation. One that is not in use, or is not started yet, is Idle.
const (
	Idle m.State = iota

	SendQueued    // in the queue of its pair: nothing has left
	SendOffered   // the envelope has left, no answer has come
	SendRecalled  // the envelope has been called back, no answer has come
	SendHalfGot   // the receiver has got its part, and its wish for the other is still to come
	SendStreaming // the bytes travel in chunks
	SendCopying   // this rank puts one part of the bytes, the receiver gets the other
	SendPutting   // this rank puts the bytes
	SendOver      // nothing is to be done any more but to let go

	RecvPosted    // no message has been matched, or one that needs no more than a copy
	RecvStreaming // the bytes come in chunks
	RecvGetting   // this rank gets the bytes
	RecvCopying   // this rank gets one part of the bytes, the sender puts the other
	RecvFilling   // the sender puts the bytes
	RecvInvited   // the sender has been told where the bytes go, before it has told of a message
	RecvRecalled  // the sender has been asked to forget that
	RecvOver
)

// What happens to an operation.
const (
	SentWhole     m.Input = iota // the message has left with its bytes
	SentEnvelope                 // the envelope has left
	Unqueued                     // the queue of the pair has let go
	Withdrawn                    // it has been taken out of the queue, or of the matching, before anything left
	Recall                       // the caller calls the envelope, or the RTR, back
	Forgotten                    // the peer has forgotten the envelope, or the RTR
	NothingWanted                // the receiver wants no bytes, or has got them
	Cleared                      // the receiver waits for the bytes in chunks: it answers, or has invited them
	HalfWanted                   // the receiver gets one part, and exposes the place of the other
	AllWanted                    // the receiver exposes its buffer
	AskChunks                    // a message has been matched whose bytes are to come in chunks
	AskGet                       // … that this rank gets
	AskHalf                      // … of which each rank moves a part
	AskPut                       // … that the sender is to put
	LastChunk                    // all bytes have come
	Moved                        // the transfer of this rank has ended
	Copied                       // the transfer of the peer has ended
	PeerLost                     // the peer has failed, or this rank ends its communication
)

// What is to be done after a step.
const (
	DoNothing   uint8 = iota
	Stream            // send the bytes in chunks
	Put               // put the bytes into the memory that the receiver exposes
	Get               // get the bytes from the memory that the sender exposes
	TellRetract       // ask the peer to forget the envelope, or the RTR
	TellCopied        // tell the peer that this rank's transfer has ended
	TellNothing       // tell the sender that its bytes are not wanted any more
	Cancel            // the operation ends as cancelled
)

var stateNames = []string{
	"idle",
	"queued", "offered", "recalled", "half got", "streaming", "copying", "putting", "over",
	"posted", "receiving", "getting", "receiving a half", "being filled", "invited", "recalled receive", "received",
}

var inputNames = []string{
	"whole", "envelope", "unqueued", "withdrawn", "recall", "forgotten", "nothing", "clear", "half", "all",
	"ask chunks", "ask get", "ask half", "ask put", "last chunk", "moved", "copied", "lost",
}

// Sets of states. No answer has come; the queue may let go. It lets go of a queued send while another ends that.
var (
	offered = []m.State{SendOffered, SendRecalled}
	invited = []m.State{RecvInvited, RecvRecalled}
	unqueue = []m.State{
		SendQueued, SendOver, SendOffered, SendRecalled, SendHalfGot, SendStreaming, SendCopying, SendPutting,
	}
)

// Protocol is how a message travels that does not leave at once, at its sender and at its receiver. The parties of a
// send: Caller; Queue, the queue of the pair; Peer, which owes an answer to the envelope, and after HalfWanted the
// end of its own part; Transfer. The parties of a receive: Caller; Queue, the matching; Peer, which sends or puts
// bytes; Transfer. Who removes the number of an operation has Peer let go, and nobody else.
var Protocol = m.NewMachine("message", stateNames, inputNames, rules...)

var rules = []m.Rule{
	m.On(SentWhole, SendQueued).Drop(m.Peer).To(SendOver),
	m.On(SentEnvelope, SendQueued).To(SendOffered),
	m.On(Withdrawn, SendQueued).Drop(m.Queue | m.Peer).To(SendOver).Do(Cancel),
	m.On(Cleared, SendQueued).Drop(m.Peer).Take(m.Transfer).To(SendStreaming).Do(Stream),

	m.On(PeerLost, SendQueued).Drop(m.Peer).To(SendOver), // the queue lets go later, and may still send the envelope
	m.On(SentEnvelope, SendOver),

	m.On(Recall, SendOffered).To(SendRecalled).Do(TellRetract),
	m.On(Forgotten, offered...).Drop(m.Peer).To(SendOver).Do(Cancel),
	m.On(NothingWanted, offered...).Drop(m.Peer).To(SendOver),
	m.On(Cleared, offered...).Drop(m.Peer).Take(m.Transfer).To(SendStreaming).Do(Stream),
	m.On(HalfWanted, offered...).Take(m.Transfer).To(SendCopying).Do(Put),
	m.On(AllWanted, offered...).Drop(m.Peer).Take(m.Transfer).To(SendPutting).Do(Put),
	m.On(PeerLost, SendOffered, SendRecalled, SendHalfGot).Drop(m.Peer).To(SendOver),

	m.On(Copied, offered...).To(SendHalfGot),
	m.On(HalfWanted, SendHalfGot).Drop(m.Peer).Take(m.Transfer).To(SendPutting).Do(Put),
	m.On(Copied, SendCopying).Drop(m.Peer).To(SendPutting),
	m.On(Moved, SendCopying).Drop(m.Transfer).Do(TellCopied),
	m.On(PeerLost, SendCopying).Drop(m.Peer).To(SendPutting),
	m.On(Moved, SendPutting).Drop(m.Transfer).To(SendOver).Do(TellCopied),
	m.On(Moved, SendStreaming).Drop(m.Transfer).To(SendOver),

	m.On(Unqueued, unqueue...).Drop(m.Queue),

	m.On(AskChunks, RecvPosted).Drop(m.Queue).Take(m.Peer).To(RecvStreaming),
	m.On(AskGet, RecvPosted).Drop(m.Queue).Take(m.Transfer).To(RecvGetting).Do(Get),
	m.On(AskHalf, RecvPosted).Drop(m.Queue).Take(m.Peer | m.Transfer).To(RecvCopying).Do(Get),
	m.On(AskPut, RecvPosted).Drop(m.Queue).Take(m.Peer).To(RecvFilling),
	m.On(Withdrawn, RecvPosted).Drop(m.Queue).To(RecvOver).Do(Cancel),

	m.On(Recall, RecvInvited).To(RecvRecalled).Do(TellRetract),
	m.On(Forgotten, invited...).Drop(m.Peer).To(RecvOver).Do(Cancel),
	m.On(LastChunk, invited...).Drop(m.Peer).To(RecvOver),
	m.On(PeerLost, invited...).Drop(m.Peer).To(RecvOver),

	m.On(LastChunk, RecvStreaming).Drop(m.Peer).To(RecvOver),
	m.On(PeerLost, RecvStreaming).Drop(m.Peer).To(RecvOver),
	m.On(Moved, RecvGetting).Drop(m.Transfer).To(RecvOver).Do(TellNothing),
	m.On(Moved, RecvCopying).Drop(m.Transfer).To(RecvFilling).Do(TellCopied),
	m.On(Copied, RecvCopying).Drop(m.Peer),
	m.On(PeerLost, RecvCopying).Drop(m.Peer),
	m.On(Copied, RecvFilling).Drop(m.Peer).To(RecvOver),
	m.On(PeerLost, RecvFilling).Drop(m.Peer).To(RecvOver),
}
