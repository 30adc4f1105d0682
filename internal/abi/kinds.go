package abi

import "strings"

// values has the kinds of arguments that are passed by value, each with its type in C and, where that differs, the type
// in the form for large counts. An argument may also point to such a value, or be an array of them.
var values = map[string][2]string{
	// counts and places in memory
	"count": {"int", "MPI_Count"}, // elements of a datatype, or parts of a new one
	"bytes": {"int", "MPI_Count"}, // bytes, or a place in a packed buffer
	"step":  {"int", "MPI_Count"}, // displacements in elements
	"displ": {"int", "MPI_Aint"},  // displacements in elements, of parts of a buffer
	"unit":  {"int", "MPI_Aint"},  // bytes that a displacement in a window counts
	"span":  {"MPI_Aint", "MPI_Count"},
	"aint":  {"MPI_Aint"}, "large": {"MPI_Count"}, "offset": {"MPI_Offset"},
	// numbers
	"int": {"int"}, "n": {"int"}, "flag": {"int"}, "rank": {"int"}, "root": {"int"}, "tag": {"int"}, "keyval": {"int"},
	"code": {"int"}, "class": {"int"}, "assert": {"int"}, "partition": {"int"}, "weight": {"int"}, "double": {"double"},
	"status": {"MPI_Status"},
	// handles
	"comm": {"MPI_Comm"}, "group": {"MPI_Group"}, "win": {"MPI_Win"}, "file": {"MPI_File"}, "info": {"MPI_Info"},
	"session": {"MPI_Session"}, "message": {"MPI_Message"}, "errhandler": {"MPI_Errhandler"}, "op": {"MPI_Op"},
	"request": {"MPI_Request"}, "datatype": {"MPI_Datatype"},
	// the interface for tools
	"enum": {"MPI_T_enum"}, "cvar": {"MPI_T_cvar_handle"}, "pvar": {"MPI_T_pvar_handle"},
	"pvarsession": {"MPI_T_pvar_session"}, "registration": {"MPI_T_event_registration"},
	"instance": {"MPI_T_event_instance"}, "safety": {"MPI_T_cb_safety"}, "order": {"MPI_T_source_order"},
}

// whole has the kinds whose declaration in C is more than a type and a name; the name takes the place of the $.
var whole = map[string]string{
	"in":          "const void *$", // memory that is read
	"out":         "void *$",       // memory that is written
	"inout":       "void *$",       // memory that is read or written
	"memory":      "void *$",       // memory that MPI keeps for a while
	"pointer":     "void *$",       // where a pointer or an attribute is written to
	"value":       "void *$",       // an attribute
	"state":       "void *$",       // what a callback is given
	"object":      "void *$",       // where the handle is that a variable of the interface for tools is bound to
	"logical":     "void *$",       // a logical value of Fortran
	"instatus":    "const MPI_Status *$",
	"string":      "const char *$",
	"*string":     "char *$",
	"strings":     "char *$[]",
	"stringlists": "char **$[]",
	"arguments":   "char ***$",
	"triples":     "int $[][3]",
	"...":         "...",
}

// Arg is an argument of a function.
type Arg struct {
	Name      string
	Kind      string // a key of values or whole, or the name of a callback
	Pointer   bool   // the function writes through it
	Many      bool   // an array
	LargeOnly bool   // only the form for large counts has it
	callback  bool
}

// Declare is the declaration of the argument in C, in the form for large counts or the other one.
func (a Arg) Declare(large bool) string {
	if t, ok := whole[a.argKey()]; ok {
		return strings.ReplaceAll(t, "$", a.Name)
	}
	t := a.typeOf(large)
	switch {
	case a.callback, a.Pointer && !a.Many:
		return t + " *" + a.Name
	case a.Pointer:
		return t + " " + a.Name + "[]"
	case a.Many:
		return "const " + t + " " + a.Name + "[]"
	}
	return t + " " + a.Name
}

// argKey is what whole may know the argument by.
func (a Arg) argKey() string {
	if a.Pointer {
		return "*" + a.Kind
	}
	return a.Kind
}

// typeOf is the type of one value.
func (a Arg) typeOf(large bool) string {
	if a.callback {
		if large && largeCallbacks[a.Kind] {
			return "MPI_" + a.Kind + "_c"
		}
		return "MPI_" + a.Kind
	}
	if t := values[a.Kind]; large && t[1] != "" {
		return t[1]
	}
	return values[a.Kind][0]
}

// largeCallbacks has the callbacks that are given counts, and so have a form for large ones.
var largeCallbacks = map[string]bool{"User_function": true, "Datarep_conversion_function": true}

// Wide tells that the form for large counts has a wider type for the argument, which is a value and only read.
func (a Arg) Wide() bool { return a.Differs() && !a.Pointer && !a.Many && !a.callback && !a.LargeOnly }

// Differs tells that the argument makes a form for large counts necessary.
func (a Arg) Differs() bool { return a.LargeOnly || a.typeOf(true) != a.typeOf(false) }
