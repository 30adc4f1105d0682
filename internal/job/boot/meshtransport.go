package boot

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"sync"

	"github.com/golci/golci/internal/job/boot/gather"
	"github.com/golci/golci/internal/job/boot/mesh"
)

// A message of a gathering is
//
//	round (1) | first rank (4, little endian) | number of values (4) | values, each behind its length (uvarint)
const postFront = 1 + 4 + 4

// postFill is from how many bytes of values on a message is sent, and postMost the longest message.
const (
	postFill = 64 << 10
	postMost = postFront + postFill + maxValue + binary.MaxVarintLen32
)

// errPost is wrapped by complaints about messages of a gathering.
var errPost = errors.New("golci: malformed message")

// meshTransport is the transport of a job of processes: a mesh of connections that is there for one gathering.
type meshTransport struct {
	rank   int
	node   *mesh.Node
	values [][]byte // by rank; one is set before a piece with it is delivered, and not changed then
	read   parcel   // that next has returned last

	ctx      context.Context // of the sends
	stop     context.CancelFunc
	sends    sync.WaitGroup
	failed   chan error       // the first failure of a send
	messages chan peerMessage // from the goroutines of the mesh
	over     chan struct{}    // closed by close
	lost     <-chan struct{}  // closed when the launcher is lost
}

// parcel is a piece and its values, in the memory of a message.
type parcel struct {
	gather.Piece
	values [][]byte
}

// peerMessage is a message of another rank.
type peerMessage struct {
	from int
	b    []byte
}

// openPost publishes where this rank is found under key. Every rank of the job calls it.
func openPost(ctx context.Context, j *Job, key string, mine []byte) (*meshTransport, error) {
	c := &meshTransport{
		rank: j.Rank, values: make([][]byte, j.Size), failed: make(chan error, 1), messages: make(chan peerMessage),
		over: make(chan struct{}), lost: j.lostServer(),
	}
	c.values[j.Rank] = mine
	c.ctx, c.stop = context.WithCancel(ctx)
	var table *Table[[]netip.AddrPort] // set before the first send
	var err error
	c.node, err = mesh.Listen(mesh.Config{
		Rank: j.Rank, Size: j.Size, Key: postKey(j.Key, key), Take: c.takePiece, Most: postMost,
		Where: func(ctx context.Context, rank int) ([]netip.AddrPort, error) { return table.entryOf(ctx, rank) },
	})
	if err != nil {
		c.stop()
		return nil, err
	}
	if table, err = Exchange(ctx, j, key, c.node.Addrs(), mesh.CheckAddrs); err != nil {
		c.closePost()
		return nil, err
	}
	return c, nil
}

// postKey is the secret of one gathering. So no other mesh of the job takes its calls.
func postKey(key []byte, name string) []byte {
	h := hmac.New(sha256.New, key)
	fmt.Fprintf(h, "golci gathering %s", name)
	return h.Sum(nil)
}

// takePiece is called by the mesh. The sender waits meanwhile.
func (c *meshTransport) takePiece(from int, b []byte) {
	select {
	case c.messages <- peerMessage{from, append([]byte(nil), b...)}:
	case <-c.over:
	}
}

func (c *meshTransport) deliverSend(s gather.Send) {
	c.sends.Go(func() {
		if err := c.sendPiece(s); err != nil {
			select {
			case c.failed <- err:
			default:
			}
		}
	})
}

// sendPiece sends a piece in messages, one after the other.
func (c *meshTransport) sendPiece(s gather.Send) error {
	for s.Count > 0 {
		b, n := c.fillMessage(s.Piece)
		if err := c.node.Send(c.ctx, s.To, b); err != nil {
			return err
		}
		s.First, s.Count = (s.First+n)%len(c.values), s.Count-n
	}
	return nil
}

// fillMessage makes a message of the first n values of a piece.
func (c *meshTransport) fillMessage(p gather.Piece) (b []byte, n int) {
	b = make([]byte, postFront, postFront+postFill)
	for n < p.Count && len(b) < postFront+postFill {
		v := c.values[(p.First+n)%len(c.values)]
		b = append(binary.AppendUvarint(b, uint64(len(v))), v...)
		n++
	}
	b[0] = byte(p.Round)
	binary.LittleEndian.PutUint32(b[1:], uint32(p.First))
	binary.LittleEndian.PutUint32(b[5:], uint32(n))
	return b, n
}

func (c *meshTransport) nextPiece(ctx context.Context) (from int, p gather.Piece, err error) {
	select {
	case l := <-c.messages:
		if c.read, err = readParcel(l.b, len(c.values)); err != nil {
			err = fmt.Errorf("rank %d: %w", l.from, err)
		}
		return l.from, c.read.Piece, err
	case err := <-c.failed:
		return 0, p, err
	case <-c.lost:
		return 0, p, ErrLost
	case <-ctx.Done():
		return 0, p, ctx.Err()
	}
}

func (c *meshTransport) keepPost() {
	for i, v := range c.read.values {
		c.values[(c.read.First+i)%len(c.values)] = v
	}
	c.read = parcel{}
}

// readParcel reads a message in a job of so many ranks.
func readParcel(b []byte, ranks int) (p parcel, err error) {
	if len(b) < postFront {
		return p, fmt.Errorf("%w: %d bytes", errPost, len(b))
	}
	p.Round, p.First = int(b[0]), int(binary.LittleEndian.Uint32(b[1:]))
	p.Count = int(binary.LittleEndian.Uint32(b[5:]))
	if p.First >= ranks || p.Count > ranks {
		return p, fmt.Errorf("%w: %d values from rank %d on, in a job of %d", errPost, p.Count, p.First, ranks)
	}
	b = b[postFront:]
	for i := range p.Count {
		n, k := binary.Uvarint(b)
		if k <= 0 || n > maxValue || n > uint64(len(b)-k) {
			return p, fmt.Errorf("%w: it ends within value %d of %d", errPost, i, p.Count)
		}
		p.values = append(p.values, b[k:k+int(n):k+int(n)])
		b = b[k+int(n):]
	}
	if len(b) > 0 {
		return p, fmt.Errorf("%w: %d bytes behind %d values", errPost, len(b), p.Count)
	}
	return p, nil
}

func (c *meshTransport) delivered(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		c.sends.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		c.stop()
		<-done
	}
	select {
	case err := <-c.failed:
		return err
	default:
		return nil
	}
}

func (c *meshTransport) allValues() [][]byte { return c.values }

// closePost ends sends that are under way, and waits for all goroutines.
func (c *meshTransport) closePost() {
	c.stop()
	close(c.over)
	_ = c.node.Close() // nothing is left to be done about an error
	c.sends.Wait()
}
