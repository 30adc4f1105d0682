package main

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// needed is what the tests and their configure take from MPICH.
var needed = []string{"test/mpi", "confdb", "maint/version.m4"}

// checkout is a copy of the tests, configured.
type checkout struct {
	dir    string // test/mpi of the copy
	commit string // of MPICH
	unlock func() // lets other runs use the copy
}

// configured is the file that tells that a copy is complete, and what its programs are linked with.
const configured = ".golci-configured"

// prepare copies the tests to the scratch folder and configures them, or finds such a copy.
func (c *cli) prepare(ctx context.Context) (*checkout, error) {
	commit, state, err := identify(ctx, c.Tests)
	if err != nil {
		return nil, err
	}
	scratch := c.Scratch
	if scratch == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		scratch = filepath.Join(cache, "golci", "mpich-tests")
	}
	args := c.configureArgs()
	sum := sha256.Sum256([]byte(state + "\n" + c.CC + "\n" + strings.Join(args, "\n")))
	root := filepath.Join(scratch, fmt.Sprintf("%.12s-%x", commit, sum[:6]))
	if err := os.MkdirAll(scratch, 0o777); err != nil {
		return nil, err
	}
	unlock, err := lock(root + ".lock")
	if err != nil {
		return nil, err
	}
	t := &checkout{dir: filepath.Join(root, "test", "mpi"), commit: commit, unlock: unlock}
	linked := c.linked(ctx)
	if of, err := os.ReadFile(filepath.Join(root, configured)); err == nil && string(of) == linked {
		return t, nil
	}
	if err := c.make(ctx, root, args, linked); err != nil {
		unlock()
		return nil, err
	}
	return t, nil
}

// make fills root anew.
func (c *cli) make(ctx context.Context, root string, args []string, linked string) error {
	if err := os.RemoveAll(root); err != nil {
		return err
	}
	if err := copyTests(ctx, c.Tests, root); err != nil {
		return err
	}
	if err := c.configure(ctx, root, args); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, configured), []byte(linked), 0o666)
}

// linked is the compiler, and how it links: with which library. Programs that are linked with an older library would
// test that one. A compiler that does not tell is its name alone.
func (c *cli) linked(ctx context.Context) string {
	words := append(strings.Fields(c.CC), "-show")
	out, err := exec.CommandContext(ctx, words[0], words[1:]...).Output()
	if err != nil {
		return c.CC + "\n"
	}
	return c.CC + "\n" + string(out)
}

// isTree tells a work tree from a git directory.
func isTree(src string) bool {
	info, err := os.Stat(filepath.Join(src, "test", "mpi"))
	return err == nil && info.IsDir()
}

// identify gives the commit of src, and a text that changes with what is copied from it.
func identify(ctx context.Context, src string) (commit, state string, err error) {
	if !isTree(src) {
		out, err := git(ctx, "--git-dir", src, "rev-parse", "HEAD")
		if err != nil {
			return "", "", fmt.Errorf("%s is neither a checkout of MPICH nor a git directory: %w", src, err)
		}
		commit = strings.TrimSpace(string(out))
		return commit, commit, nil
	}
	commit = "unknown"
	if out, err := git(ctx, "-C", src, "rev-parse", "HEAD"); err == nil {
		commit = strings.TrimSpace(string(out))
	}
	var b strings.Builder
	err = walk(src, func(rel string, info fs.FileInfo) error {
		fmt.Fprintln(&b, rel, info.Size(), info.ModTime().UnixNano(), info.Mode())
		return nil
	})
	return commit, b.String(), err
}

func git(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(errs.Bytes()))
	}
	return out, nil
}

// walk visits the regular files of a work tree that are needed. Some of them may be missing.
func walk(src string, visit func(rel string, info fs.FileInfo) error) error {
	for _, n := range needed {
		err := filepath.WalkDir(filepath.Join(src, filepath.FromSlash(n)), func(at string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(src, at)
			if err != nil {
				return err
			}
			return visit(rel, info)
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func copyTests(ctx context.Context, src, root string) error {
	if !isTree(src) {
		text, err := git(ctx, append([]string{"--git-dir", src, "archive", "--format=tar", "HEAD"}, needed...)...)
		if err != nil {
			return err
		}
		return untar(bytes.NewReader(text), root)
	}
	return walk(src, func(rel string, info fs.FileInfo) error {
		f, err := os.Open(filepath.Join(src, rel))
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		return write(filepath.Join(root, rel), f, info.Mode())
	})
}

// untar unpacks directories, files and links. Names that lead out of root are refused.
func untar(r io.Reader, root string) error {
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := path.Clean(h.Name)
		at := filepath.Join(root, filepath.FromSlash(name))
		switch {
		case h.Typeflag == tar.TypeXGlobalHeader:
		case !fs.ValidPath(name):
			return fmt.Errorf("the archive has a file %q", h.Name)
		case h.Typeflag == tar.TypeDir:
			err = os.MkdirAll(at, 0o777)
		case h.Typeflag == tar.TypeSymlink && filepath.IsLocal(path.Join(path.Dir(name), h.Linkname)):
			err = os.Symlink(h.Linkname, at)
		case h.Typeflag == tar.TypeReg:
			err = write(at, t, h.FileInfo().Mode())
		}
		if err != nil {
			return err
		}
	}
}

func write(name string, from io.Reader, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode.Perm()|0o200)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}
