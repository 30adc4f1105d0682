package conduit

// Belled is a conduit that can tell somebody who sleeps elsewhere that there is something to poll. It is optional: a rank
// that has two conduits sleeps in one of them, and has the other ring. The sleeper goes
//
//	Arm, look (Pending, and what else it waits for), wait until the bell rings, Disarm
//
// Arm and Disarm are called in turns, by one goroutine at a time, which does not call Sleep of this conduit in between. Neither
// allocates, and neither waits for anything but a goroutine of the conduit's own that is ready to run.
type Belled interface {
	// Bell sets what the conduit calls when it rings. It is called once, before traffic and before the first Arm. f runs on a
	// goroutine of the conduit's own. It does not block, takes no lock that a caller of this conduit may hold, and may be called
	// at any time, also when nothing has happened.
	Bell(f func())
	// Arm begins to listen; when it returns, the conduit does. From then until Disarm f is called for the first thing that
	// comes for this rank, whether record or chunk, that makes a peer fail, that makes room for what this rank could not
	// send, or for which the conduit itself wants to be polled, as a timer does. It need not be called again for what comes
	// after that, until the next Arm. What has come before Arm returned may ring or not, but Pending tells of it after Arm;
	// and of what has rung, unless it is a failure or room, Pending tells until it has been polled. A Close of this rank's part
	// rings too. After Close neither Arm nor Disarm does anything.
	Arm()
	// Disarm ends the listening. A call of f that has begun may still be under way when it returns, and be seen as one without
	// cause after the next Arm. Disarm without Arm does nothing.
	Disarm()
}
