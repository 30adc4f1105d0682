package realm

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/fault"
	"github.com/golci/golci/realm/internal/reservation"
)

// Reservation is a lock of the job with a payload of type T. It is owned by one rank at a time, and moves to ranks that
// acquire it; the payload moves with it. Handles may be copied. The zero Reservation is of no use.
type Reservation[T any] struct {
	c *lockCell
}

// ReservationID names a reservation. It is a number that may be stored, and sent to other ranks of the job.
type ReservationID[T any] uint64

// Mode is how a reservation is held. Holders with one mode other than Exclusive hold it together.
type Mode uint32

// Exclusive is the mode of a single holder.
const Exclusive Mode = 0

// maxPayload is the largest payload of a reservation in bytes.
const maxPayload = 4096

// NewReservation creates a reservation that this rank owns, with a payload of zeros. It sends nothing and does not
// block. T has at most 4096 bytes and contains neither pointers nor strings, maps, slices, functions or interfaces; a
// reservation without payload has type struct{}. Errors: ErrArgument or ErrSize for another T, ErrClosed.
func NewReservation[T any](at Site) (Reservation[T], error) {
	rt, _ := at.site()
	err := rt.ev.EndedError()
	if err == nil {
		err = checkPayload[T](rt, "NewReservation")
	}
	if err != nil {
		return Reservation[T]{}, err
	}
	return Reservation[T]{rt.locks.addCell(newLockCell[T](rt))}, nil
}

// ID is the name of r for all ranks.
func (r Reservation[T]) ID() ReservationID[T] {
	if r.c == nil {
		return 0
	}
	return ReservationID[T](r.c.id)
}

// On is the reservation on the rank of at. It does not block. If id names none, or one with another payload, the
// operations of the result fail with ErrArgument.
func (id ReservationID[T]) On(at Site) Reservation[T] {
	rt, _ := at.site()
	e := event.ID(id)
	if e.Kind() != event.Reservation || e.Rank() >= rt.ev.Size {
		return Reservation[T]{rt.noLock(rt.unknown("On", Event(e)))}
	}
	if c := rt.locks.findCell(e); c != nil {
		return Reservation[T]{c.as(reflect.TypeFor[T]())}
	}
	if err := checkPayload[T](rt, "On"); err != nil {
		return Reservation[T]{rt.noLock(err)}
	}
	return Reservation[T]{rt.locks.enterCell(e, newLockCell[T](rt)).as(reflect.TypeFor[T]())}
}

// String names the rank that created the reservation, and its index there.
func (id ReservationID[T]) String() string { return event.ID(id).String() }

// Acquire takes the reservation in mode m once after has triggered, and returns the event of the grant. It does not
// block. The result is NoEvent if the reservation could be taken at once. Local waiters are served in order. Those of
// other ranks wait while up to 64 local ones are served.
//
// If after is poisoned, unless IgnoreFaults is among the options, the reservation is not taken, and the event of the
// grant is poisoned. So it is when the reservation is destroyed, or when a rank dies that owned, created or held it. A
// release that waits for such an event does nothing. Errors of the call itself poison the event, too. Options are
// IgnoreFaults and Profile.
func (r Reservation[T]) Acquire(m Mode, after Event, opts ...Option) Event {
	if r.c == nil {
		return noSuchEvent
	}
	if after == NoEvent && len(opts) == 0 && r.c.try(m) {
		return NoEvent
	}
	return r.c.acquireAfter(m, after, opts)
}

// noSuchEvent is what the operations of a handle without runtime return. A wait for it is ErrArgument.
const noSuchEvent Event = 1

// TryAcquire takes the reservation in mode m if this rank owns it, and nobody else has to let go of it. It neither
// blocks nor sends: a rank that is not the owner has to call Acquire.
func (r Reservation[T]) TryAcquire(m Mode) bool {
	return r.c != nil && (r.c.try(m) || r.c.trace != nil && r.c.tryNoted(m))
}

// Release ends one hold once after has triggered. It does not block, and may be called on any rank. The hold ends even
// if after is poisoned, except for this: if the poison is that of a grant of this reservation, there is no hold, and
// Release does nothing. So an Acquire and a Release that waits for what depends on its grant always match. An error
// that wraps such a poison counts as it; one that quotes its text does not. On a rank that dies, holds of which
// another rank was to end the release are not ended. Where after is poisoned before the grant has triggered,
// by a cancel or by another event that it waits for, Release waits for the grant, too.
//
// Errors: ErrArgument if nobody holds the reservation; ErrForgotten if after triggered so long ago that its outcome
// is not known any more, and then the hold goes on. Where the call cannot tell, because after has not triggered or
// another rank is the owner, that ends the job.
func (r Reservation[T]) Release(after Event) error {
	if r.c == nil {
		return errNoReservation("Release")
	}
	if after == NoEvent {
		return r.c.releaseNow()
	}
	return r.c.defer1("Release", after, opRelease)
}

// Destroy ends the reservation once after has triggered. Those that wait for it, on any rank, and all later acquires
// get a poisoned event. Those that hold it need not release it. It does not block. If after is poisoned, nothing is
// destroyed. Errors: ErrArgument for an event that cannot be.
func (r Reservation[T]) Destroy(after Event) error {
	if r.c == nil {
		return errNoReservation("Destroy")
	}
	return r.c.defer1("Destroy", after, opDestroy)
}

func errNoReservation(what string) error {
	return fmt.Errorf("realm: %s: %w: a Reservation that was not created", what, ErrArgument)
}

// Payload is the payload, which is up to date while this rank holds the reservation; nil if it does not. What an
// exclusive holder writes, all later holders see. Other holders must not write. The pointer is of no use after the
// release.
func (r Reservation[T]) Payload() *T {
	if r.c == nil || !r.c.held() {
		return nil
	}
	return (*T)(r.c.payload)
}

// checkPayload tells why T cannot be a payload.
func checkPayload[T any](rt *Runtime, what string) error {
	t := reflect.TypeFor[T]()
	switch {
	case t.Size() > maxPayload:
		return rt.ev.CallErrorf(what, "%w: a payload of type %v has %d bytes, the most is %d", ErrSize, t, t.Size(),
			maxPayload)
	case int(t.Size()) > rt.ev.Endpoint.MaxMedium():
		return rt.ev.CallErrorf(what, "%w: a payload of type %v has %d bytes, a message takes %d",
			ErrSize, t, t.Size(), rt.ev.Endpoint.MaxMedium())
	case !pointerFree(t):
		return rt.ev.CallErrorf(what, "%w: a payload of type %v contains pointers", ErrArgument, t)
	}
	return nil
}

// newLockCell has the memory of a reservation on this rank.
func newLockCell[T any](rt *Runtime) *lockCell {
	p := new(T)
	return &lockCell{
		rt: rt, of: reflect.TypeFor[T](), payload: unsafe.Pointer(p),
		bytes: unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p)),
	}
}

// config is how the core is made. What a transfer has no room for travels as requests.
func (c *lockCell) config() reservation.Config {
	return reservation.Config{
		ID: c.id, Self: int32(c.rt.ev.Self), Ranks: c.rt.ev.Size, Payload: c.bytes, Gone: c.rt.locks.gone,
		Died:  fault.NumbersOf(ErrPeer),
		Carry: (c.rt.ev.Endpoint.MaxMedium() - len(c.bytes)) / wantBytes,
	}
}
