//go:build pmix && linux && (amd64 || arm64)

package pmix

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/internal/platform/dl"
)

// Client is this process's membership of a PMIx namespace, its job. A process has one at most. The methods are safe for
// concurrent use. One that waits keeps the others waiting, but not Abort. Each ends with its context at the latest. If
// a call of the library has not returned by then, all later ones but Abort fail with ErrStuck.
type Client struct {
	Namespace string
	Rank      int
	Size      int    // ranks in the namespace
	Version   string // of the library, in its own words

	lib   *library
	me    proc
	watch *watch // nil if the server's connection is not known

	turn  chan struct{} // holds one token; who takes it may call the library
	done  atomic.Bool   // Finalize or Abort has been called
	dead  chan struct{} // closed by Abort
	stuck chan struct{} // closed when a call has not returned in time
	once  sync.Once     // of stuck
}

// Init opens the library, connects to the server that the environment names, and asks it for the job's size. env is
// used to find the server's address and to check the answers; the library reads the process's own environment. Init
// blocks the calling goroutine until the server answers, until ctx ends at the latest.
func Init(ctx context.Context, env func(name string) (string, bool)) (*Client, error) {
	c := newClient()
	if err := c.doCall(ctx, "PMIx_Init", c.startLibrary); err != nil {
		return nil, err
	}
	if err := c.checkMembership(env); err != nil {
		return nil, err
	}
	c.watch = watchServer(env)
	v, err := c.getValue(ctx, rankWildcard, keyJobSize, 0)
	if err == nil && (v.kind != typeUint32 || v.number <= uint32(c.Rank)) {
		err = fmt.Errorf("%w: %s of type %d is %d, which does not fit rank %d", ErrServer, keyJobSize, v.kind, v.number,
			c.Rank)
	}
	if err != nil {
		c.Unwatch()
		return nil, err
	}
	c.Size = int(v.number)
	return c, nil
}

func newClient() *Client {
	c := &Client{turn: make(chan struct{}, 1), dead: make(chan struct{}), stuck: make(chan struct{})}
	c.turn <- struct{}{}
	return c
}

// startLibrary opens and initializes the library. Its threads may replace handlers of signals.
func (c *Client) startLibrary() error {
	lib, err := openLibrary()
	if err != nil {
		return err
	}
	c.lib, c.Version = lib, goString(callFunction(lib.version, nil))
	p := onHeap[proc]()
	dl.KeepHandlers(func() {
		err = lib.callStatus(lib.init, "PMIx_Init", p, uintptr(unsafe.Pointer(p)), 0, 0)
	})
	c.me = *p
	return err
}

// checkMembership checks that the library has joined the job of the environment. Without a server some versions make a
// job of one rank, and report no error.
func (c *Client) checkMembership(env func(name string) (string, bool)) error {
	c.Namespace, c.Rank = cText(c.me.namespace[:]), int(c.me.rank)
	space, _ := env("PMIX_NAMESPACE")
	rank, _ := env("PMIX_RANK")
	if c.Namespace != space || fmt.Sprint(c.Rank) != rank {
		return fmt.Errorf("%w: PMIx_Init has made this process rank %d of %q, but PMIX_RANK=%q, PMIX_NAMESPACE=%q",
			ErrServer, c.Rank, c.Namespace, rank, space)
	}
	return nil
}

// Lost is closed when the server's connection has ended without Finalize. It is nil if the connection could not be
// found; calls then fail by themselves.
func (c *Client) Lost() <-chan struct{} {
	if c.watch == nil {
		return nil
	}
	return c.watch.lost
}

// doCall runs f, which calls the library, in a goroutine of its own, when no other call is under way. It waits for f
// until ctx ends, the server has gone, or Abort is called. f must then write only what nobody reads any more.
func (c *Client) doCall(ctx context.Context, what string, f func() error) error {
	select {
	case <-c.turn:
	case <-ctx.Done():
		return fmt.Errorf("pmix: %s: waits for another call: %w", what, ctx.Err())
	case <-c.dead:
		return ErrAborted
	case <-c.stuck:
		return fmt.Errorf("pmix: %s: %w", what, ErrStuck)
	}
	select {
	case <-c.stuck: // and has returned since, too late
		c.turn <- struct{}{}
		return fmt.Errorf("pmix: %s: %w", what, ErrStuck)
	default:
	}
	ended := make(chan error, 1)
	go func() {
		defer func() { c.turn <- struct{}{} }()
		ended <- f()
	}()
	return c.awaitEnd(ctx, what, ended)
}

func (c *Client) awaitEnd(ctx context.Context, what string, ended <-chan error) error {
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		c.once.Do(func() { close(c.stuck) })
		return fmt.Errorf("pmix: %s has not returned: %w", what, ctx.Err())
	case <-c.Lost():
		return fmt.Errorf("pmix: %s: %w", what, ErrLost)
	case <-c.dead:
		return fmt.Errorf("pmix: %s: %w", what, ErrAborted)
	}
}

// doAsMember is doCall for calls that a membership must be there for.
func (c *Client) doAsMember(ctx context.Context, what string, f func() error) error {
	if c.done.Load() {
		return c.endedWhy()
	}
	return c.doCall(ctx, what, f)
}

// endedWhy tells how the membership has ended. An Abort that has only begun counts as an end in order.
func (c *Client) endedWhy() error {
	select {
	case <-c.dead:
		return ErrAborted
	default:
		return ErrDone
	}
}

// putArgs is what Put shows to C.
type putArgs struct {
	key   [maxKey + 1]byte
	value value
	bytes []byte
}

// Put gives the library a value under key for ranks of all nodes, who may see it after the next Fence. It blocks the
// calling goroutine for microseconds, until ctx ends at the latest. A key has at most 511 bytes.
func (c *Client) Put(ctx context.Context, key string, bytes []byte) error {
	if len(key) > maxKey {
		return fmt.Errorf("pmix: a key of %d bytes, at most %d", len(key), maxKey)
	}
	a := onHeap[putArgs]()
	copy(a.key[:], key)
	a.bytes = append(make([]byte, 0, len(bytes)+1), bytes...) // the library takes no empty object at address 0
	a.value = value{
		kind: typeByteObject, data: uintptr(unsafe.Pointer(unsafe.SliceData(a.bytes))),
		size: uintptr(len(bytes)),
	}
	return c.doAsMember(ctx, "PMIx_Put", func() error {
		return c.lib.callStatus(c.lib.put, "PMIx_Put", a, scopeGlobal, uintptr(unsafe.Pointer(&a.key)),
			uintptr(unsafe.Pointer(&a.value)))
	})
}

// Fence sends what has been put to the server, waits until all ranks of the namespace have called it, and brings their
// values here. It blocks the calling goroutine, until ctx ends at the latest.
func (c *Client) Fence(ctx context.Context) error {
	err := c.doAsMember(ctx, "PMIx_Commit", func() error { return c.lib.callStatus(c.lib.commit, "PMIx_Commit", nil) })
	if err != nil {
		return err
	}
	collect := onHeap[info]()
	collect.setFlag(keyCollect)
	return c.doAsMember(ctx, "PMIx_Fence", func() error { // no list of ranks: all of the namespace
		return c.lib.callStatus(c.lib.fence, "PMIx_Fence", collect, 0, 0, uintptr(unsafe.Pointer(collect)), 1)
	})
}

// Get returns what rank has put under key before the last Fence, at most limit bytes. The error wraps ErrNoKey if it
// has put nothing there. It blocks the calling goroutine, until ctx ends at the latest.
func (c *Client) Get(ctx context.Context, rank int, key string, limit int) ([]byte, error) {
	v, err := c.getValue(ctx, uint32(rank), key, limit)
	if err == nil && v.kind != typeByteObject {
		err = fmt.Errorf("%w: %q of rank %d has type %d", ErrServer, key, rank, v.kind)
	}
	return v.bytes, err
}

// Peers returns the ranks of this node, ascending. The error wraps ErrNoKey if the server does not tell them. It blocks
// as Get does.
func (c *Client) Peers(ctx context.Context) ([]int, error) {
	v, err := c.getValue(ctx, rankWildcard, keyPeers, mostText)
	if err == nil && v.kind != typeString {
		err = fmt.Errorf("%w: %s has type %d", ErrServer, keyPeers, v.kind)
	}
	if err != nil {
		return nil, err
	}
	return parsePeers(string(v.bytes), c.Size)
}

// Abort asks the server to end all ranks of the namespace, with exit code code and the reason msg. It does not wait for
// other calls, which end with ErrAborted. It blocks the calling goroutine until the server answers, until ctx ends at
// the latest. Most servers kill this process before.
func (c *Client) Abort(ctx context.Context, code int, msg string) error {
	if c.done.Swap(true) {
		return c.endedWhy()
	}
	text := append(make([]byte, 0, len(msg)+1), msg...)
	text = append(text, 0)
	ended := make(chan error, 1)
	go func() {
		ended <- c.lib.callStatus(c.lib.abort, "PMIx_Abort", text, uintptr(code), uintptr(unsafe.Pointer(&text[0])), 0, 0)
	}()
	close(c.dead)
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return fmt.Errorf("pmix: PMIx_Abort has not returned: %w", ctx.Err())
	}
}

// Finalize ends the membership in order. It waits for no other rank. It blocks the calling goroutine until the server
// answers, until ctx ends at the latest. After the first call it does nothing.
func (c *Client) Finalize(ctx context.Context) error {
	if c.done.Swap(true) {
		return nil
	}
	c.Unwatch() // the library closes the connection
	err := c.doCall(ctx, "PMIx_Finalize", func() error {
		return c.lib.callStatus(c.lib.finalize, "PMIx_Finalize", nil, 0, 0)
	})
	if errors.Is(err, ErrLost) {
		return nil // nobody is left who would take this exit for a failure
	}
	return err
}

// Unwatch stops the watch over the server's connection, so that Lost is not closed any more.
func (c *Client) Unwatch() {
	if c.watch != nil {
		c.watch.stopWatch()
	}
}
