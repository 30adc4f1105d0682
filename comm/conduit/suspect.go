package conduit

// Suspecter is a conduit that can be told from outside that a peer is probably dead. It is optional: a conduit does
// not need it if the kernel tells of the deaths of its peers.
type Suspecter interface {
	// Suspect says that the process of peer, another rank of the job, has probably ended. The conduit asks the peer.
	// If it does not answer soon it has failed with ErrPeerDied, and the conduit tells the other ranks. How soon is the
	// conduit's own matter: a live peer that answers later has failed, too. So suspect only where there is evidence.
	// Suspect may be called from any goroutine, again and again. It does not block.
	Suspect(peer int)
}
