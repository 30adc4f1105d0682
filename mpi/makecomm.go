package mpi

// Idup is Dup that does not wait (7.4.2, MPI_Comm_idup). The communicator may be used when the request is done. All
// ranks of c call Idup, and start their collectives, in the same order. Attributes are copied at once. It does not
// block. Errors: ErrComm, and those of copy functions; ErrContexts and those of communication come with the request.
func (c *Comm) Idup() (*Comm, Request, error) {
	d, r, err := c.core().Idup()
	if err != nil {
		return nil, Request{}, err
	}
	if err := c.attributes().CopyTo((*Comm)(d).attributes()); err != nil {
		return nil, Request{}, err
	}
	return (*Comm)(d), Request(r), nil
}

// SplitShared is SplitHardware by SharedMemory, which every rank is within: it makes a communicator for each machine
// (7.4.2, MPI_Comm_split_type with MPI_COMM_TYPE_SHARED).
func (c *Comm) SplitShared(key int) (*Comm, error) {
	return c.splitHardware("SplitShared", SharedMemory, key)
}

// CreateFromGroup makes a communicator of the processes of a group, without a parent (7.4.2,
// MPI_Comm_create_from_group). Only they call it, with one text that tells calls at the same time apart. An empty group
// gives nil. It waits. Errors: ErrGroup for a group that the rank is not in, ErrContexts, and those of communication.
func (p *Proc) CreateFromGroup(g Group, text string) (*Comm, error) {
	d, err := p.core().CreateFromGroup(g.group(), text)
	return (*Comm)(d), err
}
