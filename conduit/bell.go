package conduit

// Belled is a conduit that can tell somebody who sleeps elsewhere that there is something to poll. It is optional: a
// rank that has two conduits sleeps in one of them, and has the other ring. The sleeper goes
//
//	Arm, look (Pending, and what else it waits for), wait until the bell rings, Disarm
//
// Arm and Disarm are called in turns, by one goroutine at a time, which does not call Sleep of this conduit in between.
// Neither allocates, nor waits for more than a runnable goroutine of the conduit.
type Belled interface {
	// Bell sets what the conduit calls when it rings. It is called once, before traffic and before the first Arm. f
	// runs on a goroutine of the conduit's own, or of whoever calls the conduit. It does not block, takes no lock
	// that a caller of this conduit may hold, and may be called at any time, also when nothing has happened.
	Bell(f func())
	// Arm begins to listen; when it returns, the conduit does. From then until Disarm, the bell rings for
	//
	//	- the first record or chunk that comes for this rank,
	//	- the first peer that fails,
	//	- a timer of the conduit, or another reason of its own to be polled.
	//
	// After one ring it may be silent until the next Arm. It need not ring for what came before Arm returned: Pending
	// tells of that after Arm. Pending tells of all that has rung until it has been polled.
	//
	// Close may come at any time. In an armed conduit it rings. After it Arm and Disarm do nothing.
	Arm()
	// Disarm ends the listening. A call of f that has begun may still be under way when it returns, and then looks
	// like one without cause to the next sleep. Disarm without Arm does nothing.
	Disarm()
}
