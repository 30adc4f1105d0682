package conduit

// Suspecter is a conduit that can be told from outside that a peer is probably dead. It is optional: a conduit whose
// peers' deaths the kernel tells needs it not.
type Suspecter interface {
	// Suspect says that the process of peer, another rank of the job, has probably ended. The conduit asks the peer. If
	// it does not answer soon it has failed with ErrPeerDied, and the conduit tells the other ranks. A peer that lives
	// answers, so a wrong suspicion does no harm. Suspect may be called from any goroutine, again and again. It does not
	// block.
	Suspect(peer int)
}
