//go:build unix

package far

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/cmd/golci/internal/launch"
	"github.com/golci/golci/internal/platform/topology"
)

// helper is the side of one machine. It starts the ranks there, and passes messages and output between them and the
// head. The goroutine of HelperMain owns it, except where a field says otherwise.
type helper struct {
	link   *link
	guard  *launch.Guard
	name   string     // of the machine
	dir    string     // of the copies of programs; "" if there is none
	copies []*os.File // by number - 1; the last one is open while it is being written
	parts  taskParts
	trace  string // directory of what the ranks record; "": nothing. Set before any rank starts

	mu         sync.Mutex
	localRanks *launch.LocalRanks // nil before the task; guarded by mu where set, and where another goroutine reads
	lines      []*rankPMI         // by rank - first; guarded by mu

	acks  []chan struct{} // by rank - first, and stream: a piece of output has been taken; set before any rank starts
	given *os.File        // the standard input of rank 0 itself; nil: it comes from the head
	input *os.File        // to the standard input of rank 0, if that is here; set before any rank starts
	in    chan []byte     // pieces for it
	wg    sync.WaitGroup
}

// inputFD is the first descriptor after the standard ones.
const inputFD = 3

// Input is what a helper with the flag helperInput inherits as the standard input of rank 0. No process that is started
// from now on inherits it by itself.
func Input() *os.File {
	unix.CloseOnExec(inputFD)
	return os.NewFile(inputFD, "standard input of rank 0")
}

// HelperMain runs the ranks of one machine for the head, the process of golci run that leads the job. It reads a
// joinTicket from in: where to call the head, and the key. input is the standard input of rank 0; with nil the head
// sends it over the connection. HelperMain returns nil when the head has ended the job. It returns an error when the
// head is lost, which the end of in or of the connection shows. Before it returns, it kills the ranks that are left.
// guard kills them if this process is killed. Call it on the main goroutine. It locks the OS thread, because the
// kernel kills the ranks when that thread ends.
func HelperMain(in io.Reader, input *os.File, guard *launch.Guard) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	lines := bufio.NewReader(in)
	t, err := readTicket(lines)
	if err != nil {
		return err
	}
	t.Addrs = append(t.Addrs, callBack(os.Getenv("SSH_CONNECTION"), t.Addrs)...)
	conn, err := callHead(context.Background(), t)
	if err != nil {
		return fmt.Errorf("host %s: %w", t.Name, err)
	}
	h := &helper{link: newLink(conn, t.Silence), guard: guard, given: input, name: t.Name, in: make(chan []byte, 1)}
	defer h.endHelper()
	h.link.sendFrame(frameHello, 0, encodeJSON(greeting{Protocol: protocol, Cores: coreCount(), PID: os.Getpid()}))
	go func() { // it waits for input to the end of the process
		_, _ = io.Copy(io.Discard, lines)
		h.link.failLink(errHead)
	}()
	orders := make(chan frame)
	h.wg.Go(func() {
		_ = h.link.readFrames(func(f frame) error { return h.passFrame(f, orders) })
	})
	return h.serveOrders(orders)
}

var errHead = errors.New("the head has gone")

var errBye = errors.New("farewell")

func readTicket(r *bufio.Reader) (*joinTicket, error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return nil, fmt.Errorf("no ticket: golci %s is only started by golci run -hosts: %w", helperCommand, err)
	}
	var t joinTicket
	if err := json.Unmarshal(line, &t); err != nil {
		return nil, fmt.Errorf("ticket: %w", err)
	}
	if t.Protocol != protocol {
		return nil, fmt.Errorf("host %s: the golci there speaks version %d of the launching protocol, the head %d", t.Name, protocol, t.Protocol)
	}
	return &t, nil
}

// coreCount is how many ranks this machine takes if nobody says.
func coreCount() int { return cmp.Or(len(topology.Read().Cores()), runtime.NumCPU()) }

// serveOrders does the work of the thread with which the ranks end, until the link ends.
func (h *helper) serveOrders(orders <-chan frame) error {
	for {
		select {
		case f := <-orders:
			if err := h.obey(f); err != nil {
				h.link.sendFrame(frameFailed, 0, []byte(err.Error()))
			}
		case <-h.link.gone:
			err := h.link.reason()
			switch {
			case errors.Is(err, errBye):
				return nil
			case errors.Is(err, io.EOF):
				err = errHead
			}
			return fmt.Errorf("host %s: %w", h.name, err)
		}
	}
}

func (h *helper) obey(f frame) error {
	switch f.kind {
	case frameFile:
		return h.writeCopy(f.num, f.data)
	case frameSignal:
		h.kill(unix.SignalNum(string(f.data)))
		return nil
	}
	t, err := h.parts.addPiece(f.num == 1, f.data)
	if err != nil || t == nil {
		return err
	}
	return h.startTask(t)
}

// passFrame takes one frame from the head, on the link's reading goroutine. It does not wait for ranks.
func (h *helper) passFrame(f frame, orders chan<- frame) error {
	switch f.kind {
	case frameFile, frameStart, frameSignal:
		select {
		case orders <- f:
		case <-h.link.gone:
		}
	case framePMI:
		if r := h.findRank(f.num); r != nil {
			r.hearPMI(f.data)
		}
	case framePMIEnd:
		if r := h.findRank(f.num); r != nil {
			r.conn.Close()
		}
	case frameOutOK:
		h.acknowledge(f)
	case frameIn:
		signal(h.in, f.data)
	case frameBye:
		return errBye
	default:
		return fmt.Errorf("%w: kind %d", errFrame, f.kind)
	}
	return nil
}

// writeCopy writes a piece of the copy with that number. Copies come one after the other.
func (h *helper) writeCopy(number int, b []byte) error {
	if number == len(h.copies)+1 && number <= maxCopies {
		if err := errors.Join(h.finishCopies(), h.placeCopy(number)); err != nil {
			return err
		}
	}
	if number < 1 || number != len(h.copies) {
		return errFrame
	}
	if _, err := h.copies[number-1].Write(b); err != nil {
		return err
	}
	h.link.sendFrame(frameFileOK, 0, nil)
	return nil
}

// placeCopy makes the file of a copy, in a directory of its own.
func (h *helper) placeCopy(number int) error {
	if h.dir == "" {
		dir := filepath.Join(os.TempDir(), "golci-copy-"+randomName())
		h.guard.AddDir(dir) // before it is there, so that it cannot stay
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		h.dir = dir
	}
	dir := filepath.Join(h.dir, strconv.Itoa(number))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, "copy"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err == nil {
		h.copies = append(h.copies, f)
	}
	return err
}

// finishCopies closes the last copy: all of it has come.
func (h *helper) finishCopies() error {
	if n := len(h.copies); n > 0 {
		return h.copies[n-1].Close()
	}
	return nil
}

// program gives the copy of a command its name, and returns its path.
func (h *helper) program(c *command) (string, error) {
	if c.Copy < 1 || c.Copy > len(h.copies) {
		return "", errors.New("no copy of the program has come")
	}
	from := h.copies[c.Copy-1].Name()
	path := filepath.Join(filepath.Dir(from), filepath.Base(c.Base))
	err := os.Rename(from, path)
	if errors.Is(err, os.ErrNotExist) { // another command has the same program
		_, err = os.Stat(path)
	}
	return path, err
}

func (h *helper) endHelper() {
	h.link.failLink(errHead)
	h.kill(unix.SIGKILL)
	if h.input != nil {
		h.input.Close()
	}
	if h.localRanks != nil {
		h.localRanks.Wait()
	}
	h.wg.Wait()
	h.link.closeLink()
	_ = h.finishCopies() // it is no error here that they are closed
	for _, dir := range []string{h.dir, h.trace} {
		if dir != "" {
			os.RemoveAll(dir)
		}
	}
}

// Detail tells the head of a step, for -v.
func (h *helper) Detail(format string, args ...any) {
	h.link.sendFrame(frameNote, 0, fmt.Appendf(nil, format, args...))
}

// findRank finds the PMI connection of a rank, nil if it is not here.
func (h *helper) findRank(rank int) *rankPMI {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.localRanks == nil || rank < h.localRanks.First || rank-h.localRanks.First >= len(h.lines) {
		return nil
	}
	return h.lines[rank-h.localRanks.First]
}

// rankPMI is the near end of a rank's PMI socket.
type rankPMI struct {
	conn    net.Conn
	drained chan struct{} // closed when all that the rank has said has been passed on
}
