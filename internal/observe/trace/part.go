package trace

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// A part file is a mark and then blocks. Each block is
//
//	kind (4, little endian) | track or other number (4) | bytes that follow (8) | those bytes
//
// A rank that dies leaves the blocks that it has written, perhaps with half a block at the end.
const (
	partMark    = "golci timeline part\n"
	partVersion = 1
	blockFront  = 16
	maxBlock    = 1 << 20 // bytes; a longer one is none
)

type block uint32

const (
	blockHead    block = 1 + iota // JSON of header
	blockZero                     // JSON of a number: the clock of rank 0's machine at time 0
	blockTrack                    // track; its name
	blockName                     // number; JSON of Label
	blockNote                     // JSON of note
	blockRecords                  // track; records
	blockDropped                  // track; JSON of a number
	blockEnd                      // the rank has ended its timeline in order
)

// header is the first block.
type header struct {
	Version int    `json:"version"`
	Rank    int    `json:"rank"`
	Size    int    `json:"size"`
	Host    string `json:"host"`
	Machine string `json:"machine"` // MachineID
	Ticks   bool   `json:"ticks"`   // times are ticks, else nanoseconds since some moment
}

// part is a part file that is being read.
type part struct {
	header
	path    string
	file    *os.File
	zero    *int64
	tracks  map[uint32]string
	names   map[Name]Label
	notes   []note
	dropped uint64
	records uint64
	ended   bool  // in order
	length  int64 // up to the end of the last whole block
	size    int64 // of the file
}

// errPart means that a file is no part, or of another version.
var errPart = errors.New("no part of a timeline")

// openPart reads all of a part but its records, which it counts. It leaves no file open: a job has many ranks.
func openPart(path string) (*part, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p := &part{path: path, file: f, tracks: map[uint32]string{}, names: map[Name]Label{}}
	if err := p.scanPart(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

func (p *part) scanPart() error {
	mark := make([]byte, len(partMark))
	if _, err := io.ReadFull(p.file, mark); err != nil || string(mark) != partMark {
		return errPart
	}
	st, err := p.file.Stat()
	if err != nil {
		return err
	}
	p.length, p.size = int64(len(partMark)), st.Size()
	for {
		k, number, n, ok := p.readFront()
		if !ok {
			break
		}
		if k == blockRecords {
			p.records += uint64(n / recordBytes)
		} else if !p.readBlock(k, number, n) {
			break
		}
		p.length += blockFront + n
	}
	if p.Version != partVersion {
		return fmt.Errorf("%w: version %d, this golci reads %d", errPart, p.Version, partVersion)
	}
	return nil
}

// readFront reads the front of the block at p.length; false where there is no whole block.
func (p *part) readFront() (k block, number uint32, n int64, ok bool) {
	var b [blockFront]byte
	if _, err := p.file.ReadAt(b[:], p.length); err != nil {
		return 0, 0, 0, false
	}
	le := binary.LittleEndian
	k, number, n = block(le.Uint32(b[:])), le.Uint32(b[4:]), int64(le.Uint64(b[8:]))
	if n < 0 || n > maxBlock || k == 0 || k > blockEnd || k == blockRecords && n%recordBytes != 0 {
		return 0, 0, 0, false
	}
	return k, number, n, p.length+blockFront+n <= p.size
}

// readBlock takes a block that is not of records; false if it makes no sense.
func (p *part) readBlock(k block, number uint32, n int64) bool {
	b := make([]byte, n)
	if _, err := p.file.ReadAt(b, p.length+blockFront); err != nil {
		return false
	}
	switch k {
	case blockHead:
		return json.Unmarshal(b, &p.header) == nil
	case blockZero:
		p.zero = new(int64)
		return json.Unmarshal(b, p.zero) == nil
	case blockTrack:
		p.tracks[number] = string(b)
	case blockName:
		var l Label
		if json.Unmarshal(b, &l) != nil {
			return false
		}
		p.names[Name(number)] = l
	case blockNote:
		var x note
		if json.Unmarshal(b, &x) != nil {
			return false
		}
		p.notes = append(p.notes, x)
	case blockDropped:
		var d uint64
		if json.Unmarshal(b, &d) != nil {
			return false
		}
		p.dropped += d
	case blockEnd:
		p.ended = true
	}
	return true
}

// eachBlock calls f with the records of each block, which f may reorder but not keep.
func (p *part) eachBlock(f func(lane uint32, records []Record) error) (err error) {
	if p.file, err = os.Open(p.path); err != nil {
		return err
	}
	defer p.file.Close()
	end := p.length
	var records []Record
	for p.length = int64(len(partMark)); p.length < end; {
		k, lane, n, ok := p.readFront()
		if !ok {
			return fmt.Errorf("%s: %w: it has changed meanwhile", p.path, errPart)
		}
		if k == blockRecords {
			if records, err = p.recordsOf(records[:0], n); err == nil {
				err = f(lane, records)
			}
			if err != nil {
				return err
			}
		}
		p.length += blockFront + n
	}
	return nil
}

// recordsOf adds the n bytes of records of the block at p.length to records.
func (p *part) recordsOf(records []Record, n int64) ([]Record, error) {
	raw := make([]byte, n)
	if _, err := p.file.ReadAt(raw, p.length+blockFront); err != nil {
		return nil, err
	}
	for i := int64(0); i < n; i += recordBytes {
		var e Record
		e.decodeFrom(raw[i:])
		records = append(records, e)
	}
	return records, nil
}
