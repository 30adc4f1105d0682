package ring

// SetHooks has a goroutine that goes to sleep call armed before its last look. In builds that check themselves a sender
// calls published between publication and announcement.
func SetHooks(armed, published func()) { hookArmed, hookPublished = armed, published }
