package conformance

import (
	"bytes"
	"errors"
	"testing"

	"github.com/golci/golci/conduit"
)

// ending is a Completion that notes what it is told.
type ending struct {
	t        testing.TB
	n, calls int
	err      error
}

func (x *ending) Completed(n int, err error) {
	if n <= 0 {
		x.t.Errorf("%d bytes completed", n)
	}
	x.n += n
	x.calls++
	if err != nil {
		x.err = err
	}
}

// remotes gives the ends of ranks 0 and 1 as Remotes, and what rank 0 reaches at rank 1. It skips a conduit without.
func remotes(t suite, cs []conduit.Conduit) (a, b conduit.Remote, r conduit.Reach) {
	a, ok := cs[0].(conduit.Remote)
	if !ok {
		t.Skip("this conduit reaches no memory")
	}
	if r = a.Reach(1); !r.Get && !r.Put {
		t.Skip("rank 0 does not reach the memory of rank 1")
	}
	return a, cs[1].(conduit.Remote), r
}

// access is Get or Put of all of local, in as many calls as it takes; both ranks poll until it is over.
func access(t suite, cs []conduit.Conduit, get bool, local []byte, k conduit.Key, off int64) error {
	x := &ending{t: t}
	calls := 0
	w := newWaiter(t, "an access of %d bytes", len(local))
	for done := 0; x.n < len(local); {
		if done < len(local) {
			n := start(cs[0], get, local[done:], k, off+int64(done), x)
			if n < 0 {
				return cs[0].Failed(1)
			}
			if n > 0 {
				calls++
			}
			done += n
		}
		if x.calls > calls {
			t.Fatalf("%d calls were completed, %d took something", x.calls, calls)
		}
		if pollAll(t, cs) == 0 {
			w.pause()
		}
	}
	for range 20 {
		pollAll(t, cs)
	}
	if x.calls != calls || x.n != len(local) {
		t.Errorf("%d calls for %d bytes were completed %d times with %d bytes", calls, len(local), x.calls, x.n)
	}
	return x.err
}

func start(c conduit.Conduit, get bool, local []byte, k conduit.Key, off int64, x conduit.Completion) int {
	if get {
		return c.(conduit.Remote).Get(1, local, k, off, x)
	}
	return c.(conduit.Remote).Put(1, local, k, off, x)
}

// pollAll polls all ranks and returns how much they did.
func pollAll(t suite, cs []conduit.Conduit) (n int) {
	for _, c := range cs {
		n += max(0, c.Poll(4, &sink{t: t}))
	}
	return n
}

// ways are the operations that r has: true for Get.
func ways(r conduit.Reach) (gets []bool) {
	if r.Get {
		gets = append(gets, true)
	}
	if r.Put {
		gets = append(gets, false)
	}
	return gets
}

func expose(t suite, b conduit.Remote, mem []byte) conduit.Key {
	t.Helper()
	k, st := b.Expose(0, mem)
	if st != conduit.OK || k.ID == 0 || k.Size != int64(len(mem)) {
		t.Fatalf("exposing %d bytes: %+v, %v", len(mem), k, st)
	}
	return k
}

func testRemoteBytes(t suite, cs []conduit.Conduit) {
	_, b, r := remotes(t, cs)
	for _, get := range ways(r) {
		for i, n := range []int{1, 7, 64, 4096, 100_000, 600_001} {
			mem, local := make([]byte, n+100), make([]byte, n)
			from, to := mem[50:50+n], local
			if !get {
				from, to = to, from
			}
			fill(from, uint64(n+i))
			k := expose(t, b, mem)
			if err := access(t, cs, get, local, k, 50); err != nil || !bytes.Equal(from, to) {
				t.Errorf("get %v of %d bytes: %v", get, n, err)
			}
			if !bytes.Equal(mem[:50], make([]byte, 50)) || !bytes.Equal(mem[50+n:], make([]byte, 50)) {
				t.Errorf("get %v of %d bytes: bytes beside them have changed", get, n)
			}
			if err := b.Release(0, k); err != nil {
				t.Error(err)
			}
		}
	}
}

// testRemoteBounds: an access outside the memory, and under a key that names none, ends with ErrKey and moves nothing.
func testRemoteBounds(t suite, cs []conduit.Conduit) {
	a, b, r := remotes(t, cs)
	mem := make([]byte, 100)
	k := expose(t, b, mem)
	unknown := conduit.Key{ID: k.ID + 12345, Base: k.Base, Size: k.Size}
	for _, get := range ways(r) {
		for _, x := range []struct {
			k conduit.Key
			o int64
		}{{k, 93}, {k, 100}, {k, -1}, {k, 1 << 62}, {unknown, 0}, {conduit.Key{Size: 100}, 0}} {
			local := []byte("not to be seen"[:8])
			if err := access(t, cs, get, local, x.k, x.o); !errors.Is(err, conduit.ErrKey) {
				t.Errorf("get %v at %d under %+v: %v", get, x.o, x.k, err)
			}
			if !bytes.Equal(mem, make([]byte, 100)) || string(local) != "not to b" {
				t.Fatalf("get %v at %d under %+v has moved bytes", get, x.o, x.k)
			}
		}
		for _, peer := range []int{-1, 2, 1 << 40} {
			if n := a.Get(peer, mem, k, 0, &ending{t: t}); n != -1 || a.Reach(peer) != (conduit.Reach{}) {
				t.Errorf("get from rank %d: %d", peer, n)
			}
			if n := a.Put(peer, mem, k, 0, &ending{t: t}); n != -1 {
				t.Errorf("put to rank %d: %d", peer, n)
			}
			if _, st := a.Expose(peer, mem); st != conduit.Dead {
				t.Errorf("exposing to rank %d: %v", peer, st)
			}
		}
	}
	if n := start(cs[0], ways(r)[0], nil, k, 0, &ending{t: t}); n != 0 {
		t.Errorf("an access to nothing: %d", n)
	}
	for _, k := range []conduit.Key{unknown, {}} {
		if err := b.Release(0, k); !errors.Is(err, conduit.ErrKey) {
			t.Errorf("release of %+v: %v", k, err)
		}
	}
}

// testRemoteRelease: memory that is released while a peer has operations on it is left alone, where the conduit
// promises that, and they end with ErrKey.
func testRemoteRelease(t suite, cs []conduit.Conduit) {
	_, b, r := remotes(t, cs)
	if !r.Firm {
		t.Skip("this conduit cannot take memory away")
	}
	for _, get := range ways(r) {
		mem, local := make([]byte, 4<<20), bytes.Repeat([]byte{1}, 4<<20)
		k := expose(t, b, mem)
		x := &ending{t: t}
		n := start(cs[0], get, local, k, 0, x)
		cs[0].Poll(1, &sink{t: t}) // perhaps a piece
		if err := b.Release(0, k); err != nil {
			t.Fatal(err)
		}
		after := bytes.Clone(mem)
		for w := newWaiter(t, "the end"); x.n < n; {
			if pollAll(t, cs) == 0 {
				w.pause()
			}
		}
		if x.err != nil && !errors.Is(x.err, conduit.ErrKey) || x.calls != 1 || !bytes.Equal(mem, after) {
			t.Errorf("get %v: %d completions, %v; memory has changed: %v", get, x.calls, x.err, !bytes.Equal(mem, after))
		}
		if err := access(t, cs, get, local[:8], k, 0); !errors.Is(err, conduit.ErrKey) {
			t.Errorf("get %v under a key that is released: %v", get, err)
		}
		if err := b.Release(0, k); !errors.Is(err, conduit.ErrKey) {
			t.Errorf("second release: %v", err)
		}
	}
}

// testRemoteMany starts as many as there is room for, each of other bytes. All end once, in whatever order.
func testRemoteMany(t suite, cs []conduit.Conduit) {
	_, b, r := remotes(t, cs)
	const most, size = 200, 5000
	for _, get := range ways(r) {
		mem := make([]byte, most*size)
		if get {
			fill(mem, 7)
		}
		k := expose(t, b, mem)
		var ends [most]ending
		local := make([]byte, most*size)
		if !get {
			fill(local, 7)
		}
		refused := 0
		w := newWaiter(t, "accesses")
		for left := most - 1; left >= 0; {
			x := &ends[left]
			x.t = t
			at := left*size + x.n
			switch n := start(cs[0], get, local[at:(left+1)*size], k, int64(at), x); {
			case n < 0:
				t.Fatal(cs[0].Failed(1))
			case n == 0:
				refused++
				if pollAll(t, cs) == 0 {
					w.pause()
				}
			case at+n == (left+1)*size:
				left--
			default:
				t.Fatalf("%d bytes of %d were taken", n, size)
			}
		}
		for cs[0].Pending() || completions(ends[:]) < most {
			if pollAll(t, cs) == 0 {
				w.pause()
			}
		}
		for i := range ends {
			if ends[i].calls != 1 || ends[i].n != size || ends[i].err != nil {
				t.Fatalf("get %v: access %d: %d completions of %d bytes, %v", get, i, ends[i].calls, ends[i].n, ends[i].err)
			}
		}
		if !bytes.Equal(mem, local) {
			t.Errorf("get %v: other bytes", get)
		}
		if err := b.Release(0, k); err != nil {
			t.Error(err)
		}
		t.Logf("get %v: refused %d times", get, refused)
	}
}

func completions(ends []ending) (n int) {
	for i := range ends {
		n += ends[i].calls
	}
	return n
}

// testRemoteSleeper: an access that another goroutine starts, or that ends, wakes whoever sleeps in the conduit.
func testRemoteSleeper(t suite, cs []conduit.Conduit) {
	_, b, r := remotes(t, cs)
	get := ways(r)[0]
	k := expose(t, b, make([]byte, 100))
	stop := watchdog(newWaiter(t, "an access to be ended by a sleeper"))
	defer stop()
	defer pollBeside(cs[1], &sink{t: t})() // the target may have to help
	for range t.rounds(200) {
		x := &ending{t: t}
		armed, began := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(began)
			<-armed
			if n := start(cs[0], get, make([]byte, 100), k, 0, x); n != 100 {
				t.Errorf("%d bytes were taken", n)
			}
		}()
		asked := onceAsked(func() { close(armed) })
		for x.n == 0 {
			if cs[0].Poll(4, &sink{t: t}) <= 0 {
				cs[0].Sleep(long, asked)
			}
		}
		<-began
	}
}

// startLarge starts an operation of 8 MiB on the memory of rank 1, and tells how much was taken. again tries the same
// once more.
func startLarge(t suite, cs []conduit.Conduit) (x *ending, n int, again func() int) {
	_, b, r := remotes(t, cs)
	k, local := expose(t, b, make([]byte, 8<<20)), make([]byte, 8<<20)
	x = &ending{t: t}
	again = func() int { return start(cs[0], ways(r)[0], local, k, 0, x) }
	n = again()
	cs[0].Poll(1, &sink{t: t})
	return x, n, again
}

// testRemoteClose: operations end when their conduit closes, with ErrClosed unless they have been made, and each once.
func testRemoteClose(t suite, cs []conduit.Conduit) {
	x, n, again := startLarge(t, cs)
	checkClose(t, cs[0])
	if x.n != n || x.calls != 1 || x.err != nil && !errors.Is(x.err, conduit.ErrClosed) {
		t.Errorf("%d bytes were taken; %d completions of %d, %v", n, x.calls, x.n, x.err)
	}
	if n := again(); n != -1 {
		t.Errorf("after Close %d bytes were taken", n)
	}
}

// testRemotePeerGone: operations on the memory of a peer that closes end with its failure, or have been made.
func testRemotePeerGone(t suite, cs []conduit.Conduit) {
	x, n, again := startLarge(t, cs)
	checkClose(t, cs[1])
	open := func() bool { return x.n < n || cs[0].Failed(1) == nil }
	pollWhile(t, cs[0], &sink{t: t}, 4, open, "news of the closed peer")
	if x.calls != 1 || x.err != nil && !errors.Is(x.err, conduit.ErrPeerClosed) && !errors.Is(x.err, conduit.ErrKey) {
		t.Errorf("%d completions, %v", x.calls, x.err)
	}
	if n := again(); n != -1 {
		t.Errorf("after its end %d bytes were taken", n)
	}
}
