package errs

// Classes of failed processes, which the standard's ABI has no numbers for.
const (
	ProcFailed        Class = 101 // MPIX_ERR_PROC_FAILED
	ProcFailedPending Class = 102 // MPIX_ERR_PROC_FAILED_PENDING
	Revoked           Class = 103 // MPIX_ERR_REVOKED
)

// extensions are the classes that are not of the standard.
var extensions = map[Class]class{
	ProcFailed:        {"PROC_FAILED", "a process has failed"},
	ProcFailedPending: {"PROC_FAILED_PENDING", "a process that might have been the source has failed"},
	Revoked:           {"REVOKED", "the communicator has been revoked"},
}
