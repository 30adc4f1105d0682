package main

import "github.com/golci/golci/mpi"

// Tags of messages between the master and a worker.
const (
	tagRow  = 1 // to a worker: compute this row
	tagDone = 2 // to the master: a row, its number first
	tagEnd  = 3 // to a worker: there are no more rows
)

// master deals out all rows and gives the picture. dealt counts the rows that each rank computed.
func master(c *mpi.Comm, f frame) (picture []int32, dealt []int, err error) {
	picture, dealt = make([]int32, f.width*f.height), make([]int, c.Size())
	if c.Size() == 1 {
		for y := range f.height {
			f.row(y, picture[y*f.width:(y+1)*f.width])
		}
		dealt[0] = f.height
		return picture, dealt, nil
	}
	next := 0
	deal := func(to int) error { // the next row, or the end
		if next == f.height {
			return mpi.Send(c, []int32{}, to, tagEnd)
		}
		next++
		return mpi.Send(c, []int32{int32(next - 1)}, to, tagRow)
	}
	for to := 1; to < c.Size(); to++ {
		if err := deal(to); err != nil {
			return nil, nil, err
		}
	}
	done := make([]int32, 1+f.width)
	for range f.height {
		st, err := mpi.Recv(c, done, mpi.AnySource, tagDone)
		if err != nil {
			return nil, nil, err
		}
		copy(picture[int(done[0])*f.width:], done[1:])
		dealt[st.Source]++
		if err := deal(st.Source); err != nil {
			return nil, nil, err
		}
	}
	return picture, dealt, nil
}

// work computes rows until the master has no more.
func work(c *mpi.Comm, f frame) error {
	row, done := make([]int32, 1), make([]int32, 1+f.width)
	for {
		st, err := mpi.Recv(c, row, 0, mpi.AnyTag)
		if err != nil || st.Tag == tagEnd {
			return err
		}
		done[0] = row[0]
		f.row(int(row[0]), done[1:])
		if err := mpi.Send(c, done, 0, tagDone); err != nil {
			return err
		}
	}
}
