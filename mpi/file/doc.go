// Package file is files that the ranks of a communicator read and write together (chapter 14 of the standard). A file
// holds elements of one Go type, which has no pointers. Each rank sees the part of the file that its view shows, as if
// it were all. Offsets, sizes and positions count elements of that part, but where it says otherwise.
//
// Accesses differ in three ways. They begin at an offset (At), at the rank's own pointer, at the pointer that all ranks
// share (Shared), or there in the order of the ranks (Ordered). All ranks call the collective ones (All, Ordered)
// together, and these move large pieces of the file even if the ranks' parts are small. The others wait, or do not
// (Iread and so on).
//
// An error names the file and the rank. errors.Is finds that of the system in it, such as fs.ErrNotExist, and mpi.Class
// gives the class. After an error of an access the file may be used.
package file
