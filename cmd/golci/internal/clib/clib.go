// Package clib finds the C library of golci and its header for golci cc. Where there is no library it has one built.
package clib

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/golci/golci/internal/abi"
)

// Place is where a compiler finds what it needs.
type Place struct {
	Include string // directory of mpi.h
	Lib     string // directory of the library
}

// Finder knows where to look.
type Finder struct {
	Dir   string // of the library, if the user names one, else ""
	Golci string // path of the program golci
	Cache string // directory for what is made and kept
	Key   string // names a build of golci; a library in the cache is for one
	Anew  bool   // build the library even if there is one
	// Source finds the directory of the module capi; it gives "" if that is not on this machine.
	Source func() string
	// Build makes the library out of the module in the directory source.
	Build func(source, output string) error
}

// Find gives the place. It writes the header into the cache, and builds the library where there is none.
func (f *Finder) Find(header []byte) (p Place, err error) {
	if p.Include, err = f.include(header); err != nil {
		return p, fmt.Errorf("writing mpi.h: %w", err)
	}
	p.Lib, err = f.findLibrary()
	return p, err
}

// include is a directory with this header. Its name has the header's hash, so that two versions do not meet.
func (f *Finder) include(header []byte) (string, error) {
	dir := filepath.Join(f.Cache, "include-"+Hash(header))
	if hasFile(dir, "mpi.h") {
		return dir, nil
	}
	return dir, f.placeDir(dir, false, func(scratch string) error {
		return os.WriteFile(filepath.Join(scratch, "mpi.h"), header, 0o644)
	})
}

// Hash names content in the cache.
func Hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

func (f *Finder) findLibrary() (string, error) {
	if f.Dir != "" {
		if !hasFile(f.Dir, abi.LibraryFile) {
			return "", fmt.Errorf("there is no %s in %s", abi.LibraryFile, f.Dir)
		}
		return filepath.Abs(f.Dir)
	}
	installed := filepath.Join(filepath.Dir(f.Golci), "..", "lib", "golci")
	cached := filepath.Join(f.Cache, f.Key)
	for _, dir := range []string{installed, cached} {
		if !f.Anew && hasFile(dir, abi.LibraryFile) {
			return dir, nil
		}
	}
	source := f.Source()
	if source == "" {
		return "", fmt.Errorf("there is no %s in %s or %s, and no source of golci to build it from",
			abi.LibraryFile, installed, cached)
	}
	return cached, f.placeDir(cached, f.Anew, func(scratch string) error {
		if err := f.Build(source, filepath.Join(scratch, abi.LibraryFile)); err != nil {
			return fmt.Errorf("building %s in %s: %w", abi.LibraryFile, source, err)
		}
		return os.Symlink(abi.LibraryFile, filepath.Join(scratch, abi.LibraryName))
	})
}

func hasFile(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// placeDir lets fill a directory, and gives it the name dir when it is complete. Many compilers may run at once: the
// first one that is ready wins, unless anew says that what is there goes.
func (f *Finder) placeDir(dir string, anew bool, fill func(scratch string) error) error {
	if err := os.MkdirAll(f.Cache, 0o755); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(f.Cache, "new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if err := errors.Join(os.Chmod(scratch, 0o755), fill(scratch)); err != nil {
		return err
	}
	if anew {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	err = os.Rename(scratch, dir)
	if _, there := os.Stat(dir); err != nil && there == nil {
		return nil
	}
	return err
}
