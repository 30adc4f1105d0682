package mpi

import (
	"testing"

	"github.com/golci/golci/internal/test/pendingtest"
)

// neverPends are calls that give an error or a request and are not in the table, by the reason.
var neverPends = map[string]string{
	"it is local": `Bsend BsendInit Rsend RsendInit Irsend ReduceLocal Count TypeOf ElementOf DimsCreate EagerLimit Keep ThreadKind
		Cart.Coords Cart.Rank Cart.Shift Comm.AckFailed Comm.AttachBuffer Comm.Cart Comm.Compare Comm.DistGraph Comm.Free
		Comm.GetFailed Comm.Graph Comm.Group Comm.HintPeers Comm.Neighbors Comm.RemoteGroup Comm.RemoteSize Comm.Revoke
		Comm.SetName Comm.WorldRank Datatype.Contiguous Datatype.Indexed Datatype.IndexedBlock Datatype.Pack Datatype.Resized
		Datatype.Subarray Datatype.Unpack Datatype.Vector Graph.Neighbors Group.Excl Group.Incl Group.RangeExcl
		Group.RangeIncl Group.Translate Key.Delete Key.Free Key.Get Key.Set Proc.AttachBuffer Proc.ClosePort Proc.Counter
		Proc.OpenPort Proc.OpenSession Proc.Variable Session.AttachBuffer Session.Close Session.Group Win.Attach Win.Detach
		Win.Group Win.SharedQuery Win.Post gobCodec.Marshal gobCodec.Unmarshal`,
	"it polls and does not wait": `Comm.Iprobe Comm.Improbe IprobeValue Test Testall Testany Testsome Request.Test
		Request.GetStatus Request.Parrived Win.Test Win.Sync`,
	"it is about a request, whose start is in the table": `Wait Waitall Waitany Waitsome WaitallContext WaitanyContext
		WaitsomeContext Request.Wait Request.WaitContext Request.Cancel Request.Complete Request.Free Request.Pready
		Request.PreadyList Request.PreadyRange Request.Start Request.ThenInThread StartAll`,
	"its message has been probed, and comes": `Mrecv Imrecv`,
	"it waits for accesses that the target carries out without a call of its program": `Win.Accumulate Win.CompareAndSwap
		Win.FetchAndOp Win.Flush Win.FlushAll Win.FlushLocal Win.FlushLocalAll Win.Get Win.GetAccumulate Win.GetStrided
		Win.Put Win.PutStrided Win.Raccumulate Win.Rget Win.RgetAccumulate Win.Rput Win.Unlock Win.UnlockAll Win.Complete`,
	"it is that of a communicator, for another buffer": `Proc.DetachBuffer Proc.FlushBuffer Session.DetachBuffer
		Session.FlushBuffer`,
	"it waits for the launcher, which answers": `Proc.AppNum Proc.LookupName Proc.PublishName Proc.UnpublishName Comm.Spawn`,
	"GOLCI_INIT_TIMEOUT bounds it":             `Comm.Connect`,
	"it begins or ends the job":                `Init InitContext Run Proc.Abort Proc.Exit Proc.Finalize Proc.FinalizeContext`,
	"it waits for threads of the program":      `Proc.Go Proc.Parallel Proc.ParallelContext`,
	"it is an error":                           `ThreadError.Unwrap`,
}

func TestPendingIsComplete(t *testing.T) {
	var rows []string
	for _, r := range pendingRows() {
		rows = append(rows, r.name)
	}
	pendingtest.Complete(t, rows, neverPends, "Request")
}
