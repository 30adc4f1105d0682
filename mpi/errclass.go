package mpi

import "github.com/golci/golci/mpi/internal/sentinel"

// ErrorClass is a class of errors of the standard, with its number in the ABI of MPI 5.0 (9.4).
type ErrorClass int

// The classes that errors of this package have.
const (
	ClassSuccess     ErrorClass = 0  // MPI_SUCCESS
	ClassBuffer      ErrorClass = 1  // MPI_ERR_BUFFER
	ClassCount       ErrorClass = 2  // MPI_ERR_COUNT
	ClassType        ErrorClass = 3  // MPI_ERR_TYPE
	ClassTag         ErrorClass = 4  // MPI_ERR_TAG
	ClassComm        ErrorClass = 5  // MPI_ERR_COMM
	ClassRank        ErrorClass = 6  // MPI_ERR_RANK
	ClassRequest     ErrorClass = 7  // MPI_ERR_REQUEST
	ClassRoot        ErrorClass = 8  // MPI_ERR_ROOT
	ClassGroup       ErrorClass = 9  // MPI_ERR_GROUP
	ClassTopology    ErrorClass = 11 // MPI_ERR_TOPOLOGY
	ClassDims        ErrorClass = 12 // MPI_ERR_DIMS
	ClassKeyval      ErrorClass = 36 // MPI_ERR_KEYVAL
	ClassSession     ErrorClass = 60 // MPI_ERR_SESSION
	ClassOp          ErrorClass = 10 // MPI_ERR_OP
	ClassArg         ErrorClass = 13 // MPI_ERR_ARG
	ClassUnknown     ErrorClass = 14 // MPI_ERR_UNKNOWN: an error that is not of this package
	ClassTruncate    ErrorClass = 15 // MPI_ERR_TRUNCATE
	ClassOther       ErrorClass = 16 // MPI_ERR_OTHER
	ClassPending     ErrorClass = 18 // MPI_ERR_PENDING
	ClassNoMem       ErrorClass = 39 // MPI_ERR_NO_MEM
	ClassProcAborted ErrorClass = 58 // MPI_ERR_PROC_ABORTED
	ClassAssert      ErrorClass = 22 // MPI_ERR_ASSERT
	ClassDisp        ErrorClass = 26 // MPI_ERR_DISP
	ClassLockType    ErrorClass = 37 // MPI_ERR_LOCKTYPE
	ClassRMAAttach   ErrorClass = 46 // MPI_ERR_RMA_ATTACH
	ClassRMARange    ErrorClass = 48 // MPI_ERR_RMA_RANGE
	ClassRMAShared   ErrorClass = 49 // MPI_ERR_RMA_SHARED
	ClassRMASync     ErrorClass = 50 // MPI_ERR_RMA_SYNC
	ClassName        ErrorClass = 38 // MPI_ERR_NAME
	ClassPort        ErrorClass = 43 // MPI_ERR_PORT
	ClassService     ErrorClass = 51 // MPI_ERR_SERVICE
	ClassSpawn       ErrorClass = 53 // MPI_ERR_SPAWN
	ClassSize        ErrorClass = 52 // MPI_ERR_SIZE
	ClassWin         ErrorClass = 56 // MPI_ERR_WIN
	ClassRMAFlavor   ErrorClass = 57 // MPI_ERR_RMA_FLAVOR

	// Of the standard's working group for faults (ULFM). The ABI has no numbers for them.
	ClassProcFailed        ErrorClass = 101 // MPIX_ERR_PROC_FAILED
	ClassProcFailedPending ErrorClass = 102 // MPIX_ERR_PROC_FAILED_PENDING
	ClassRevoked           ErrorClass = 103 // MPIX_ERR_REVOKED
)

// Class is the class of an error (9.4): that of the first error of this package that errors.Is finds in it.
func Class(err error) ErrorClass { return ErrorClass(sentinel.Class(err)) }
