// Package errs has the classes of errors of the MPI standard (9.4), with their numbers in its ABI. A class is an error
// itself, so an error that wraps one has that class, and errors.Is finds it.
package errs

import (
	"errors"
	"fmt"
)

// Class is a class of errors.
type Class int

// The classes of MPI 5.0.
const (
	Success              Class = 0
	Buffer               Class = 1
	Count                Class = 2
	Type                 Class = 3
	Tag                  Class = 4
	Comm                 Class = 5
	Rank                 Class = 6
	Request              Class = 7
	Root                 Class = 8
	Group                Class = 9
	Op                   Class = 10
	Topology             Class = 11
	Dims                 Class = 12
	Arg                  Class = 13
	Unknown              Class = 14
	Truncate             Class = 15
	Other                Class = 16
	Intern               Class = 17
	Pending              Class = 18
	InStatus             Class = 19
	Access               Class = 20
	Amode                Class = 21
	Assert               Class = 22
	BadFile              Class = 23
	Base                 Class = 24
	Conversion           Class = 25
	Disp                 Class = 26
	DupDatarep           Class = 27
	FileExists           Class = 28
	FileInUse            Class = 29
	File                 Class = 30
	InfoKey              Class = 31
	InfoNoKey            Class = 32
	InfoValue            Class = 33
	Info                 Class = 34
	IO                   Class = 35
	Keyval               Class = 36
	LockType             Class = 37
	Name                 Class = 38
	NoMem                Class = 39
	NotSame              Class = 40
	NoSpace              Class = 41
	NoSuchFile           Class = 42
	Port                 Class = 43
	Quota                Class = 44
	ReadOnly             Class = 45
	RMAAttach            Class = 46
	RMAConflict          Class = 47
	RMARange             Class = 48
	RMAShared            Class = 49
	RMASync              Class = 50
	Service              Class = 51
	Size                 Class = 52
	Spawn                Class = 53
	UnsupportedDatarep   Class = 54
	UnsupportedOperation Class = 55
	Win                  Class = 56
	RMAFlavor            Class = 57
	ProcAborted          Class = 58
	ValueTooLarge        Class = 59
	Session              Class = 60
	Errhandler           Class = 61
	ABI                  Class = 62

	LastCode Class = 16383 // the greatest number that the standard keeps for itself; added classes are above
)

// class is the standard's name of a class without its beginning, and what it means.
type class struct{ name, text string }

var classes = [...]class{
	Success:              {"SUCCESS", "no error"},
	Buffer:               {"BUFFER", "invalid buffer"},
	Count:                {"COUNT", "invalid count"},
	Type:                 {"TYPE", "invalid datatype"},
	Tag:                  {"TAG", "invalid tag"},
	Comm:                 {"COMM", "invalid communicator"},
	Rank:                 {"RANK", "invalid rank"},
	Request:              {"REQUEST", "invalid request"},
	Root:                 {"ROOT", "invalid root"},
	Group:                {"GROUP", "invalid group"},
	Op:                   {"OP", "invalid operation"},
	Topology:             {"TOPOLOGY", "invalid topology"},
	Dims:                 {"DIMS", "invalid dimensions"},
	Arg:                  {"ARG", "invalid argument"},
	Unknown:              {"UNKNOWN", "unknown error"},
	Truncate:             {"TRUNCATE", "message longer than its buffer"},
	Other:                {"OTHER", "error of another kind"},
	Intern:               {"INTERN", "internal error"},
	Pending:              {"PENDING", "request not done"},
	InStatus:             {"IN_STATUS", "the error is in the status"},
	Access:               {"ACCESS", "permission denied"},
	Amode:                {"AMODE", "invalid mode of access"},
	Assert:               {"ASSERT", "invalid assertion"},
	BadFile:              {"BAD_FILE", "invalid file name"},
	Base:                 {"BASE", "invalid base address"},
	Conversion:           {"CONVERSION", "value cannot be converted"},
	Disp:                 {"DISP", "invalid displacement"},
	DupDatarep:           {"DUP_DATAREP", "data representation exists"},
	FileExists:           {"FILE_EXISTS", "file exists"},
	FileInUse:            {"FILE_IN_USE", "file in use"},
	File:                 {"FILE", "invalid file handle"},
	InfoKey:              {"INFO_KEY", "invalid info key"},
	InfoNoKey:            {"INFO_NOKEY", "no such info key"},
	InfoValue:            {"INFO_VALUE", "invalid info value"},
	Info:                 {"INFO", "invalid info object"},
	IO:                   {"IO", "input or output failed"},
	Keyval:               {"KEYVAL", "invalid attribute key"},
	LockType:             {"LOCKTYPE", "invalid type of lock"},
	Name:                 {"NAME", "service name not published"},
	NoMem:                {"NO_MEM", "no memory"},
	NotSame:              {"NOT_SAME", "arguments differ between ranks"},
	NoSpace:              {"NO_SPACE", "no space"},
	NoSuchFile:           {"NO_SUCH_FILE", "no such file"},
	Port:                 {"PORT", "invalid port name"},
	Quota:                {"QUOTA", "quota exceeded"},
	ReadOnly:             {"READ_ONLY", "read-only file"},
	RMAAttach:            {"RMA_ATTACH", "memory cannot be attached"},
	RMAConflict:          {"RMA_CONFLICT", "conflicting accesses to a window"},
	RMARange:             {"RMA_RANGE", "target memory not in the window"},
	RMAShared:            {"RMA_SHARED", "memory cannot be shared"},
	RMASync:              {"RMA_SYNC", "wrong synchronization of a window"},
	Service:              {"SERVICE", "invalid service name"},
	Size:                 {"SIZE", "invalid size"},
	Spawn:                {"SPAWN", "processes cannot be spawned"},
	UnsupportedDatarep:   {"UNSUPPORTED_DATAREP", "unsupported data representation"},
	UnsupportedOperation: {"UNSUPPORTED_OPERATION", "unsupported operation"},
	Win:                  {"WIN", "invalid window"},
	RMAFlavor:            {"RMA_FLAVOR", "wrong flavor of window"},
	ProcAborted:          {"PROC_ABORTED", "a peer has ended"},
	ValueTooLarge:        {"VALUE_TOO_LARGE", "value too large"},
	Session:              {"SESSION", "invalid session"},
	Errhandler:           {"ERRHANDLER", "invalid error handler"},
	ABI:                  {"ABI", "the ABI does not fit"},
}

// Error is what the class means.
func (c Class) Error() string {
	if c.isKnown() {
		return classes[c].text
	}
	if x, ok := extensions[c]; ok {
		return x.text
	}
	return fmt.Sprintf("error class %d", int(c))
}

// Name is the standard's name of the class, such as MPI_ERR_COUNT, or "" if it has none.
func (c Class) Name() string {
	switch {
	case c == Success:
		return "MPI_SUCCESS"
	case c.isKnown():
		return "MPI_ERR_" + classes[c].name
	}
	if x, ok := extensions[c]; ok {
		return "MPIX_ERR_" + x.name
	}
	return ""
}

func (c Class) isKnown() bool { return c >= 0 && int(c) < len(classes) }

// Of is the class of an error: the first one that errors.As finds in it, or else Unknown.
func Of(err error) Class {
	if err == nil {
		return Success
	}
	var c Class
	if errors.As(err, &c) {
		return c
	}
	return Unknown
}
