package mpi

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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

// TestPendingIsComplete: each exported function or method that gives an error or a request is a row of the table, or
// has a reason why it is none. Each name in the lists is one of them.
func TestPendingIsComplete(t *testing.T) {
	found := fallible(t)
	known := make(map[string]bool)
	for _, r := range pendingRows() {
		known[r.name] = true
	}
	for reason, names := range neverPends {
		for _, name := range strings.Fields(names) {
			if known[name] {
				t.Errorf("%s is listed twice, once because %s", name, reason)
			}
			known[name] = true
		}
	}
	for _, name := range found {
		if !known[name] {
			t.Errorf("%s has no row, and no reason for that", name)
		}
	}
	for name := range known {
		if !slices.Contains(found, name) {
			t.Errorf("%s is listed, and there is no such function", name)
		}
	}
}

// fallible lists the exported functions and methods of the package that give an error or a request.
func fallible(t *testing.T) (names []string) {
	set := token.NewFileSet()
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	// What other packages declare is not needed: the results looked for are of this one, or predeclared.
	cfg := types.Config{Importer: noImports{}, Error: func(error) {}}
	pkg, _ := cfg.Check("mpi", set, files, nil)
	gives := func(f *types.Func) bool {
		for v := range f.Signature().Results().Variables() {
			if s := types.TypeString(v.Type(), types.RelativeTo(pkg)); s == "error" || s == "Request" {
				return true
			}
		}
		return false
	}
	for _, name := range pkg.Scope().Names() {
		switch x := pkg.Scope().Lookup(name).(type) {
		case *types.Func:
			if x.Exported() && gives(x) {
				names = append(names, name)
			}
		case *types.TypeName:
			named, ok := x.Type().(*types.Named)
			for i := 0; ok && i < named.NumMethods(); i++ {
				if m := named.Method(i); m.Exported() && gives(m) {
					names = append(names, name+"."+m.Name())
				}
			}
		}
	}
	return names
}

// noImports finds no package.
type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not needed") }
