package trace

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// Config of a recorder.
type Config struct {
	Path       string // of the part file, which is made
	Rank, Size int
	Host       string      // name of the machine, for people
	Limit      int64       // bytes of the part file; what goes beyond it is dropped. 0: 256 MiB
	Memory     int64       // bytes of records that wait to be written; 0: 16 MiB
	Tell       func(error) // is told of the first error of the file, after which all records are dropped; may be nil
}

const (
	defaultLimit  = 256 << 20
	defaultMemory = 16 << 20
)

// Recorder makes the timeline of one rank. Its methods may be called from any goroutine; a nil one does nothing.
type Recorder struct {
	// Fixed.
	clock Clock
	most  int // chunks in memory
	tell  func(error)
	news  chan struct{} // has a chunk been filled?
	stop  chan struct{}
	ended chan struct{}
	once  sync.Once

	full atomic.Bool // nothing is taken any more: the file has its greatest length or an error, or is closed
	lack atomic.Bool // there was no chunk; cleared when one is free again

	mu     sync.Mutex
	names  []Label // names[0] is none; guarded by mu, as what follows
	known  map[Label]Name
	tracks []*Track
	filled []*chunk
	free   []*chunk
	made   int    // chunks
	notes  []note // to be written

	out output // owned by the goroutine of runRecorder
}

// New begins the part file. Close ends it.
func New(cfg Config) (*Recorder, error) {
	r, err := beginRecording(cfg)
	if err != nil {
		return nil, err
	}
	go r.runRecorder()
	return r, nil
}

// beginRecording is New without the goroutine that writes.
func beginRecording(cfg Config) (*Recorder, error) {
	if cfg.Limit <= 0 {
		cfg.Limit = defaultLimit
	}
	if cfg.Memory <= 0 {
		cfg.Memory = defaultMemory
	}
	f, err := os.Create(cfg.Path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	r := &Recorder{
		clock: NewClock(), most: max(2, int(cfg.Memory/(chunkRecords*recordBytes))),
		tell: cfg.Tell, news: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{}),
		names: make([]Label, 1), known: map[Label]Name{},
	}
	r.out = output{r: r, file: f, limit: cfg.Limit, head: header{
		Version: partVersion, Rank: cfg.Rank, Size: cfg.Size, Host: cfg.Host, Machine: MachineID(),
		Ticks: r.clock.ticks,
	}}
	r.out.beginOutput()
	return r, nil
}

// Now is the time for records.
func (r *Recorder) Now() uint64 {
	if r == nil {
		return 0
	}
	return r.clock.Now()
}

// Clock is the recorder's clock. r must not be nil.
func (r *Recorder) Clock() Clock { return r.clock }

// maxText is the longest text of a label or a track in bytes: those of a label fit a block, also as JSON with each byte
// escaped.
const maxText = 1 << 12

// briefText is the beginning of s, without a part of a character at its end.
func briefText(s string) string {
	if len(s) <= maxText {
		return s
	}
	n := maxText
	for n > maxText-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Name gives the number of a label, the same for the same label. Texts that are too long are cut.
func (r *Recorder) Name(l Label) Name {
	if r == nil {
		return 0
	}
	l.Text, l.Category = briefText(l.Text), briefText(l.Category)
	for i, a := range l.Args {
		l.Args[i] = briefText(a)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n, ok := r.known[l]
	if !ok {
		n = Name(len(r.names))
		r.names, r.known[l] = append(r.names, l), n
	}
	return n
}

// Track makes a track. Tracks are shown in the order in which they were made.
func (r *Recorder) Track(name string) *Track {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	l := &Track{r: r, id: uint32(len(r.tracks)), name: briefText(name)}
	r.tracks = append(r.tracks, l)
	return l
}

// Close writes what has been recorded and ends the file. Later records are dropped. It waits for the file.
func (r *Recorder) Close() {
	if r == nil {
		return
	}
	r.once.Do(func() { close(r.stop) })
	<-r.ended
}

// exchangeChunk takes a chunk of track l that is full, if not nil, and gives an empty one, nil if there is none.
func (r *Recorder) exchangeChunk(l *Track, old *chunk) *chunk {
	if old == nil && (r.full.Load() || r.lack.Load()) {
		return nil
	}
	r.mu.Lock()
	if old != nil {
		r.filled = append(r.filled, old)
	}
	c := r.emptyChunk()
	if c != nil {
		c.track, c.written = l, 0
		c.n.Store(0)
	}
	r.mu.Unlock()
	select {
	case r.news <- struct{}{}:
	default:
	}
	return c
}

// emptyChunk is called with mu held.
func (r *Recorder) emptyChunk() *chunk {
	if r.full.Load() {
		return nil
	}
	if n := len(r.free); n > 0 {
		c := r.free[n-1]
		r.free = r.free[:n-1]
		return c
	}
	if r.made == r.most {
		r.lack.Store(true)
		return nil
	}
	r.made++
	return new(chunk)
}
