package attr

// Predefined is a key of the standard, by its number in the ABI. Programs may only read its value, which the library
// knows for each object. So it has no Key.
type Predefined int

// Keys of communicators (9.1.2) and of windows (12.2.6).
const (
	Invalid Predefined = 0 // MPI_KEYVAL_INVALID

	TagUB         Predefined = 501
	IO            Predefined = 502
	Host          Predefined = 503
	WtimeIsGlobal Predefined = 504
	AppNum        Predefined = 505
	LastUsedCode  Predefined = 506
	UniverseSize  Predefined = 507

	WinBase         Predefined = 601
	WinDispUnit     Predefined = 602
	WinSize         Predefined = 603
	WinCreateFlavor Predefined = 604
	WinModel        Predefined = 605
)

var (
	commKeys = [...]string{
		"TAG_UB", "IO", "HOST", "WTIME_IS_GLOBAL", "APPNUM", "LASTUSEDCODE", "UNIVERSE_SIZE",
	}
	winKeys = [...]string{"WIN_BASE", "WIN_DISP_UNIT", "WIN_SIZE", "WIN_CREATE_FLAVOR", "WIN_MODEL"}
)

// Lookup is the name of a predefined key, and for which objects it is; !ok: there is no such key.
func (p Predefined) Lookup() (name string, kind Kind, ok bool) {
	switch {
	case p >= TagUB && p <= UniverseSize:
		return "MPI_" + commKeys[p-TagUB], Comm, true
	case p >= WinBase && p <= WinModel:
		return "MPI_" + winKeys[p-WinBase], Win, true
	}
	return "", 0, false
}
