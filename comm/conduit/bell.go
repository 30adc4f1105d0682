package conduit

// Belled is a conduit that can tell somebody who sleeps elsewhere that there is something to poll. It is optional: a
// rank that has two conduits sleeps in one of them, and has the other ring. The sleeper goes
//
//	Arm, look (Pending, and what else it waits for), wait until the bell rings, Disarm
//
// Arm and Disarm are called in turns, by one goroutine at a time, which does not call Sleep of this conduit in
// between. Neither allocates, and neither waits for anything but a goroutine of the conduit's own that is ready to
// run.
type Belled interface {
	// Bell sets what the conduit calls when it rings. It is called once, before traffic and before the first Arm. f
	// runs on a goroutine of the conduit's own, or of whoever calls the conduit. It does not block, takes no lock
	// that a caller of this conduit may hold, and may be called at any time, also when nothing has happened.
	Bell(f func())
	// Arm begins to listen; when it returns, the conduit does. From then until Disarm f is called for the first
	// record or chunk that comes for this rank, the first peer that fails, and when the conduit itself wants to be
	// polled, as for a timer; after one call it may be silent until the next Arm. What came before Arm returned need
	// not ring: Pending tells of it after Arm. Whatever has rung but a failure, Pending tells of until it has been
	// polled. Close may come at any time, also beside Arm and Disarm; in an armed conduit it rings, and after it
	// neither of them does anything.
	Arm()
	// Disarm ends the listening. A call of f that has begun may still be under way when it returns, and then looks
	// like one without cause to the next sleep. Disarm without Arm does nothing.
	Disarm()
}
