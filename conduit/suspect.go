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

// Foreteller is a conduit that tells of a failed peer before any operation can end because of it. It is optional.
type Foreteller interface {
	// Foretell has tell called once for each peer that fails from now on, with the reason of its PeerError. It is called
	// under a lock of the conduit: it must neither block nor call the conduit.
	Foretell(tell func(peer int, reason error))
}
