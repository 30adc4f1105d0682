// Package file is files of MPI (chapter 14 of the standard): ranks of a communicator read and write one file, each
// through a view of it. Errors are classes of package errs, with the name of the file and the rank in the text.
package file
